// Another panel, as an import reads it. Each panel has a driver; nothing in this interface can change anything there.
// Records are small and have our units. A thing that the panel does not say is null, never a guess.
import type { LookUp } from '../../../agent/protocol/net/pinned-request.ts'
import type { Send } from './send.ts'

/** The panels that can be read. `demo` is a panel that does not exist, for a first look and for tests. */
export const sourceKinds = ['solusvm2', 'virtualizor', 'demo'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** A secret that the operator gives. It is never part of a record, a failure or a line of a log. */
export type CredentialField = {
  name: string
  label: string
  /** Where it is found in the other panel. */
  hint: string
  maxLength: number
}
export type SourceCredentials = Readonly<Record<string, string>>

/**
 * The certificate that the operator trusts, as the SHA-256 of its DER in small hexadecimal digits without colons.
 * Null: it must be signed by an authority that this machine trusts, for the name in the address.
 */
export type SourceTrust = { certificateSha256: string | null }

/** The lists that are read, for progress. */
export const sourceLists = ['hypervisors', 'packages', 'ranges', 'addresses', 'owners', 'servers'] as const
export type SourceList = (typeof sourceLists)[number]
/** `total` is null where the panel does not say how many there are. */
export type SourceProgress = { list: SourceList; read: number; total: number | null }

/** `refused`: it gave nothing that can be read. `unsent`: no connection came about to which anything was sent. */
export type SourceOutcome = 'read' | 'refused' | 'unsent'

export type SourceOptions = {
  /** Addresses that the settings of this installation allow beside private and public ones, as CIDRs. */
  localNetworks?: readonly string[]
  /** Called after each answer of a list. */
  onProgress?: (progress: SourceProgress) => void
  /** Called before each request is sent; its error ends the reading, and nothing is sent. */
  onSend?: () => void
  /** Called after each request, with the time that it took. */
  onAnswer?: (answer: { ms: number; outcome: SourceOutcome }) => void
  /** Ends the reading: the request in progress is broken off, with the failure `stopped`. */
  signal?: AbortSignal
  /** Resolves names; the system's resolver, unless a test gives another. */
  lookUp?: LookUp
  /** Pauses before a request is sent again; a test makes them short. */
  retryPausesMs?: readonly number[]
  /** The longest time that one request may take. */
  timeoutMs?: number
  /** Sends the requests; over the network, unless a test answers them itself. */
  send?: Send
}

/** One panel that can be read. */
export type Source = {
  kind: SourceKind
  /** The name of the panel, for people. */
  label: string
  /** An address of such a panel, for the form. */
  addressExample: string
  /** The operator has to know this before the credentials are made. */
  hint: string
  credentials: readonly CredentialField[]
  /**
   * A reader for the panel at the address. It sends nothing yet. Throws `SourceFailure` for an address that cannot be
   * used, and for a missing or malformed credential.
   */
  connect(address: string, credentials: SourceCredentials, trust: SourceTrust, options?: SourceOptions): SourceReader
}

/**
 * Reads one panel. Each list is read and checked as a whole before its first record is yielded: an iterator that throws
 * has yielded nothing, and one that ends has yielded everything. Everything throws `SourceFailure` and nothing else.
 */
export type SourceReader = {
  /** The address as it is stored and shown: with its scheme and its port, without a path. */
  readonly address: string
  /** The first request: proves the credentials. */
  account(): Promise<SourceAccount>
  /** Sentences for the operator about parts that could not be read, which later calls add to. */
  readonly warnings: readonly string[]
  /** The addresses of the panel itself, resolved. */
  panelAddresses(): Promise<readonly string[]>
  hypervisors(): AsyncIterable<SourceHypervisor>
  packages(): AsyncIterable<SourcePackage>
  ranges(): AsyncIterable<SourceRange>
  /** The addresses of a range that the panel knows: those in use, and those that it holds back. */
  addresses(range: SourceRange): AsyncIterable<SourceAddress>
  owners(): AsyncIterable<SourceOwner>
  /**
   * All servers of the panel, each once. `hypervisors`: all that the panel has, with its counts of their servers. Some
   * panels tell only in a list for each of them which servers are on it, and some have no other count.
   */
  servers(hypervisors: readonly { id: string; servers?: number | null }[]): AsyncIterable<SourceServer>
  /** The disks of a server; null where the panel does not tell. One request each: for the dry run, not for all. */
  disks(serverId: string): Promise<readonly SourceDisk[] | null>
}

/** The holder of the credentials, as the panel tells. */
export type SourceAccount = {
  /** An address or a name; null where the panel does not tell. */
  name: string | null
  /** Sentences for the operator, such as that the token's owner is no administrator. */
  warnings: readonly string[]
}

/** KVM managed by libvirt can be imported; containers and other kinds of virtualization cannot. */
export type SourceVirtualization = 'kvm' | 'container' | 'other' | 'unknown'

export type SourceHypervisor = {
  id: string
  /** For people only: never used to recognise a node. */
  name: string
  /** The address or host name in the panel, as it stands there. */
  address: string
  /**
   * All its addresses, parsed and resolved, without loopback and link-local ones. A hypervisor that is listed as
   * localhost has those of the panel. Empty where the name of its address leads nowhere.
   */
  addresses: readonly string[]
  /** It is listed as localhost, or has an address of the panel: the panel runs on it. */
  isPanel: boolean
  /** The kinds of servers that it can run; empty where the panel does not tell. */
  virtualizations: readonly SourceVirtualization[]
  /** `routed`: guests are not seen on the wire, the host is their gateway. */
  network: 'bridged' | 'routed' | null
  bridges: readonly string[]
  location: string | null
  isReachable: boolean | null
  /** How many servers the panel counts on it. */
  servers: number | null
}

/** Limits of both directions; null: not limited, or not said. */
export type SourceSpeed = { inMbps: number | null; outMbps: number | null }

export type SourceSize = {
  vcpus: number | null
  /** MiB. */
  memoryMb: number | null
  /** GiB; a fraction where the panel sells fractions. */
  diskGb: number | null
}

export type SourcePackage = SourceSize & {
  id: string
  name: string
  virtualization: SourceVirtualization
  /** MiB. */
  swapMb: number | null
  /** A month; null: not limited. */
  trafficBytes: number | null
  /** Which direction the traffic limit counts. */
  trafficCounts: 'both' | 'in' | 'out'
  speed: SourceSpeed
  /** Addresses that a server gets; null where the panel does not say. */
  ipv4: number | null
  /** The id under which the other panel's billing module knows the package. */
  billingId: string
}

export type SourceRange = {
  id: string
  name: string
  version: 4 | 6
  /** The first and the last address, in canonical form; null where the panel tells neither them nor their network. */
  first: string | null
  last: string | null
  /** The network as CIDR, where the panel tells it or it follows from the netmask. */
  network: string | null
  /** A loose list of addresses: `first` and `last` only bound it. */
  isSet: boolean
  gateway: string | null
  /** The length of the prefix that each server gets; null: single addresses, or not said. */
  prefixLength: number | null
  resolvers: readonly string[]
  /** `internal` and `nat`: not routed from outside, so its addresses mean nothing elsewhere. */
  reach: 'public' | 'internal' | 'nat'
  /** The hypervisors that use it; empty: all, or not said. */
  hypervisorIds: readonly string[]
}

export type SourceAddress = {
  address: string
  version: 4 | 6
  /** Of a prefix that a server has; null: the address alone. */
  prefixLength: number | null
  serverId: string | null
  isPrimary: boolean
  /** No server has it, and none gets it. */
  isHeldBack: boolean
  mac: string | null
}

export type SourceOwner = {
  id: string
  /** In small letters; null where the panel has none. */
  email: string | null
  name: string | null
  kind: 'customer' | 'staff' | 'reseller'
  /** The reseller whose customer this is. */
  parentId: string | null
  isSuspended: boolean
  /** The id under which billing knows the client: of a billing field where the panel has one, otherwise `id`. */
  billingId: string
}

export type SourceServerAddress = {
  address: string
  version: 4 | 6
  /** Null where the panel does not tell: then it is the range that contains the address. */
  rangeId: string | null
  /** Of a prefix; null: the address alone. */
  prefixLength: number | null
  isPrimary: boolean
}

/** Only a server that is known to be stopped counts as stopped. */
export type SourceState = 'running' | 'stopped' | 'unknown'

export type SourceServer = SourceSize & {
  id: string
  /** A second identity that stays, beside the id. It need not have the form of a UUID. */
  uuid: string | null
  /** The name of the libvirt domain on the hypervisor; null where it cannot be known: such a server is refused. */
  domain: string | null
  name: string
  /** Null: no list of a hypervisor has it, or more than one has. */
  hypervisorId: string | null
  ownerId: string | null
  /** In small letters; null where the panel has none: the owner is unknown. */
  ownerEmail: string | null
  /** Null: a size of its own, as is a package that `packages` does not list. */
  packageId: string | null
  packageName: string | null
  virtualization: SourceVirtualization
  addresses: readonly SourceServerAddress[]
  /** As six pairs of small hexadecimal digits with colons; null where the panel does not tell. */
  mac: string | null
  /** Of the template, in readable form; null where the panel has none: shown as "Imported from …". */
  osName: string | null
  isWindows: boolean
  isSuspended: boolean
  /** It was started into a rescue system. */
  isInRescue: boolean
  state: SourceState
  /** Unix milliseconds. */
  createdAt: number | null
  /** The id under which the other panel's billing module knows the server. */
  billingId: string
}

/** `path` is on the hypervisor. The definition of the domain decides which disks there are, not this. */
export type SourceDisk = { path: string | null; sizeGb: number | null; isPrimary: boolean }
