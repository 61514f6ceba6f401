// Made from the OpenAPI document of Berth by its tests. Change the operations, not this file.

export const API_ROOT = '/api/v1'

export type AReasonInWords1To500 = string

export type Activity = {
  id: string
  at: string
  who: {
    name: string
    you: boolean
  }
  via: {
    type: "page" | "token" | "support" | "system" | "node"
    id: string | null
    name: string | null
  }
  operation: string
  /** Which of several things the operation did: `off` of `servers.power`. */
  action: string | null
  target: string | null
  targetName: string | null
  /** Where the target is an account. */
  targetKind: "staff" | "reseller" | "customer" | null
  /** It is no longer there, for you. */
  targetGone: boolean
  /** Null where you may not know it. */
  from: string | null
  result: string
  /** The job that it started. */
  jobId: string | null
}

export type ActivityPage = {
  data: (Activity)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type AddressPool = {
  id: string
  name: string
  version: 4 | 6
  network: string
  gateway: string
  first: string
  last: string
  resolvers: (string)[]
  /** null for IPv6: too many to count. */
  total: number | null
  free: number | null
  held: number
  reserved: number
  nodes: ({
    id: string
    name: string
  })[]
}

export type AddressPoolPage = {
  data: (AddressPool)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Allowance = {
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number
  ipv4: number
}

/** By itself and its customers together. */
export type Amounts = {
  customers: number
  servers: number
  vcpus: number
  memoryMb: number
  diskGb: number
  ipv4: number
  gpus: number
}

export type Announcement = {
  id: string
  text: string
  audience: "everybody" | "customers" | "resellers" | "staff"
  level: "info" | "warn" | "bad"
  startsAt: string
  endsAt: string | null
  /** Only customers with a server on this node read it, and their resellers; null: the whole audience. */
  node: {
    id: string
    name: string
  } | null
  /** It ends when the node is connected again. */
  untilConnected: boolean
  createdAt: string
}

export type AnnouncementPage = {
  data: (Announcement)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Attention = {
  level: "bad" | "warn"
  what: string
  /** What it means. */
  effect: string
  since: string | null
  /** What to do about it, and in href the page where; null where there is nothing that you can do. */
  action: string | null
  href: string | null
}

export type AuditLine = {
  id: string
  at: string
  actor: {
    id: string
    name: string
  }
  via: {
    type: "page" | "token" | "support" | "system" | "node"
    id: string | null
    name: string | null
  }
  operation: string
  target: string | null
  /** As it is called today. */
  targetName: string | null
  /** Where the target is an account. */
  targetKind: "staff" | "reseller" | "customer" | null
  /** It no longer exists. */
  targetGone: boolean
  from: string
  /** The X-Request-Id of the call. */
  requestId: string
  /** done, or the code of the refusal. */
  result: string
  /** The job that it started. */
  jobId: string | null
  /** What was sent; secrets are `***`. */
  details: unknown
  changes: ({
    field: string
    before: unknown
    after: unknown
  })[]
}

export type AuditLinePage = {
  data: (AuditLine)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Bandwidth = {
  /** This month in UTC. */
  month: string
  /** In both directions together. */
  usedBytes: number
  /** Of its package; null: not limited. */
  allowanceGb: number | null
  /** Bought beside it for this month. */
  addedGb: number
  /** Used of both together; null: not limited. */
  percent: number | null
  overTraffic: "nothing" | "suspend"
  suspendedForTraffic: boolean
}

export type BandwidthAdded = {
  /** The job that starts it again; null where it was not suspended for it. */
  jobId: string | null
  serverId: string
  bandwidth: Bandwidth
}

export type BillingConnection = {
  product: string
  version: string
  /** The time here: signatures and retries depend on clocks that agree. */
  time: string
  account: {
    id: string
    name: string
    kind: string
  }
  /** The API token of the call; null for a person who is signed in. */
  calledWith: {
    name: string
    expiresAt: string | null
  } | null
  preset: "billing" | "reseller-billing"
  /** Scopes of the preset that this token lacks; empty: it is ready. */
  missingScopes: (string)[]
}

export type BillingDifference = {
  kind: "missing_here" | "missing_there" | "listed_twice" | "other_state" | "other_product" | "other_owner"
  /** The line of the list, from 1; null where it has none. */
  line: number | null
  serverId: string | null
  hostname: string | null
  billingServiceId: string | null
  /** The value in the list. */
  there: string | null
  /** The value here. */
  here: string | null
  words: string
}

export type Branding = {
  name: string | null
  accent: string | null
  senderName: string | null
  senderAddress: string | null
  /** A web address or an e-mail address; on the sign-in page, too. */
  supportLink: string | null
  /** Where it is served; null without one. */
  logo: string | null
}

export type Customer = {
  id: string
  kind: "customer" | "reseller" | "staff"
  email: string
  name: string
  organization: string | null
  /** The billing system's own identifier of it. */
  externalId: string | null
  /** Null: a customer of the house. */
  resellerId: string | null
  resellerName: string | null
  hasPassword: boolean
  /** Has one set up. */
  secondFactor: boolean
  /** When it last used the panel, signed in; null when not recently. */
  seenAt: string | null
  lockedAt: string | null
  /** Nothing new can be ordered for a locked account. */
  lockReason: string | null
  createdAt: string
  /** How many it has. */
  servers: number
  allowance: Allowance
}

export type CustomerPage = {
  data: (Customer)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Done = Record<string, never>

export type Error = {
  error: {
    /** To branch on. New ones may come: treat one that you do not know by its status. */
    code: string
    /** For a person; its words may change. */
    message: string
    /** Only where there is more to say. */
    details?: Record<string, unknown>
  }
}

export type Event = {
  id: string
  /** The type of the event; `GET /event-types` lists all. */
  type: string
  created_at: string
  /** What the event carries. docs/webhooks.md lists the fields of each type. */
  data: Record<string, unknown>
}

export type EventPage = {
  data: (Event)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type EventType = {
  type: string
  /** When it happens. */
  words: string
  /** The kinds of accounts that get it. */
  audience: ("staff" | "reseller" | "customer")[]
}

export type Image = {
  id: string
  name: string
  origin: "catalogue" | "imported"
  catalogueId: string | null
  format: "qcow2" | "raw"
  checksum: string
  sizeBytes: number
  /** The smallest disk that it fits on. */
  minDiskGb: number
  /** The user to sign in as. */
  user: string
  /** It can be ordered. */
  published: boolean
  /** An order form chooses it first; at most one image is. */
  isDefault: boolean
  createdAt: string
  servers: number
}

export type InstallationStarted = {
  jobId: string
  serverId: string
  rootPassword?: string
}

export type Job = {
  id: string
  /** Such as install, power or suspend; new ones may come. */
  kind: string
  title: string
  state: "queued" | "running" | "succeeded" | "failed"
  /** 0 to 100. */
  progress: number
  step: {
    n: number
    of: number
    name: string | null
  }
  /** As much as you may know: a provider is Staff to its customers, without an id. */
  startedBy: {
    type: "person" | "token" | "system"
    id: string
    name: string
  }
  nodeId: string | null
  nodeName: string | null
  serverId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** The message may change. Staff read the words of the node; everybody else reads a plain cause. */
  error: {
    code: string
    message: string
  } | null
  /** It failed and is being undone, or is being retried: the error says why. */
  undoing: boolean
  /** It failed, and the rest of its undo waits until its node is back. */
  undoPending: boolean
  /** You may cancel it now. */
  cancellable: boolean
  /** Somebody asked to cancel it: it stops before its next step, and what it did is undone. */
  cancelled: {
    at: string
    by: {
      type: "person" | "token" | "system"
      id: string
      name: string
    }
  } | null
}

export type JobDetails = {
  id: string
  /** Such as install, power or suspend; new ones may come. */
  kind: string
  title: string
  state: "queued" | "running" | "succeeded" | "failed"
  /** 0 to 100. */
  progress: number
  step: {
    n: number
    of: number
    name: string | null
  }
  /** As much as you may know: a provider is Staff to its customers, without an id. */
  startedBy: {
    type: "person" | "token" | "system"
    id: string
    name: string
  }
  nodeId: string | null
  nodeName: string | null
  serverId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** The message may change. Staff read the words of the node; everybody else reads a plain cause. */
  error: {
    code: string
    message: string
  } | null
  /** It failed and is being undone, or is being retried: the error says why. */
  undoing: boolean
  /** It failed, and the rest of its undo waits until its node is back. */
  undoPending: boolean
  /** You may cancel it now. */
  cancellable: boolean
  /** Somebody asked to cancel it: it stops before its next step, and what it did is undone. */
  cancelled: {
    at: string
    by: {
      type: "person" | "token" | "system"
      id: string
      name: string
    }
  } | null
  /** Why it failed or is being retried, in plain words. */
  cause: string | null
  /** In their order. A step that is undone has left nothing behind, unless data was lost. */
  steps: ({
    name: string
    state: "waiting" | "started" | "done" | "undone"
  })[]
  /** Of a failed job: data on the disk of its server was deleted and does not come back. */
  dataLost: boolean | null
  /** Of a failed job: the action of its server that does the same again, if the server allows it. */
  retry: string | null
}

export type JobPage = {
  data: (Job)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type JobStarted = {
  /** The job that was started; null where there is no work for a node. */
  jobId: string | null
  serverId: string
}

export type ListedService = {
  serverId?: string | null
  billingServiceId?: string | null
  ownerExternalId?: string | null
  billingProductId?: string | null
  state?: "active" | "suspended" | "terminated" | null
}

export type Location = {
  id: string
  name: string
  /** Where a new server goes: to the node with the most free memory, or the least that is enough. */
  placement: "spread" | "fill"
  /** It takes new servers. */
  open: boolean
  nodes: number
  connectedNodes: number
  /** Connected until a moment ago; expected back within a minute. */
  reconnectingNodes: number
  servers: number
  memoryMb: number
  /** By servers, whether they run or not. */
  heldMemoryMb: number
  diskGb: number
  heldDiskGb: number
  /** As on its nodes; what one server can take may be less. */
  freeDiskGb: number
  freeIpv4: number
}

export type LocationPage = {
  data: (Location)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Membership = {
  id: string
  /** Whose servers these are. */
  owner: {
    id: string
    name: string
  }
  role: "view" | "operate" | "manage"
  /** Null: all servers of the owner. */
  server: {
    id: string
    name: string
  } | null
  since: string
}

export type MembershipPage = {
  data: (Membership)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Named = {
  id: string
  name: string
}

export type NewWebhook = {
  id: string
  url: string
  /** Types of events; `*` is every type that the owner may receive. */
  events: (string)[]
  status: "active" | "paused"
  /** failing: 50 attempts in a row failed over more than a day. gone: the receiver answered 410. */
  pauseReason: "by_hand" | "failing" | "gone" | null
  pausedAt: string | null
  /** Failed attempts since the last success. */
  failures: number
  failingSince: string | null
  /** The last success. */
  deliveredAt: string | null
  /** The last failed attempt. */
  failedAt: string | null
  /** Until then deliveries are also signed with the previous secret. */
  previousSecretUntil: string | null
  createdAt: string
  /** Deliveries are signed with it. */
  secret: string
}

export type Node = {
  id: string
  name: string
  location: {
    id: string
    name: string
  }
  connected: boolean
  /** Expected back within a minute. */
  reconnecting: boolean
  connectedAt: string | null
  seenAt: string
  /** How far its clock is from the controller's. */
  skewMs: number
  /** It takes new servers. */
  open: boolean
  /** Declared lost: its servers have failed, and it is refused until it is enrolled again. */
  lostAt: string | null
  /** It is refused until its credential is renewed. */
  credentialRevokedAt: string | null
  bridge: string
  agentVersion: string
  agentOutdated: boolean
  /** A simulated host. */
  fake: boolean
  virtualisation: Virtualisation
  servers: number
  threads: number
  memoryMb: number
  /** Kept for the host itself. */
  reservedMemoryMb: number
  heldMemoryMb: number
  /** The storage in which new disks are made. */
  pool: string
  diskGb: number
  /** Promised to servers. */
  heldDiskGb: number
  /** Left for orders; 5 % of the storage stays in reserve. */
  freeDiskGb: number
  /** Between what should be on it and what is. */
  differences: number
  /** Measured now; null while the node is away. */
  load: NodeLoad | null
}

export type NodeLoad = {
  at: string
  cpuPercent: number
  load1: number
  memoryFreeMb: number
  pools: (StoragePool)[]
}

export type NodePage = {
  data: (Node)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type OfferedImage = {
  id: string
  name: string
  minDiskGb: number
  sizeBytes: number
  user: string
  isDefault: boolean
}

export type OfferedImagePage = {
  data: (OfferedImage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type OneLineOfText0To100 = string

export type OneLineOfText0To20 = string

export type OneLineOfText0To200 = string

export type OneLineOfText0To253 = string

export type OneLineOfText0To32 = string

export type OneLineOfText0To400 = string

export type OneLineOfText0To500 = string

export type OneLineOfText0To64 = string

export type OneLineOfVisibleText0To100 = string

export type OneLineOfVisibleText0To200 = string

export type OneLineOfVisibleText0To60 = string

export type OneLineOfVisibleText1To100 = string

export type OneLineOfVisibleText1To200 = string

export type OneLineOfVisibleText1To254 = string

export type OneLineOfVisibleText1To500 = string

export type OneLineOfVisibleText1To60 = string

export type OneLineOfVisibleText1To64 = string

export type OneLineOfVisibleText1To80 = string

export type OwnAccount = {
  id: string
  kind: string
  email: string
  name: string
  organization: string | null
  hasPassword: boolean
  theme: "system" | "light" | "dark"
  density: "comfortable" | "compact"
  timeZone: string | null
  lockedAt: string | null
  lockReason: string | null
  createdAt: string
}

export type Package = {
  id: string
  name: string
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
  /** How many addresses a server gets. */
  ipv4: number
  /** The length of the prefix that a server gets. */
  ipv6Prefix: number | null
  /** A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too. */
  restartPolicy: "always" | "on_failure" | "never"
  /** What becomes of a server that has used its traffic of the month. */
  overTraffic: "nothing" | "suspend"
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  /** It can no longer be ordered. */
  archived: boolean
  servers: number
}

export type PackageChange = {
  /** The job that was started; null where the server has this package already. */
  jobId: string | null
  serverId: string
  /** at_restart: it runs, so memory and vCPUs change when it is restarted in the panel or by `servers.power`; a reboot from inside is not enough. The disk grows at once. */
  takesEffect: "now" | "at_restart"
}

export type PackageSold = {
  id: string
  name: string
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
  /** How many addresses a server gets. */
  ipv4: number
  /** The length of the prefix that a server gets. */
  ipv6Prefix: number | null
  /** A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too. */
  restartPolicy: "always" | "on_failure" | "never"
  /** What becomes of a server that has used its traffic of the month. */
  overTraffic: "nothing" | "suspend"
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  /** It can no longer be ordered. */
  archived: boolean
}

export type PasskeyOptions = {
  options: unknown
}

export type PoolAddress = {
  id: string
  address: string
  prefixLength: number
  state: "free" | "held" | "reserved"
  reservedFor: string | null
  /** What holds it: a server, or another kind of workload. */
  workload: {
    id: string
    kind: string
    hostname: string
  } | null
}

export type PoolAddressPage = {
  data: (PoolAddress)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

/** Null: not limited. */
export type Quotas = {
  customers: number | null
  servers: number | null
  vcpus: number | null
  memoryMb: number | null
  diskGb: number | null
  ipv4: number | null
  gpus: number | null
}

export type Reconciliation = {
  /** Lines of the list. */
  listed: number
  /** Servers that are here. */
  servers: number
  differences: (BillingDifference)[]
}

export type ReinstallOptions = {
  /** kept: until the new system is in use. deleted_first: there is no space for both disks, and nothing is left if the installation fails. none: nothing is installed. */
  oldSystem: "kept" | "deleted_first" | "none"
  /** The space that a second disk takes. */
  neededGb: number
}

export type Reseller = {
  id: string
  kind: "customer" | "reseller" | "staff"
  email: string
  name: string
  organization: string | null
  /** The billing system's own identifier of it. */
  externalId: string | null
  hasPassword: boolean
  /** Has one set up. */
  secondFactor: boolean
  /** When it last used the panel, signed in; null when not recently. */
  seenAt: string | null
  lockedAt: string | null
  /** Nothing new can be ordered for a locked account. */
  lockReason: string | null
  createdAt: string
  /** How many it has. */
  servers: number
  allowance: Allowance
  suspendedAt: string | null
  suspendReason: string | null
  quotas: Quotas
  used: Amounts
  packages: (PackageSold)[]
  locations: ({
    id: string
    name: string
    open: boolean
  })[]
}

export type ResellerPage = {
  data: (Reseller)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Role = {
  id: string
  name: string
  permissions: (string)[]
  isOwner: boolean
  secondFactor: boolean
  staff: number
}

export type RolePage = {
  data: (Role)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type RoleToken = {
  id: string
  name: string
  ending: string
  owner: {
    id: string
    name: string
  }
  scopes: (string)[]
  createdAt: string
  expiresAt: string | null
  usedAt: string | null
  usedFrom: string | null
}

export type RoleTokenPage = {
  data: (RoleToken)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type SecondsByState = {
  pending_setup: number
  provisioning: number
  active: number
  failed: number
  suspended: number
}

export type Server = {
  id: string
  /** Counts up; until it has a hostname of its own it is called server and this number. */
  number: number
  name: string
  hostname: string
  status: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"
  /** Only for its owner and those who manage it. */
  suspendReason: string | null
  /** Why its installation failed, in words. */
  failure: string | null
  /** Your access: the server is your own or in your care, or its owner gave you this role on it. */
  access: "own" | "view" | "operate" | "manage"
  /** The address is not for those with whom it is shared. */
  owner: {
    id: string
    name: string
    email: string | null
  }
  package: Named
  location: Named
  /** Staff only. */
  node: Named | null
  /** Why it is on this node. Staff only. */
  placement: string | null
  /** Null: it waits for its setup. */
  image: Named | null
  /** The first of its addresses. */
  ipv4: string | null
  /** The guest's own address in its prefix. */
  ipv6: string | null
  addresses: ({
    address: string
    prefixLength: number
    version: number
    gateway: string
  })[]
  sshCommand: string | null
  mac: string
  vcpus: number
  memoryMb: number
  diskGb: number
  /** A month; null: not limited. */
  trafficGb: number | null
  /** Null: not limited. */
  portMbps: number | null
  /** The job that holds it now. */
  job: {
    id: string
    kind: string
    progress: number
  } | null
  rescue: boolean
  /** What its node does when it ends by itself. */
  restartPolicy: "always" | "on_failure" | "never"
  /** Its owner or you are a locked customer, so power, setup, reinstallation and its restart policy are closed to you. */
  locked: boolean
  /** It can be neither terminated nor reinstalled. */
  protected: boolean
  /** While its node is away it runs on, but cannot be changed. */
  nodeConnected: boolean
  /** When its node, which is away, was last connected; null while it is connected. */
  nodeSeenAt: string | null
  /** What its state allows now, of what you may do with it: for buttons. */
  allowed: (string)[]
  /** The billing system's own identifier of it. Only for its owner and those who manage it. */
  billingServiceId: string | null
  createdAt: string
  terminatedAt: string | null
}

export type ServerOrdered = {
  jobId: string | null
  /** Null only in the answer to a dry run. */
  serverId: string | null
  /** In the answer to a dry run the address that is next; it is not held. */
  ipv4: string | null
  rootPassword?: string
}

export type ServerPage = {
  data: (Server)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ServerUsage = {
  serverId: string
  from: string
  to: string
  days: number
  /** How long it was there, whatever its state. */
  allocatedSeconds: number
  secondsByState: SecondsByState
  packages: (UsedPackage)[]
  intervals: (UsageInterval)[]
}

export type SignedIn = {
  accountId: string
  kind: string
  home: string
  secondFactor?: ("totp" | "passkey" | "recovery")[]
}

export type SoldPackage = {
  id: string | null
  name: string | null
  billingProductId: string | null
}

export type SshKey = {
  id: string
  ownerId: string
  name: string
  publicKey: string
  fingerprint: string
  createdAt: string
}

export type SshKeyPage = {
  data: (SshKey)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type StaffMember = {
  id: string
  email: string
  name: string
  role: {
    id: string
    name: string
  } | null
  /** Has one set up. */
  secondFactor: boolean
  seenAt: string | null
  disabledAt: string | null
  createdAt: string
}

export type StaffMemberPage = {
  data: (StaffMember)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Step = {
  title: string
  words: string
  done: boolean
  href: string
}

export type Stock = {
  stock: (StockLine)[]
}

export type StockLine = {
  packageId: string
  packageName: string
  billingProductId: string | null
  nodeGroupId: string
  locationName: string
  /** So many orders are accepted now, one after another. */
  available: number
  /** Counting stopped there; there may be more. */
  orMore: boolean
  /** What binds the number. */
  limit: "memory" | "disk" | "addresses" | "closed" | "disconnected" | "reconnecting" | "no_node" | "quota" | "suspended"
  /** The code that refuses the order behind the last one. */
  code: string
}

export type StoragePool = {
  name: OneLineOfText0To32
  kind: OneLineOfText0To20
  path: OneLineOfText0To400
  totalBytes: number
  freeBytes: number
}

export type TeamMember = {
  id: string
  email: string
  /** Once they have accepted. */
  name: string | null
  state: "invited" | "expired" | "member"
  role: "view" | "operate" | "manage"
  /** Null: all servers. */
  server: {
    id: string
    name: string
  } | null
  invitedBy: string
  createdAt: string
  expiresAt: string | null
  acceptedAt: string | null
}

export type TeamMemberPage = {
  data: (TeamMember)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Token = {
  id: string
  name: string
  ending: string
  scopes: (string)[]
  allow: (string)[]
  createdAt: string
  expiresAt: string | null
  previousUntil: string | null
  usedAt: string | null
  usedFrom: string | null
}

export type TokenPage = {
  data: (Token)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageAccount = {
  account: UsageOwner
  /** How many it had in the period, terminated ones included. */
  servers: number
  /** Server-days, to four decimals. */
  days: number
  seconds: number
  packages: (UsedPackages)[]
}

export type UsageAccountPage = {
  data: (UsageAccount)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageInterval = {
  serverId: string
  state: "pending_setup" | "provisioning" | "active" | "failed" | "suspended"
  /** In the period: it may have begun before. */
  from: string
  to: string
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  hostname: string
  owner: UsageOwner
  package: SoldPackage
  beganAt: string
  /** Null: it goes on. */
  endedAt: string | null
}

export type UsageIntervalPage = {
  data: (UsageInterval)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageLine = {
  serverId: string
  kind: string
  /** At the end of the period, as are its reseller and its package. */
  hostname: string
  owner: UsageOwner
  resellerId: string | null
  billingServiceId: string | null
  package: SoldPackage
  /** When it began in the period. */
  from: string
  /** When it ended, or how far the period has passed. */
  to: string
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  secondsByState: SecondsByState
  /** One for each package that it had in the period. */
  packages: (UsedPackage)[]
  traffic: UsedTraffic | null
}

export type UsageLinePage = {
  data: (UsageLine)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageOwner = {
  id: string
  name: string
  /** The billing system's own identifier of it. */
  externalId: string | null
}

export type UsedPackage = {
  id: string | null
  name: string | null
  billingProductId: string | null
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
}

export type UsedPackages = {
  id: string | null
  name: string | null
  billingProductId: string | null
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  servers: number
}

export type UsedTraffic = {
  /** Received by the server. */
  inBytes: number
  outBytes: number
  measuredSeconds: number
  /** For how long it was there and could not be measured. */
  gapSeconds: number
}

export type Virtualisation = {
  kind: "kvm" | "emulation" | "none"
  reason: OneLineOfText0To500
}

export type Webhook = {
  id: string
  url: string
  /** Types of events; `*` is every type that the owner may receive. */
  events: (string)[]
  status: "active" | "paused"
  /** failing: 50 attempts in a row failed over more than a day. gone: the receiver answered 410. */
  pauseReason: "by_hand" | "failing" | "gone" | null
  pausedAt: string | null
  /** Failed attempts since the last success. */
  failures: number
  failingSince: string | null
  /** The last success. */
  deliveredAt: string | null
  /** The last failed attempt. */
  failedAt: string | null
  /** Until then deliveries are also signed with the previous secret. */
  previousSecretUntil: string | null
  createdAt: string
}

export type WebhookAttempt = {
  n: number
  at: string
  durationMs: number
  error: string | null
  /** The address that was connected to; only staff see it. */
  address: string | null
  request: {
    method: "POST"
    url: string
    headers: ({
      name: string
      value: string
    })[]
  }
  response: {
    status: number
    headers: ({
      name: string
      value: string
    })[]
    /** Its first 16 kB. */
    body: string
    /** Of the body, as far as it was read. */
    bytes: number
    truncated: boolean
  } | null
}

export type WebhookDelivery = {
  id: string
  webhookId: string
  /** The type of the event; `test` for a test. */
  event: string
  eventId: string
  state: "waiting" | "delivered" | "failed"
  attemptCount: number
  /** 1: a test or a redelivery, which is never retried. */
  maxAttempts: number
  /** Null when it has ended. */
  nextAttemptAt: string | null
  createdAt: string
  endedAt: string | null
  /** The HTTP status of the last answer. */
  lastStatus: number | null
  lastDurationMs: number | null
  /** Why the last attempt failed. */
  error: string | null
}

export type WebhookDeliveryDetails = {
  id: string
  webhookId: string
  /** The type of the event; `test` for a test. */
  event: string
  eventId: string
  state: "waiting" | "delivered" | "failed"
  attemptCount: number
  /** 1: a test or a redelivery, which is never retried. */
  maxAttempts: number
  /** Null when it has ended. */
  nextAttemptAt: string | null
  createdAt: string
  endedAt: string | null
  /** The HTTP status of the last answer. */
  lastStatus: number | null
  lastDurationMs: number | null
  /** Why the last attempt failed. */
  error: string | null
  /** What each attempt sends, byte by byte. */
  body: string
  attempts: (WebhookAttempt)[]
}

export type WebhookDeliveryPage = {
  data: (WebhookDelivery)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type WebhookPage = {
  data: (Webhook)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type WebhookQueue = {
  waiting: number
  /** For each delivery above it, the oldest that waits is dropped. */
  most: number
  dropped: number
  droppedAt: string | null
}

export type WorkloadsOfNode = {
  /** The first 200. */
  workloads: ({
    id: string
    hostname: string
  })[]
  count: number
}

export type WorkloadsTerminated = {
  /** The first 200, each with the job that terminates it. */
  workloads: ({
    id: string
    hostname: string
    jobId: string | null
  })[]
  count: number
}

/** Operations by their ids. */
export interface Operations {
  /** What you did, and what was done to your account and servers, refused sign-ins too */
  'account.activity': {
    query?: { cursor?: string; limit?: number }
    result: ActivityPage
  }
  /** Confirm the new e-mail address with the link mailed to it */
  'account.confirm-email': {
    body: {
      token: string
    }
    result: {
      email: string
    }
  }
  /** Change the own e-mail address: it takes effect once the link mailed to it is opened */
  'account.email': {
    body: {
      email: string
      password: string
    }
    result: Done
  }
  /** The own account */
  'account.get': {
    result: OwnAccount
  }
  /** Change the own password; every other session ends */
  'account.password': {
    body: {
      current: string
      password: string
    }
    result: Done
  }
  /** Change the own name, organization, and how pages look */
  'account.update': {
    body: {
      name?: OneLineOfVisibleText1To100
      organization?: OneLineOfVisibleText0To100 | null
      theme?: "system" | "light" | "dark"
      density?: "comfortable" | "compact"
      timeZone?: string | null
    }
    result: OwnAccount
  }
  /** Add an announcement for customers, resellers, staff or everybody, from now or from a given time */
  'announcements.create': {
    body: {
      text: OneLineOfVisibleText1To500
      audience: "everybody" | "customers" | "resellers" | "staff"
      level?: "info" | "warn" | "bad"
      /** Only for customers with a server on this node, and their resellers. */
      nodeId?: string | null
      untilConnected?: boolean
      startsAt?: string
      endsAt?: string | null
    }
    result: Announcement
  }
  /** The announcements that concern you now, newest first */
  'announcements.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        text: string
        level: "info" | "warn" | "bad"
        startsAt: string
        endsAt: string | null
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Every announcement, past and to come, newest first */
  'announcements.list-all': {
    query?: { cursor?: string; limit?: number }
    result: AnnouncementPage
  }
  /** Remove an announcement */
  'announcements.remove': {
    path: { id: string }
    result: Done
  }
  /** Change an announcement; what is not sent stays as it is */
  'announcements.update': {
    path: { id: string }
    body: {
      text?: OneLineOfVisibleText1To500
      audience?: "everybody" | "customers" | "resellers" | "staff"
      level?: "info" | "warn" | "bad"
      startsAt?: string
      endsAt?: string | null
    }
    result: Announcement
  }
  /** The audit log as a spreadsheet, newest first */
  'audit.export-csv': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "setup_link_invalid" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_lost" | "already_enrolled" | "protocol_mismatch" | "location_not_found" | "location_closed" | "server_not_found" | "hostname_taken" | "no_capacity" | "disk_too_small" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "no_room_to_reinstall" | "already_set_up" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "address_in_use" | "image_not_found" | "package_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "staff_not_found" | "role_not_found" | "last_owner"; since?: string; until?: string }
    result: Response
  }
  /** The audit log as a file of JSON lines, newest first */
  'audit.export-jsonl': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "setup_link_invalid" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_lost" | "already_enrolled" | "protocol_mismatch" | "location_not_found" | "location_closed" | "server_not_found" | "hostname_taken" | "no_capacity" | "disk_too_small" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "no_room_to_reinstall" | "already_set_up" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "address_in_use" | "image_not_found" | "package_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "staff_not_found" | "role_not_found" | "last_owner"; since?: string; until?: string }
    result: Response
  }
  /** Every change, who made it, from where, and every refused sign-in */
  'audit.list': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "setup_link_invalid" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_lost" | "already_enrolled" | "protocol_mismatch" | "location_not_found" | "location_closed" | "server_not_found" | "hostname_taken" | "no_capacity" | "disk_too_small" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "no_room_to_reinstall" | "already_set_up" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "address_in_use" | "image_not_found" | "package_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "staff_not_found" | "role_not_found" | "last_owner"; since?: string; until?: string; cursor?: string; limit?: number }
    result: AuditLinePage
  }
  /** Check that the audit log is as it was written and ends where it ended; names the first line that is not */
  'audit.verify': {
    result: {
      lines: number
      ok: boolean
      brokenAt: string | null
      /** The newest line as it was written to a signed file outside the database, at most a minute ago; null before there is one. */
      anchor: {
        line: number
        at: string | null
        /** `differs`: lines are missing at the end, or were replaced. `not_signed`: its signature is of no key of the key file. */
        state: "matches" | "differs" | "not_signed"
      } | null
    }
  }
  /** Whether a billing system can work with its token: whose it is, what it may do and what it lacks */
  'billing.test-connection': {
    result: BillingConnection
  }
  /** Name, logo, colour, support link and mail sender of this installation; null is inherited */
  'branding.get': {
    result: Branding
  }
  /** Remove the logo of this installation */
  'branding.remove-logo': {
    result: Done
  }
  /** Set name, colour, support link and mail sender of this installation; what is null or left out is inherited */
  'branding.set': {
    body: {
      name?: OneLineOfVisibleText1To60 | null
      accent?: string | null
      senderName?: OneLineOfVisibleText1To60 | null
      senderAddress?: string | null
      supportLink?: OneLineOfVisibleText1To254 | null
    }
    result: Branding
  }
  /** Give this installation a logo: a PNG, JPEG or WebP picture of up to 100 kB */
  'branding.set-logo': {
    body: {
      image: string
    }
    result: Branding
  }
  /** Add a customer */
  'customers.create': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
    }
    result: Customer
  }
  /** Customers and resellers as a spreadsheet, filtered and sorted as the list */
  'customers.export': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; resellerId?: string }
    result: Response
  }
  /** One customer */
  'customers.get': {
    path: { id: string }
    result: Customer
  }
  /** Mail a customer without a password a link to choose one; an earlier link ends */
  'customers.invite': {
    path: { id: string }
    result: Done
  }
  /** Customers and resellers, newest first */
  'customers.list': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; resellerId?: string; cursor?: string; limit?: number }
    result: CustomerPage
  }
  /** Lock a customer: its servers keep running, and it may neither order nor control them */
  'customers.lock': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: Customer
  }
  /** Remove a lost second factor from a customer: they sign in with the password alone until they set up another */
  'customers.reset-second-factor': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: Done
  }
  /** Set what a customer has bought besides its packages; what is left out is none */
  'customers.set-allowance': {
    path: { id: string }
    body: {
      vcpus?: number
      memoryMb?: number
      diskGb?: number
      trafficGb?: number
      ipv4?: number
    }
    result: Allowance
  }
  /** Unlock a customer: orders are accepted again */
  'customers.unlock': {
    path: { id: string }
    result: Customer
  }
  /** Change a customer; what is not sent stays as it is */
  'customers.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
    }
    result: Customer
  }
  /** One event */
  'events.get': {
    path: { id: string }
    result: Event
  }
  /** Events of the last 30 days that you may receive, in the order in which they happened */
  'events.list': {
    query?: { after?: string; type?: string; sort?: "created_at" | "-created_at"; cursor?: string; limit?: number }
    result: EventPage
  }
  /** The types of events that you can receive, each with its audience */
  'events.types': {
    result: {
      types: (EventType)[]
    }
  }
  /** The host of the controller: CPU, memory, the disk holding the database, uptime, version */
  'host.get': {
    result: {
      checkedAt: string
      cpus: number
      cpuPercent: number
      load1: number
      load5: number
      load15: number
      memory: {
        totalBytes: number
        usedBytes: number
        availableBytes: number
        percent: number
      }
      swap: {
        totalBytes: number
        usedBytes: number
      }
      disk: {
        path: string
        totalBytes: number
        usedBytes: number
        percent: number
      }
      databaseBytes: number
      hostUptimeSeconds: number
      version: string
      startedAt: string
      uptimeSeconds: number
      processMemoryBytes: number
    }
  }
  /** Begin to link the identity provider to the own account; answers a cookie, and the address to go to */
  'identities.begin-link': {
    result: {
      url: string
    }
  }
  /** Link the own account to the person that the identity provider sent the browser back with */
  'identities.link': {
    body: {
      code: string
      state: string
      iss?: string
    }
    result: Done
  }
  /** The identity providers through which the own account has signed in */
  'identities.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        issuer: string
        subject: string
        createdAt: string
        usedAt: string
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Unlink an identity provider from the own account; every other session ends */
  'identities.remove': {
    path: { id: string }
    result: Done
  }
  /** Add an official image from the catalogue; its checksum is read from the distribution's own list */
  'images.add': {
    body: {
      catalogueId: "debian-13" | "debian-12" | "ubuntu-26.04" | "ubuntu-24.04" | "almalinux-9" | "rocky-9"
      published?: boolean
    }
    result: Image
  }
  /** Import a disk image from the incoming directory of the controller */
  'images.import': {
    body: {
      file: string
      name: OneLineOfVisibleText1To80
      format?: "qcow2" | "raw"
      minDiskGb?: number
      published?: boolean
    }
    result: Image
  }
  /** Images, newest first, and what else the catalogue offers */
  'images.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: (Image)[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
      catalogue: ({
        id: string
        name: string
        added: boolean
      })[]
    }
  }
  /** The images that a server can be set up with, newest first */
  'images.offered': {
    query?: { cursor?: string; limit?: number }
    result: OfferedImagePage
  }
  /** Remove an image; servers made from it keep running */
  'images.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename an image, publish it or not, make it the default of orders, change its minimum disk */
  'images.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To80
      published?: boolean
      isDefault?: boolean
      minDiskGb?: number
    }
    result: Image
  }
  /** Cancel a job: it stops before its next step, what it did is undone, and it ends as failed */
  'jobs.cancel': {
    path: { jobId: string }
    body: {
      reason?: OneLineOfVisibleText0To200
    }
    result: Job
  }
  /** One job; follow it until its state is succeeded or failed */
  'jobs.get': {
    path: { jobId: string }
    result: JobDetails
  }
  /** Jobs, newest first */
  'jobs.list': {
    query?: { state?: "running" | "done" | "failed"; serverId?: string; nodeId?: string; kind?: string; sort?: "title" | "-title" | "state" | "-state" | "startedBy" | "-startedBy" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: JobPage
  }
  /** A job's log lines; ask again with the last number. The node's commands and errors are for staff */
  'jobs.log': {
    path: { jobId: string }
    query?: { after?: number }
    result: {
      lines: ({
        n: number
        at: string
        level: string
        text: string
      })[]
      state: "queued" | "running" | "succeeded" | "failed"
    }
  }
  /** Add a location: a group of nodes with a placement rule */
  'locations.create': {
    body: {
      name: OneLineOfVisibleText1To60
      placement?: "spread" | "fill"
      open?: boolean
    }
    result: Location
  }
  /** Locations, with what their nodes have and hold */
  'locations.list': {
    query?: { cursor?: string; limit?: number }
    result: LocationPage
  }
  /** Rename a location, change its placement rule, open or close it for new servers */
  'locations.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      placement?: "spread" | "fill"
      open?: boolean
    }
    result: Location
  }
  /** Set the mail server that sends for Berth; waiting mails are sent then. Without a password the one that is kept stays */
  'mail.configure': {
    body: {
      host: string
      port: number
      tls?: boolean
      plain?: boolean
      user?: string | null
      password?: string | null
      from: string
    }
    result: Done
  }
  /** The mail server that sends for Berth, without its password */
  'mail.get': {
    result: {
      host: string | null
      port: number | null
      tls: boolean
      plain: boolean
      user: string | null
      hasPassword: boolean
      from: string | null
    }
  }
  /** Send a test mail to your own address now; answers whether the mail server took it */
  'mail.test': {
    result: {
      to: string
      said: string
    }
  }
  /** Declare a node lost: everything on it has failed, and it is refused until it is enrolled again */
  'nodes.declare-lost': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: WorkloadsOfNode
  }
  /** Make the token that enrolls one node; it is shown only once */
  'nodes.enroll': {
    body: {
      locationId: string
      name?: OneLineOfVisibleText0To60
      bridge?: string
    }
    result: {
      id: string
      token: string
      command: string
      expiresAt: string
    }
  }
  /** Whether the node has enrolled yet */
  'nodes.enrollment': {
    path: { id: string }
    result: {
      id: string
      state: "waiting" | "used" | "expired"
      expiresAt: string
      node: {
        id: string
        name: string
        connected: boolean
        /** Attached to it; without one it takes no servers with addresses. */
        addressPools: number
      } | null
    }
  }
  /** One node: its facts, its load, and what differs from what should be on it */
  'nodes.get': {
    path: { id: string }
    result: {
      id: string
      name: string
      location: {
        id: string
        name: string
      }
      connected: boolean
      /** Expected back within a minute. */
      reconnecting: boolean
      connectedAt: string | null
      seenAt: string
      /** How far its clock is from the controller's. */
      skewMs: number
      /** It takes new servers. */
      open: boolean
      /** Declared lost: its servers have failed, and it is refused until it is enrolled again. */
      lostAt: string | null
      /** It is refused until its credential is renewed. */
      credentialRevokedAt: string | null
      bridge: string
      agentVersion: string
      agentOutdated: boolean
      /** A simulated host. */
      fake: boolean
      virtualisation: Virtualisation
      servers: number
      threads: number
      memoryMb: number
      /** Kept for the host itself. */
      reservedMemoryMb: number
      heldMemoryMb: number
      /** The storage in which new disks are made. */
      pool: string
      diskGb: number
      /** Promised to servers. */
      heldDiskGb: number
      /** Left for orders; 5 % of the storage stays in reserve. */
      freeDiskGb: number
      /** Between what should be on it and what is. */
      differences: number
      /** Measured now; null while the node is away. */
      load: NodeLoad | null
      facts: {
        hostname: OneLineOfText0To253
        agentVersion: OneLineOfText0To64
        fake: boolean
        os: OneLineOfText0To200
        kernel: OneLineOfText0To200
        bootedAt: number
        cpu: {
          model: OneLineOfText0To200
          threads: number
        }
        memoryMb: number
        virtualisation: Virtualisation
        versions: Record<string, OneLineOfText0To100>
        bridges: ({
          name: string
          addresses: (string)[]
        })[]
        addresses: (string)[]
      }
      inventoryAt: string | null
      /** Accounts that own a server on it. */
      customers: number
      /** What it did within the last day that no node should. */
      misconduct: ({
        level: "bad" | "warn"
        what: string
        effect: string
        lastAt: string
      })[]
      found: ({
        kind: string
        workloadId: string | null
        words: string
      })[]
      pools: ({
        id: string
        name: string
        network: string
      })[]
    }
  }
  /** Nodes, with their health and what they hold */
  'nodes.list': {
    query?: { locationId?: string; sort?: "name" | "-name" | "location" | "-location"; cursor?: string; limit?: number }
    result: NodePage
  }
  /** Remove a node that holds no server or is lost; its credential ends at once */
  'nodes.remove': {
    path: { id: string }
    result: Done
  }
  /** Remove a node and terminate everything on it, also when the node is away for good */
  'nodes.remove-with-workloads': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: WorkloadsTerminated
  }
  /** Make a token that gives a node a new credential; it keeps its place and its servers */
  'nodes.renew-enrollment': {
    path: { id: string }
    result: {
      id: string
      token: string
      command: string
      expiresAt: string
    }
  }
  /** Revoke the credential of a node at once; its servers run on until it has a new one */
  'nodes.revoke-credential': {
    path: { id: string }
    result: Node
  }
  /** Rename a node, close it for new servers, change its bridge or what is kept for the host */
  'nodes.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      open?: boolean
      bridge?: string
      reservedMemoryMb?: number
    }
    result: Node
  }
  /** What needs attention, capacity, jobs, and the setup checklist; what your role does not include is null or left out */
  'overview.get': {
    result: {
      checkedAt: string
      attention: (Attention)[]
      checklist: (Step)[]
      servers: Record<string, number> | null
      unreachable: Record<string, number> | null
      jobs: {
        running: number
        failed24h: number
        done24h: number
      } | null
      nodes: {
        total: number
        connected: number
        versions: Record<string, number>
      } | null
      locations: (Location)[] | null
    }
  }
  /** What needs your attention, the servers you see by state, and what a new account has still to do */
  'overview.own': {
    result: {
      checkedAt: string
      attention: (Attention)[]
      checklist: (Step)[]
      servers: Record<string, number>
      /** Those of `servers` whose node is not connected, by the state in which they were last seen. */
      unreachable: Record<string, number>
    }
  }
  /** Add a package that servers can be ordered with */
  'packages.create': {
    body: {
      name: OneLineOfVisibleText1To60
      vcpus: number
      memoryMb: number
      diskGb: number
      trafficGb?: number | null
      portMbps?: number | null
      ipv4?: number
      ipv6Prefix?: number | null
      restartPolicy?: "always" | "on_failure" | "never"
      overTraffic?: "nothing" | "suspend"
      billingProductId?: OneLineOfVisibleText0To100 | null
    }
    result: Package
  }
  /** Packages and locations with their identifiers: what an order names */
  'packages.list': {
    query?: { sort?: "name" | "-name" | "memoryMb" | "-memoryMb" | "trafficGb" | "-trafficGb" | "archived" | "-archived"; cursor?: string; limit?: number }
    result: {
      data: (Package)[]
      nextCursor: string | null
      total: number
      locations: (Location)[]
    }
  }
  /** Change a package; servers that have it keep what they were ordered with */
  'packages.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      vcpus?: number
      memoryMb?: number
      diskGb?: number
      trafficGb?: number | null
      portMbps?: number | null
      ipv4?: number
      ipv6Prefix?: number | null
      restartPolicy?: "always" | "on_failure" | "never"
      overTraffic?: "nothing" | "suspend"
      billingProductId?: OneLineOfVisibleText0To100 | null
      archived?: boolean
    }
    result: Package
  }
  /** What the browser needs to make a passkey for the own account */
  'passkeys.begin': {
    result: PasskeyOptions
  }
  /** Add the passkey that the browser made; it signs in from now on. Ends the other sessions */
  'passkeys.create': {
    body: {
      name?: OneLineOfVisibleText1To60
      passkey: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: {
      id: string
      recoveryCodes: (string)[] | null
    }
  }
  /** Remove a passkey; ends the other sessions */
  'passkeys.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename a passkey */
  'passkeys.rename': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To60
    }
    result: {
      id: string
      name: string
    }
  }
  /** Ask for a link to choose a new password; the answer is the same whether or not the address has an account */
  'password-resets.create': {
    body: {
      email: string
    }
    result: Done
  }
  /** Choose a password with the link from a mail, and sign in; every other session ends */
  'passwords.set': {
    body: {
      token: string
      password: string
    }
    result: SignedIn
  }
  /** The addresses of a pool, in order: the map */
  'pools.addresses': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: PoolAddressPage
  }
  /** Set which nodes route this pool */
  'pools.attach': {
    path: { id: string }
    body: {
      nodeIds: (string)[]
    }
    result: AddressPool
  }
  /** Add an address pool and attach it to nodes */
  'pools.create': {
    body: {
      name: OneLineOfVisibleText1To60
      network: string
      gateway: string
      first?: string
      last?: string
      resolvers?: (string)[]
      nodeIds?: (string)[]
    }
    result: AddressPool
  }
  /** One address pool */
  'pools.get': {
    path: { id: string }
    result: AddressPool
  }
  /** Address pools and how full they are */
  'pools.list': {
    query?: { sort?: "name" | "-name" | "version" | "-version"; cursor?: string; limit?: number }
    result: AddressPoolPage
  }
  /** Remove a pool when no server has an address from it */
  'pools.remove': {
    path: { id: string }
    result: Done
  }
  /** Reserve an address so that no server gets it, or free it again */
  'pools.reserve': {
    path: { id: string }
    body: {
      reservedFor: OneLineOfVisibleText1To100 | null
    }
    result: {
      id: string
      address: string
      reservedFor: string | null
    }
  }
  /** Make ten new recovery codes, shown only once; the earlier ones end */
  'recovery-codes.create': {
    result: {
      recoveryCodes: (string)[]
    }
  }
  /** Name, logo, colour, support link and mail sender of the reseller, as its own customers see it; null is inherited */
  'reseller-branding.get': {
    result: Branding
  }
  /** Remove the logo of the reseller, as its own customers see it */
  'reseller-branding.remove-logo': {
    result: Done
  }
  /** Set name, colour, support link and mail sender of the reseller, as its own customers see it; what is null or left out is inherited */
  'reseller-branding.set': {
    body: {
      name?: OneLineOfVisibleText1To60 | null
      accent?: string | null
      senderName?: OneLineOfVisibleText1To60 | null
      senderAddress?: string | null
      supportLink?: OneLineOfVisibleText1To254 | null
    }
    result: Branding
  }
  /** Give the reseller, as its own customers see it a logo: a PNG, JPEG or WebP picture of up to 100 kB */
  'reseller-branding.set-logo': {
    body: {
      image: string
    }
    result: Branding
  }
  /** The packages and locations that you may sell, with their identifiers, and your quotas */
  'reseller.account': {
    result: Reseller
  }
  /** Add a customer of your own */
  'reseller.create-customer': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
    }
    result: Customer
  }
  /** Order a server for yourself or one of your customers; without an image it waits for its owner to set it up */
  'reseller.create-server': {
    query?: { dryRun?: "true" | "false" }
    body: {
      ownerId: string
      packageId: string
      nodeGroupId: string
      imageId?: string
      hostname?: string
      name?: OneLineOfVisibleText1To64
      access?: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
      billingServiceId?: OneLineOfVisibleText0To100 | null
    }
    result: ServerOrdered
  }
  /** Your customers, newest first */
  'reseller.customers': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: CustomerPage
  }
  /** Your customers as a spreadsheet, filtered and sorted as the list */
  'reseller.export-customers': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt" }
    result: Response
  }
  /** Add a reseller: what it may sell and where; what has no quota is not limited */
  'resellers.create': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
      quotas?: {
        customers?: number | null
        servers?: number | null
        vcpus?: number | null
        memoryMb?: number | null
        diskGb?: number | null
        ipv4?: number | null
        gpus?: number | null
      }
      packageIds?: (string)[]
      locationIds?: (string)[]
    }
    result: Reseller
  }
  /** One reseller: its quotas, and what it may sell where */
  'resellers.get': {
    path: { id: string }
    result: Reseller
  }
  /** Resellers, newest first, with what they hold of their quotas */
  'resellers.list': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: ResellerPage
  }
  /** Suspend a reseller: it and its customers get nothing new; their servers keep running */
  'resellers.suspend': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: Reseller
  }
  /** Unsuspend a reseller: it may order and add customers again */
  'resellers.unsuspend': {
    path: { id: string }
    result: Reseller
  }
  /** Change a reseller; what is not sent stays as it is, and a lower quota takes nothing away */
  'resellers.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      quotas?: {
        customers?: number | null
        servers?: number | null
        vcpus?: number | null
        memoryMb?: number | null
        diskGb?: number | null
        ipv4?: number | null
        gpus?: number | null
      }
      packageIds?: (string)[]
      locationIds?: (string)[]
    }
    result: Reseller
  }
  /** Add a role; it may do no more than its maker */
  'roles.create': {
    body: {
      name: OneLineOfVisibleText1To60
      permissions: ("customers.read" | "customers.write" | "resellers.write" | "nodes.read" | "nodes.write" | "servers.see_all" | "servers.create" | "servers.resize" | "servers.suspend" | "servers.terminate" | "servers.power" | "servers.reinstall" | "servers.settings" | "network.write" | "images.write" | "packages.write" | "support_session" | "api_webhooks" | "audit.read" | "settings.write" | "staff.write" | "reports.read")[]
      secondFactor?: boolean
    }
    result: Role
  }
  /** One role of staff, with what it may do */
  'roles.get': {
    path: { id: string }
    result: Role
  }
  /** The roles of staff, each with what it may do and how many have it */
  'roles.list': {
    query?: { cursor?: string; limit?: number }
    result: RolePage
  }
  /** Remove a role that nobody has */
  'roles.remove': {
    path: { id: string }
    result: Done
  }
  /** The API tokens of the members of a role */
  'roles.tokens': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: RoleTokenPage
  }
  /** Change a role; it applies at once to everybody who has it */
  'roles.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      permissions?: ("customers.read" | "customers.write" | "resellers.write" | "nodes.read" | "nodes.write" | "servers.see_all" | "servers.create" | "servers.resize" | "servers.suspend" | "servers.terminate" | "servers.power" | "servers.reinstall" | "servers.settings" | "network.write" | "images.write" | "packages.write" | "support_session" | "api_webhooks" | "audit.read" | "settings.write" | "staff.write" | "reports.read")[]
      secondFactor?: boolean
    }
    result: Role
  }
  /** Find servers, customers, nodes, jobs, pages and actions by name, address or id; at most 12 */
  'search.find': {
    query?: { q?: string }
    result: {
      data: ({
        type: "page" | "action" | "customer" | "node" | "server" | "job"
        id: string | null
        title: string
        detail: string | null
        href: string
      })[]
    }
  }
  /** Which second factors the own account has, without their secrets */
  'second-factor.get': {
    result: {
      email: string
      hasPassword: boolean
      required: boolean
      /** When an owner must have one at the latest; null where nothing is due. */
      requiredFrom: string | null
      totp: {
        confirmedAt: string
      } | null
      passkeys: ({
        id: string
        name: string
        createdAt: string
        usedAt: string | null
        usedFrom: string | null
      })[]
      recoveryCodesLeft: number
    }
  }
  /** What was done to a server, by whom and from where */
  'servers.activity': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: ActivityPage
  }
  /** Add traffic to a server for this month; one that is suspended for its traffic starts again */
  'servers.add-bandwidth': {
    path: { id: string }
    body: {
      action: "add"
      gb: number
    }
    result: BandwidthAdded
  }
  /** The traffic of a server in this month, and what it may use */
  'servers.bandwidth': {
    path: { id: string }
    result: Bandwidth
  }
  /** Give a server another package: the disk only grows, and addresses stay */
  'servers.change-package': {
    path: { id: string }
    body: {
      packageId: string
    }
    result: PackageChange
  }
  /** Order a server; without an image it waits for its owner to set it up */
  'servers.create': {
    query?: { dryRun?: "true" | "false" }
    body: {
      ownerId: string
      packageId: string
      nodeGroupId: string
      imageId?: string
      hostname?: string
      name?: OneLineOfVisibleText1To64
      access?: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
      billingServiceId?: OneLineOfVisibleText0To100 | null
      nodeId?: string | null
    }
    result: ServerOrdered
  }
  /** The servers you see as a spreadsheet, filtered and sorted as the list */
  'servers.export': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt" }
    result: Response
  }
  /** Every server as a spreadsheet, filtered and sorted as the list */
  'servers.export-all': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; resellerId?: string }
    result: Response
  }
  /** One server */
  'servers.get': {
    path: { id: string }
    result: Server
  }
  /** The servers you see, newest first */
  'servers.list': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: ServerPage
  }
  /** Every server, newest first */
  'servers.list-all': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; resellerId?: string; cursor?: string; limit?: number }
    result: ServerPage
  }
  /** Start, shut down, force off or restart */
  'servers.power': {
    path: { id: string }
    body: {
      action: "start" | "shutdown" | "off" | "restart"
    }
    result: JobStarted
  }
  /** Reinstall a server with an image; everything on its disk is lost once the new system is in use */
  'servers.reinstall': {
    path: { id: string }
    body: {
      imageId: string
      hostname?: string
      access: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
      /** True: where there is no space for both disks, the old system is deleted first. */
      discardFirst?: boolean
    }
    result: InstallationStarted
  }
  /** Whether the current system of a server survives a reinstallation that fails */
  'servers.reinstall-options': {
    path: { id: string }
    result: ReinstallOptions
  }
  /** Give a server another display name; its hostname stays */
  'servers.rename': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
    }
    result: Server
  }
  /** Choose what happens when the server ends by itself: start it again always, after a crash, or never */
  'servers.restart-policy': {
    path: { id: string }
    body: {
      restartPolicy: "always" | "on_failure" | "never"
    }
    result: JobStarted
  }
  /** Set the billing system's own identifier of a server; null removes it */
  'servers.set-billing-service': {
    path: { id: string }
    body: {
      billingServiceId: OneLineOfVisibleText0To100 | null
    }
    result: Server
  }
  /** Choose image, hostname and access for a server that waits for its setup */
  'servers.setup': {
    path: { id: string }
    body: {
      imageId: string
      hostname: string
      name?: OneLineOfVisibleText1To64
      access: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
    }
    result: InstallationStarted
  }
  /** Suspend a server: it is stopped and its owner kept out until it is unsuspended */
  'servers.suspend': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: JobStarted
  }
  /** Terminate a server: its disk is deleted and its addresses are given back */
  'servers.terminate': {
    path: { id: string }
    result: JobStarted
  }
  /** Unsuspend a server: its owner has it back as it was */
  'servers.unsuspend': {
    path: { id: string }
    result: JobStarted
  }
  /** Begin to sign in through the identity provider; answers a cookie, and the address to go to */
  'sessions.begin-with-provider': {
    body: {
      next?: string
      again?: boolean
      invitation?: string
    }
    result: {
      url: string
    }
  }
  /** Ways to finish the sign-in that this browser has begun; empty when there is none */
  'sessions.challenge': {
    result: {
      secondFactor: ("totp" | "passkey" | "recovery")[]
      until: string | null
    }
  }
  /** Confirm who you are: with the password, a code of the authenticator app, or a passkey. Good for 10 minutes */
  'sessions.confirm': {
    body: {
      password?: string
      code?: string
      passkey?: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: {
      until: string
    }
  }
  /** What the browser needs to confirm with a passkey who you are */
  'sessions.confirm-passkey': {
    result: PasskeyOptions
  }
  /** Sign in with e-mail address and password; answers a cookie, or which second factor comes next */
  'sessions.create': {
    body: {
      email: string
      password: string
    }
    result: SignedIn
  }
  /** Sign out */
  'sessions.end': {
    result: Done
  }
  /** End one of the own sessions; its next call is refused */
  'sessions.end-one': {
    path: { id: string }
    result: Done
  }
  /** End every session of the own account but this one */
  'sessions.end-others': {
    result: Done
  }
  /** Sign in with what the identity provider sent the browser back with */
  'sessions.from-provider': {
    body: {
      code: string
      state: string
      iss?: string
    }
    result: SignedIn
  }
  /** Where the own account is signed in now, the newest sign-in first */
  'sessions.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        device: string
        from: string
        createdAt: string
        seenAt: string
        current: boolean
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Sign in with a passkey alone; answers a cookie */
  'sessions.passkey': {
    body: {
      passkey: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: SignedIn
  }
  /** What the browser needs to sign in with a passkey alone */
  'sessions.passkey-begin': {
    result: PasskeyOptions
  }
  /** What the button for signing in through the identity provider says; null when there is none */
  'sessions.provider': {
    result: {
      label: string | null
      /** Whether the account that is signed in may link it. */
      linkable: boolean
    }
  }
  /** Finish signing in: a code of the authenticator app, a recovery code, or a passkey */
  'sessions.second-factor': {
    body: {
      code?: string
      recoveryCode?: string
      passkey?: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: SignedIn
  }
  /** What the browser needs to finish signing in with a passkey */
  'sessions.second-factor-passkey': {
    result: PasskeyOptions
  }
  /** Make the first staff account with the link from the journal */
  'setup.finish': {
    body: {
      token: string
      email: string
      name: OneLineOfVisibleText1To100
      password: string
    }
    result: SignedIn
  }
  /** A link that signs a customer in: good once, for 60 seconds. For billing systems whose customer is signed in there */
  'sign-in-links.create': {
    path: { id: string }
    result: {
      url: string
      expiresAt: string
    }
  }
  /** A link that signs a customer in and leads to one of their servers */
  'sign-in-links.create-for-server': {
    path: { id: string }
    result: {
      url: string
      expiresAt: string
    }
  }
  /** Sign in with a link from a billing system */
  'sign-in-links.use': {
    body: {
      token: string
    }
    result: SignedIn
  }
  /** The identity provider through which people may sign in, without its secret; and the redirect URL to enter there */
  'sign-in-provider.get': {
    result: {
      issuer: string | null
      clientId: string | null
      hasSecret: boolean
      for: ("staff" | "reseller" | "customer")[]
      label: string | null
      redirectUrl: string
    }
  }
  /** Turn signing in through the identity provider off; people who are signed in stay signed in */
  'sign-in-provider.remove': {
    result: Done
  }
  /** Let people sign in through an OpenID Connect provider. It is asked before anything is saved; without a secret the one that is kept stays */
  'sign-in-provider.set': {
    body: {
      issuer: string
      clientId: OneLineOfVisibleText1To200
      clientSecret?: string | null
      for: ("staff" | "reseller" | "customer")[]
      label: OneLineOfVisibleText1To60
    }
    result: {
      issuer: string | null
      clientId: string | null
      hasSecret: boolean
      for: ("staff" | "reseller" | "customer")[]
      label: string | null
      redirectUrl: string
    }
  }
  /** Add a public key to a customer's account */
  'ssh-keys.create': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText0To100
      publicKey: string
    }
    result: SshKey
  }
  /** A customer's public keys */
  'ssh-keys.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: SshKeyPage
  }
  /** Remove a public key; servers that have it keep it */
  'ssh-keys.remove': {
    path: { id: string }
    result: Done
  }
  /** Give a public key another name */
  'ssh-keys.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To100
    }
    result: SshKey
  }
  /** Add a member of staff, with a role that may do no more than you */
  'staff.create': {
    body: {
      email: string
      name: OneLineOfVisibleText1To100
      role?: OneLineOfVisibleText1To60
      password?: string
    }
    result: StaffMember
  }
  /** Keep a member of staff out: sessions, tokens and links end at once and for good, what they did stays on record */
  'staff.disable': {
    path: { id: string }
    result: StaffMember
  }
  /** Let a disabled member of staff in again; their tokens stay revoked */
  'staff.enable': {
    path: { id: string }
    result: StaffMember
  }
  /** Everybody who runs this installation */
  'staff.list': {
    query?: { cursor?: string; limit?: number }
    result: StaffMemberPage
  }
  /** Remove a lost second factor from a member of staff */
  'staff.reset-second-factor': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: Done
  }
  /** Change the name, the address or the role of a member of staff; with another role they sign in anew */
  'staff.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      role?: OneLineOfVisibleText1To60
    }
    result: StaffMember
  }
  /** Whether it is up, and which version it is */
  'status.get': {
    result: {
      status: "ok"
      product: string
      version: string
      time: string
      startedAt: string
    }
  }
  /** How many servers of each package can be ordered in each location now, and what binds the number */
  'stock.get': {
    query?: { packageId?: string; nodeGroupId?: string; ownerId?: string }
    result: Stock
  }
  /** Leave the account that a support session is in */
  'support.close': {
    result: Done
  }
  /** Work in a customer's account for up to 60 minutes; the reason and every change are in the audit log */
  'support.open': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: {
      accountId: string
      until: string
      home: string
    }
  }
  /** Accept an invitation with the account that has its address */
  'team.accept': {
    body: {
      token: string
    }
    result: {
      id: string
      home: string
    }
  }
  /** What an invitation is for, to whoever has its link */
  'team.invitation': {
    query?: { token?: string }
    result: {
      owner: {
        name: string
      }
      email: string
      role: "view" | "operate" | "manage"
      server: {
        name: string
      } | null
      expiresAt: string
      next: "accept" | "sign_in" | "make_account" | "other_account"
    }
  }
  /** Invite someone by mail to one of your servers, or to all of them */
  'team.invite': {
    body: {
      email: string
      role: "view" | "operate" | "manage"
      serverId?: string | null
    }
    result: TeamMember
  }
  /** Accept an invitation with a new account; answers a cookie */
  'team.join': {
    body: {
      token: string
      name: OneLineOfVisibleText1To100
      password: string
    }
    result: SignedIn
  }
  /** Give up access to what somebody shares with you */
  'team.leave': {
    path: { id: string }
    result: Done
  }
  /** Who has access to your servers, and who is invited, newest first */
  'team.list': {
    query?: { cursor?: string; limit?: number }
    result: TeamMemberPage
  }
  /** What others share with you, newest first */
  'team.memberships': {
    query?: { cursor?: string; limit?: number }
    result: MembershipPage
  }
  /** End somebody's access at once, or withdraw an invitation */
  'team.remove': {
    path: { id: string }
    result: Done
  }
  /** Send an invitation again, with a new link for another seven days; the old link ends */
  'team.resend': {
    path: { id: string }
    result: TeamMember
  }
  /** Change the role of a member of your team; it applies from their next call */
  'team.update': {
    path: { id: string }
    body: {
      role: "view" | "operate" | "manage"
    }
    result: TeamMember
  }
  /** Make a token for the own account; it is shown only once */
  'tokens.create': {
    body: {
      name: OneLineOfVisibleText1To100
      preset?: "billing" | "reseller-billing"
      scopes?: (string)[]
      allow?: (string)[]
      expiresAt?: string | null
    }
    result: {
      id: string
      token: string
      scopes: (string)[]
      expiresAt: string | null
    }
  }
  /** The own tokens, without their values: when and from where each was last used */
  'tokens.list': {
    query?: { cursor?: string; limit?: number }
    result: TokenPage
  }
  /** Revoke a token at once, also its previous value */
  'tokens.revoke': {
    path: { id: string }
    result: Done
  }
  /** Rotate a token: a new value, shown only once; the old one is accepted a while longer */
  'tokens.rotate': {
    path: { id: string }
    body: {
      overlapHours?: number
    }
    result: {
      id: string
      token: string
      previousUntil: string | null
      expiresAt: string | null
    }
  }
  /** Begin adding an authenticator app: answers its secret, once, as text, address and QR code (SVG) */
  'totp.begin': {
    result: {
      secret: string
      uri: string
      qr: string
    }
  }
  /** Finish adding the authenticator app with one of its codes; signing in asks for one from now on. Ends the other sessions */
  'totp.confirm': {
    body: {
      code: string
    }
    result: {
      recoveryCodes: (string)[] | null
    }
  }
  /** Remove the authenticator app; ends the other sessions */
  'totp.remove': {
    result: Done
  }
  /** The usage of a month: the total of each account, by package */
  'usage.accounts': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: UsageAccountPage
  }
  /** The usage of a month as a spreadsheet: one line for each server and owner */
  'usage.export': {
    query?: { month?: string; ownerId?: string; resellerId?: string }
    result: Response
  }
  /** The intervals of the ledger in a month, newest first: every number of the report is a sum of them */
  'usage.intervals': {
    query?: { month?: string; ownerId?: string; resellerId?: string; serverId?: string; cursor?: string; limit?: number }
    result: UsageIntervalPage
  }
  /** What a server was in a period, with every interval */
  'usage.of-server': {
    path: { id: string }
    query?: { from?: string; to?: string }
    result: ServerUsage
  }
  /** Compare a billing system’s list of services with the servers, and answer what differs */
  'usage.reconcile': {
    body: {
      services?: (ListedService)[]
      /** In place of services: lines with a head that names columns of serverId, billingServiceId, ownerExternalId, billingProductId, state. */
      csv?: string
    }
    result: Reconciliation
  }
  /** The usage of a month: a line for each server and owner, terminated servers included */
  'usage.report': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: UsageLinePage
  }
  /** Make a webhook; its secret is shown only once */
  'webhooks.create': {
    body: {
      /** Begins with https:// and is reachable by everybody. */
      url: string
      /** Types of events, from `GET /event-types`; `*` is every type that you may receive. */
      events: (string)[]
    }
    result: NewWebhook
  }
  /** The deliveries of a webhook, newest first: the last 200 of an account, 2000 of the platform */
  'webhooks.deliveries': {
    path: { id: string }
    query?: { state?: "waiting" | "delivered" | "failed"; cursor?: string; limit?: number }
    result: WebhookDeliveryPage
  }
  /** One delivery, with the request and the response of each attempt */
  'webhooks.delivery': {
    path: { id: string }
    result: WebhookDeliveryDetails
  }
  /** One webhook */
  'webhooks.get': {
    path: { id: string }
    result: Webhook
  }
  /** The webhooks of the account, or for staff those of the platform */
  'webhooks.list': {
    query?: { cursor?: string; limit?: number }
    result: WebhookPage
  }
  /** Pause a webhook: nothing more is queued for it, and what waits is held */
  'webhooks.pause': {
    path: { id: string }
    result: Webhook
  }
  /** How many deliveries of all webhooks of the account wait, and how many were dropped */
  'webhooks.queue': {
    result: WebhookQueue
  }
  /** Send the same event once more, now; it is never retried */
  'webhooks.redeliver': {
    path: { id: string }
    result: {
      deliveryId: string
    }
  }
  /** Delete a webhook, its log and what waits for it */
  'webhooks.remove': {
    path: { id: string }
    result: Done
  }
  /** Resume a webhook: what was held is delivered, and events are queued from now on */
  'webhooks.resume': {
    path: { id: string }
    result: Webhook
  }
  /** Make a new secret, shown only once; for 24 hours deliveries are signed with both */
  'webhooks.rotate-secret': {
    path: { id: string }
    result: {
      id: string
      secret: string
      previousUntil: string
    }
  }
  /** Send a test, also while the webhook is paused; it is never retried */
  'webhooks.test': {
    path: { id: string }
    result: {
      deliveryId: string
    }
  }
  /** Change the address or the events of a webhook; what is not sent stays as it is */
  'webhooks.update': {
    path: { id: string }
    body: {
      /** Begins with https:// and is reachable by everybody. */
      url?: string
      /** Types of events, from `GET /event-types`; `*` is every type that you may receive. */
      events?: (string)[]
    }
    result: Webhook
  }
}

/** Lists that go on behind their first page. */
export type ListId =
  | 'account.activity'
  | 'announcements.list'
  | 'announcements.list-all'
  | 'audit.list'
  | 'customers.list'
  | 'events.list'
  | 'identities.list'
  | 'images.list'
  | 'images.offered'
  | 'jobs.list'
  | 'locations.list'
  | 'nodes.list'
  | 'packages.list'
  | 'pools.addresses'
  | 'pools.list'
  | 'reseller.customers'
  | 'resellers.list'
  | 'roles.list'
  | 'roles.tokens'
  | 'servers.activity'
  | 'servers.list'
  | 'servers.list-all'
  | 'sessions.list'
  | 'ssh-keys.list'
  | 'staff.list'
  | 'team.list'
  | 'team.memberships'
  | 'tokens.list'
  | 'usage.accounts'
  | 'usage.intervals'
  | 'usage.report'
  | 'webhooks.deliveries'
  | 'webhooks.list'

/** Method, path, and whether it takes an Idempotency-Key. */
export const routes: { readonly [Id in keyof Operations]: readonly [string, string, boolean] } = {
  'account.activity': ['GET', '/account/activity', false],
  'account.confirm-email': ['POST', '/account/email/confirm', false],
  'account.email': ['PUT', '/account/email', false],
  'account.get': ['GET', '/account', false],
  'account.password': ['PUT', '/account/password', false],
  'account.update': ['PATCH', '/account', false],
  'announcements.create': ['POST', '/admin/announcements', false],
  'announcements.list': ['GET', '/announcements', false],
  'announcements.list-all': ['GET', '/admin/announcements', false],
  'announcements.remove': ['DELETE', '/admin/announcements/{id}', false],
  'announcements.update': ['PATCH', '/admin/announcements/{id}', false],
  'audit.export-csv': ['GET', '/admin/audit.csv', false],
  'audit.export-jsonl': ['GET', '/admin/audit.jsonl', false],
  'audit.list': ['GET', '/admin/audit', false],
  'audit.verify': ['GET', '/admin/audit/verify', false],
  'billing.test-connection': ['GET', '/billing/connection', false],
  'branding.get': ['GET', '/admin/settings/branding', false],
  'branding.remove-logo': ['DELETE', '/admin/settings/branding/logo', false],
  'branding.set': ['PUT', '/admin/settings/branding', false],
  'branding.set-logo': ['PUT', '/admin/settings/branding/logo', false],
  'customers.create': ['POST', '/admin/customers', true],
  'customers.export': ['GET', '/admin/customers.csv', false],
  'customers.get': ['GET', '/customers/{id}', false],
  'customers.invite': ['POST', '/customers/{id}/actions/invite', false],
  'customers.list': ['GET', '/admin/customers', false],
  'customers.lock': ['POST', '/customers/{id}/actions/lock', false],
  'customers.reset-second-factor': ['POST', '/customers/{id}/actions/reset-second-factor', false],
  'customers.set-allowance': ['PUT', '/customers/{id}/allowance', false],
  'customers.unlock': ['POST', '/customers/{id}/actions/unlock', false],
  'customers.update': ['PATCH', '/customers/{id}', false],
  'events.get': ['GET', '/events/{id}', false],
  'events.list': ['GET', '/events', false],
  'events.types': ['GET', '/event-types', false],
  'host.get': ['GET', '/admin/panel-host', false],
  'identities.begin-link': ['POST', '/account/identities/begin', false],
  'identities.link': ['POST', '/account/identities', false],
  'identities.list': ['GET', '/account/identities', false],
  'identities.remove': ['DELETE', '/account/identities/{id}', false],
  'images.add': ['POST', '/admin/images', false],
  'images.import': ['POST', '/admin/images/import', false],
  'images.list': ['GET', '/admin/images', false],
  'images.offered': ['GET', '/images', false],
  'images.remove': ['DELETE', '/admin/images/{id}', false],
  'images.update': ['PATCH', '/admin/images/{id}', false],
  'jobs.cancel': ['POST', '/jobs/{jobId}/actions/cancel', false],
  'jobs.get': ['GET', '/jobs/{jobId}', false],
  'jobs.list': ['GET', '/jobs', false],
  'jobs.log': ['GET', '/jobs/{jobId}/log', false],
  'locations.create': ['POST', '/admin/node-groups', false],
  'locations.list': ['GET', '/admin/node-groups', false],
  'locations.update': ['PATCH', '/admin/node-groups/{id}', false],
  'mail.configure': ['PUT', '/admin/settings/mail', false],
  'mail.get': ['GET', '/admin/settings/mail', false],
  'mail.test': ['POST', '/admin/settings/mail/test', false],
  'nodes.declare-lost': ['POST', '/admin/nodes/{id}/actions/declare-lost', false],
  'nodes.enroll': ['POST', '/admin/node-enrollments', false],
  'nodes.enrollment': ['GET', '/admin/node-enrollments/{id}', false],
  'nodes.get': ['GET', '/admin/nodes/{id}', false],
  'nodes.list': ['GET', '/admin/nodes', false],
  'nodes.remove': ['DELETE', '/admin/nodes/{id}', false],
  'nodes.remove-with-workloads': ['POST', '/admin/nodes/{id}/actions/remove-with-workloads', false],
  'nodes.renew-enrollment': ['POST', '/admin/nodes/{id}/actions/renew-enrollment', false],
  'nodes.revoke-credential': ['POST', '/admin/nodes/{id}/actions/revoke-credential', false],
  'nodes.update': ['PATCH', '/admin/nodes/{id}', false],
  'overview.get': ['GET', '/admin/overview', false],
  'overview.own': ['GET', '/overview', false],
  'packages.create': ['POST', '/admin/packages', false],
  'packages.list': ['GET', '/admin/packages', false],
  'packages.update': ['PATCH', '/admin/packages/{id}', false],
  'passkeys.begin': ['POST', '/account/passkeys/actions/begin', false],
  'passkeys.create': ['POST', '/account/passkeys', false],
  'passkeys.remove': ['DELETE', '/passkeys/{id}', false],
  'passkeys.rename': ['PATCH', '/passkeys/{id}', false],
  'password-resets.create': ['POST', '/password-resets', false],
  'passwords.set': ['POST', '/passwords', false],
  'pools.addresses': ['GET', '/admin/ip-pools/{id}/addresses', false],
  'pools.attach': ['PUT', '/admin/ip-pools/{id}/nodes', false],
  'pools.create': ['POST', '/admin/ip-pools', false],
  'pools.get': ['GET', '/admin/ip-pools/{id}', false],
  'pools.list': ['GET', '/admin/ip-pools', false],
  'pools.remove': ['DELETE', '/admin/ip-pools/{id}', false],
  'pools.reserve': ['PATCH', '/admin/ip-addresses/{id}', false],
  'recovery-codes.create': ['POST', '/account/recovery-codes', false],
  'reseller-branding.get': ['GET', '/reseller/branding', false],
  'reseller-branding.remove-logo': ['DELETE', '/reseller/branding/logo', false],
  'reseller-branding.set': ['PUT', '/reseller/branding', false],
  'reseller-branding.set-logo': ['PUT', '/reseller/branding/logo', false],
  'reseller.account': ['GET', '/reseller/account', false],
  'reseller.create-customer': ['POST', '/reseller/customers', true],
  'reseller.create-server': ['POST', '/reseller/servers', true],
  'reseller.customers': ['GET', '/reseller/customers', false],
  'reseller.export-customers': ['GET', '/reseller/customers.csv', false],
  'resellers.create': ['POST', '/admin/resellers', true],
  'resellers.get': ['GET', '/resellers/{id}', false],
  'resellers.list': ['GET', '/admin/resellers', false],
  'resellers.suspend': ['POST', '/resellers/{id}/actions/suspend', false],
  'resellers.unsuspend': ['POST', '/resellers/{id}/actions/unsuspend', false],
  'resellers.update': ['PATCH', '/resellers/{id}', false],
  'roles.create': ['POST', '/admin/roles', false],
  'roles.get': ['GET', '/admin/roles/{id}', false],
  'roles.list': ['GET', '/admin/roles', false],
  'roles.remove': ['DELETE', '/admin/roles/{id}', false],
  'roles.tokens': ['GET', '/admin/roles/{id}/tokens', false],
  'roles.update': ['PATCH', '/admin/roles/{id}', false],
  'search.find': ['GET', '/search', false],
  'second-factor.get': ['GET', '/account/second-factor', false],
  'servers.activity': ['GET', '/servers/{id}/activity', false],
  'servers.add-bandwidth': ['POST', '/servers/{id}/bandwidth', true],
  'servers.bandwidth': ['GET', '/servers/{id}/bandwidth', false],
  'servers.change-package': ['POST', '/servers/{id}/actions/change-package', true],
  'servers.create': ['POST', '/admin/servers', true],
  'servers.export': ['GET', '/servers.csv', false],
  'servers.export-all': ['GET', '/admin/servers.csv', false],
  'servers.get': ['GET', '/servers/{id}', false],
  'servers.list': ['GET', '/servers', false],
  'servers.list-all': ['GET', '/admin/servers', false],
  'servers.power': ['POST', '/servers/{id}/actions/power', true],
  'servers.reinstall': ['POST', '/servers/{id}/actions/reinstall', true],
  'servers.reinstall-options': ['GET', '/servers/{id}/reinstall-options', false],
  'servers.rename': ['PATCH', '/servers/{id}/name', false],
  'servers.restart-policy': ['PUT', '/servers/{id}/restart-policy', true],
  'servers.set-billing-service': ['PATCH', '/servers/{id}/billing', false],
  'servers.setup': ['POST', '/servers/{id}/actions/setup', true],
  'servers.suspend': ['POST', '/servers/{id}/actions/suspend', true],
  'servers.terminate': ['DELETE', '/servers/{id}', true],
  'servers.unsuspend': ['POST', '/servers/{id}/actions/unsuspend', true],
  'sessions.begin-with-provider': ['POST', '/sessions/provider', false],
  'sessions.challenge': ['GET', '/sessions/second-factor', false],
  'sessions.confirm': ['POST', '/sessions/current/confirm', false],
  'sessions.confirm-passkey': ['POST', '/sessions/current/confirm/passkey', false],
  'sessions.create': ['POST', '/sessions', false],
  'sessions.end': ['DELETE', '/sessions/current', false],
  'sessions.end-one': ['DELETE', '/account/sessions/{id}', false],
  'sessions.end-others': ['DELETE', '/account/sessions', false],
  'sessions.from-provider': ['POST', '/sessions/from-provider', false],
  'sessions.list': ['GET', '/account/sessions', false],
  'sessions.passkey': ['POST', '/sessions/passkey', false],
  'sessions.passkey-begin': ['POST', '/sessions/passkey/actions/begin', false],
  'sessions.provider': ['GET', '/sessions/provider', false],
  'sessions.second-factor': ['POST', '/sessions/second-factor', false],
  'sessions.second-factor-passkey': ['POST', '/sessions/second-factor/passkey', false],
  'setup.finish': ['POST', '/setup', false],
  'sign-in-links.create': ['POST', '/customers/{id}/sign-in-links', false],
  'sign-in-links.create-for-server': ['POST', '/servers/{id}/sign-in-links', false],
  'sign-in-links.use': ['POST', '/sessions/from-link', false],
  'sign-in-provider.get': ['GET', '/admin/settings/sign-in', false],
  'sign-in-provider.remove': ['DELETE', '/admin/settings/sign-in', false],
  'sign-in-provider.set': ['PUT', '/admin/settings/sign-in', false],
  'ssh-keys.create': ['POST', '/customers/{id}/ssh-keys', false],
  'ssh-keys.list': ['GET', '/customers/{id}/ssh-keys', false],
  'ssh-keys.remove': ['DELETE', '/ssh-keys/{id}', false],
  'ssh-keys.update': ['PATCH', '/ssh-keys/{id}', false],
  'staff.create': ['POST', '/admin/staff', false],
  'staff.disable': ['POST', '/admin/staff/{id}/actions/disable', false],
  'staff.enable': ['POST', '/admin/staff/{id}/actions/enable', false],
  'staff.list': ['GET', '/admin/staff', false],
  'staff.reset-second-factor': ['POST', '/admin/staff/{id}/actions/reset-second-factor', false],
  'staff.update': ['PATCH', '/admin/staff/{id}', false],
  'status.get': ['GET', '/status', false],
  'stock.get': ['GET', '/stock', false],
  'support.close': ['DELETE', '/support-session', false],
  'support.open': ['POST', '/customers/{id}/support-session', false],
  'team.accept': ['POST', '/team/accept', false],
  'team.invitation': ['GET', '/team/invitation', false],
  'team.invite': ['POST', '/team', false],
  'team.join': ['POST', '/team/join', false],
  'team.leave': ['DELETE', '/team/memberships/{id}', false],
  'team.list': ['GET', '/team', false],
  'team.memberships': ['GET', '/team/memberships', false],
  'team.remove': ['DELETE', '/team/{id}', false],
  'team.resend': ['POST', '/team/{id}/actions/resend', false],
  'team.update': ['PATCH', '/team/{id}', false],
  'tokens.create': ['POST', '/account/tokens', false],
  'tokens.list': ['GET', '/account/tokens', false],
  'tokens.revoke': ['DELETE', '/tokens/{id}', false],
  'tokens.rotate': ['POST', '/tokens/{id}/actions/rotate', false],
  'totp.begin': ['POST', '/account/totp', false],
  'totp.confirm': ['POST', '/account/totp/actions/confirm', false],
  'totp.remove': ['DELETE', '/account/totp', false],
  'usage.accounts': ['GET', '/reports/usage/accounts', false],
  'usage.export': ['GET', '/reports/usage.csv', false],
  'usage.intervals': ['GET', '/reports/usage/intervals', false],
  'usage.of-server': ['GET', '/servers/{id}/usage', false],
  'usage.reconcile': ['POST', '/usage/reconciliation', false],
  'usage.report': ['GET', '/reports/usage', false],
  'webhooks.create': ['POST', '/webhooks', false],
  'webhooks.deliveries': ['GET', '/webhooks/{id}/deliveries', false],
  'webhooks.delivery': ['GET', '/webhook-deliveries/{id}', false],
  'webhooks.get': ['GET', '/webhooks/{id}', false],
  'webhooks.list': ['GET', '/webhooks', false],
  'webhooks.pause': ['POST', '/webhooks/{id}/actions/pause', false],
  'webhooks.queue': ['GET', '/webhook-queue', false],
  'webhooks.redeliver': ['POST', '/webhook-deliveries/{id}/actions/redeliver', false],
  'webhooks.remove': ['DELETE', '/webhooks/{id}', false],
  'webhooks.resume': ['POST', '/webhooks/{id}/actions/resume', false],
  'webhooks.rotate-secret': ['POST', '/webhooks/{id}/actions/rotate-secret', false],
  'webhooks.test': ['POST', '/webhooks/{id}/actions/test', false],
  'webhooks.update': ['PATCH', '/webhooks/{id}', false],
}

