// The whole wire between controller and agent. Both sides import this file and nothing else of each other.
// Bump PROTOCOL when a message changes meaning; adding a command or an optional field does not.
import { type Static, type TSchema, Type as t } from 'typebox'

/**
 * 1 (2026-11): challenge over HTTP, signed WebSocket upgrade, commands with keys, heartbeats, inventory. Frames, commands and
 * volumes name a workload, of any kind; what a node runs is a vm. Not released before this, so the number stays.
 */
export const PROTOCOL = 1

/** Paths on the controller that agents use. */
export const agentPaths = {
  enroll: '/agent/v1/enroll',
  challenge: '/agent/v1/challenge',
  connect: '/agent/v1/connect',
  /** `/agent/v1/images/{id}`: an image that was imported into the controller. Signed like a connection. */
  images: '/agent/v1/images',
  /** `/agent/v1/program/{x64|aarch64}`: the program itself, for a machine that is about to join. With its enrolment token. */
  program: '/agent/v1/program',
} as const

/** Headers of a signed request of an agent: the WebSocket upgrade and image downloads. */
export const agentHeaders = {
  node: 'X-Berth-Node',
  nonce: 'X-Berth-Nonce',
  signature: 'X-Berth-Signature',
  protocol: 'X-Berth-Protocol',
} as const

/** What a node's Ed25519 key signs: bound to the purpose, the node and one nonce that the controller made. */
export const signedText = (nodeId: string, nonce: string) => `berth-agent-v1\n${nodeId}\n${nonce}`

// ---------------------------------------------------------------- words of the wire
/** An id of the controller's, of any kind of workload: nothing on a node depends on which kind it is. */
export const WORKLOAD_ID = '[a-z]{2,8}_[0-9a-z]{26}'
const workloadId = t.String({ pattern: `^${WORKLOAD_ID}$` })
const imageId = t.String({ pattern: '^img_[0-9a-z]{26}$' })
const nothing = t.Object({})
const mac = t.String({ pattern: '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' })
/** Linux allows 15 characters; ours are `bth<workload number>`. Everything with this prefix is ours. */
export const TAP_PREFIX = 'bth'
const tap = t.String({ pattern: '^bth[0-9]{1,11}$' })
const address = t.String({ maxLength: 45, pattern: '^[0-9a-fA-F.:]+$' })
const cidr = t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' })

/** A guest disk. The name on the host derives from the workload; `pool` is one of the node's storage pools. */
export const Volume = t.Object({
  workload: workloadId,
  pool: t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  format: t.Enum(['qcow2', 'raw']),
})
export type Volume = Static<typeof Volume>

/** Where an image comes from and how it is recognised. A `url` starting with `/` is on the controller. */
export const ImageSource = t.Object({
  id: imageId,
  url: t.String({ maxLength: 2048 }),
  format: t.Enum(['qcow2', 'raw']),
  /** Of the file as downloaded; distributions publish one or the other. */
  checksum: t.String({ pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$' }),
})
export type ImageSource = Static<typeof ImageSource>

/** What may come out of a guest's tap. Addresses are the controller's allocation, never learned. */
export const PortRules = t.Object({ workload: workloadId, tap, mac, ipv4: t.Array(address), ipv6: t.Array(cidr) })
export type PortRules = Static<typeof PortRules>

/** A guest's hardware. The hypervisor driver turns it into its own language. */
export const Vm = t.Object({
  workload: workloadId,
  hostname: t.String({ maxLength: 253 }),
  vcpus: t.Integer({ minimum: 1, maximum: 512 }),
  memoryMb: t.Integer({ minimum: 32 }),
  volume: Volume,
  network: t.Object({
    bridge: t.String({ pattern: '^[a-zA-Z0-9_.-]{1,15}$' }),
    tap,
    mac,
    portMbps: t.Union([t.Integer({ minimum: 1 }), t.Null()]),
  }),
  /** True while the guest's first boot is ahead: the seed is attached as a CD-ROM. */
  seeded: t.Boolean(),
})
export type Vm = Static<typeof Vm>

/** cloud-init's NoCloud seed. Each part is a JSON value; hashes of passwords, never passwords. */
export const Seed = t.Object({
  workload: workloadId,
  metaData: t.Record(t.String(), t.Unknown()),
  userData: t.Record(t.String(), t.Unknown()),
  networkConfig: t.Record(t.String(), t.Unknown()),
})
export type Seed = Static<typeof Seed>

export const Power = t.Enum(['running', 'stopped', 'paused', 'crashed', 'absent'])
export type Power = Static<typeof Power>

// ---------------------------------------------------------------- commands
const command = <I extends TSchema, O extends TSchema>(input: I, output: O) => ({ input, output })

/**
 * A command either looks or acts, never both. One that acts converges: sent twice, or sent when the host is there
 * already, it ends the same and answers the same. So what was there before is looked up in a step of its own.
 */
export const commands = {
  /** Downloads the image once, checks its checksum and its header, and keeps it for every later workload. */
  'image.ensure': command(ImageSource, t.Object({ virtualSizeBytes: t.Integer() })),
  'image.remove': command(t.Object({ id: imageId }), nothing),
  'volume.look': command(Volume, t.Object({ sizeBytes: t.Union([t.Integer(), t.Null()]) })),
  /** A fresh disk filled from an image that `image.ensure` brought, grown to `sizeBytes`. Half-made ones are made anew. */
  'volume.create': command(t.Object({ volume: Volume, image: imageId, sizeBytes: t.Integer({ minimum: 1 }) }), nothing),
  'volume.remove': command(Volume, nothing),
  'seed.write': command(Seed, nothing),
  /** Ejects the seed from the guest, if it is there, and deletes it. */
  'seed.remove': command(t.Object({ workload: workloadId }), nothing),
  /** Loads the guest's rules and keeps them across reboots of the host. Replaces what was there for the workload. */
  'firewall.allow': command(PortRules, nothing),
  'firewall.forget': command(t.Object({ workload: workloadId }), nothing),
  /** Creates or replaces the definition; a running guest goes on as it is. */
  'vm.define': command(Vm, nothing),
  'vm.look': command(t.Object({ workload: workloadId }), t.Object({ power: Power })),
  /** Also notes that it shall run again after a reboot of the host. Needs `firewall.allow` before it. */
  'vm.start': command(t.Object({ workload: workloadId }), nothing),
  /** Asks the guest to shut down for `graceSeconds`, then pulls the plug; 0 pulls it at once. */
  'vm.stop': command(
    t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    nothing,
  ),
  /** Off, undefined, seed deleted; the disk stays. Nothing there is fine. */
  'vm.remove': command(t.Object({ workload: workloadId }), nothing),
  /** Waits until the guest answers (guest agent, or SSH at `address`), `limitSeconds` at most. */
  'vm.await': command(
    t.Object({
      workload: workloadId,
      address: t.Union([address, t.Null()]),
      limitSeconds: t.Integer({ minimum: 1, maximum: 900 }),
    }),
    t.Object({ answered: t.Enum(['agent', 'ssh', 'no']) }),
  ),
}

export type CommandName = keyof typeof commands
export type Input<N extends CommandName> = Static<(typeof commands)[N]['input']>
export type Output<N extends CommandName> = Static<(typeof commands)[N]['output']>

/** `nodeId` says where. The runner gives it its key, `<job>/<step>` or `<job>/<step>/undo`. */
export type NodeCommand<N extends CommandName = CommandName> = { nodeId: string; name: N; input: Input<N> }
export const nodeCommand = <N extends CommandName>(nodeId: string, name: N, input: Input<N>): NodeCommand<N> => ({
  nodeId,
  name,
  input,
})

// ---------------------------------------------------------------- facts and reports
/** What an agent says of its host when it connects and whenever it changes. */
export const Facts = t.Object({
  hostname: t.String({ maxLength: 253 }),
  agentVersion: t.String({ maxLength: 64 }),
  fake: t.Boolean(),
  os: t.String({ maxLength: 200 }),
  kernel: t.String({ maxLength: 200 }),
  bootedAt: t.Integer(),
  cpu: t.Object({ model: t.String({ maxLength: 200 }), threads: t.Integer({ minimum: 1 }) }),
  memoryMb: t.Integer({ minimum: 0 }),
  /** `kvm` only if a probe really started a machine with it; `reason` says what was found, in words. */
  virtualisation: t.Object({ kind: t.Enum(['kvm', 'emulation', 'none']), reason: t.String({ maxLength: 500 }) }),
  versions: t.Record(t.String({ maxLength: 40 }), t.String({ maxLength: 100 })),
  bridges: t.Array(t.Object({ name: t.String({ maxLength: 15 }), addresses: t.Array(cidr, { maxItems: 64 }) }), {
    maxItems: 256,
  }),
  /** Addresses of the host itself, with their prefix lengths. */
  addresses: t.Array(cidr, { maxItems: 256 }),
})
export type Facts = Static<typeof Facts>

export const PoolCapacity = t.Object({
  name: t.String({ maxLength: 32 }),
  kind: t.String({ maxLength: 20 }),
  path: t.String({ maxLength: 400 }),
  totalBytes: t.Integer({ minimum: 0 }),
  freeBytes: t.Integer({ minimum: 0 }),
})
export type PoolCapacity = Static<typeof PoolCapacity>

/** Every 10 s. Counters are totals since the guest started, as the guest sees them (rx: to the guest). */
export const Heartbeat = t.Object({
  type: t.Literal('heartbeat'),
  at: t.Integer(),
  cpuPercent: t.Number(),
  load1: t.Number(),
  memoryFreeMb: t.Integer({ minimum: 0 }),
  pools: t.Array(PoolCapacity, { maxItems: 64 }),
  workloads: t.Array(
    t.Object({
      id: workloadId,
      power: Power,
      cpuNanoseconds: t.Integer(),
      rxBytes: t.Integer(),
      txBytes: t.Integer(),
    }),
    { maxItems: 5000 },
  ),
})
export type Heartbeat = Static<typeof Heartbeat>

/**
 * Everything on the host that carries our mark (the owner id kept in the domain's metadata), so that the controller can hold
 * what should be against what is. The agent reports; it never deletes what it finds.
 */
export const Inventory = t.Object({
  type: t.Literal('inventory'),
  vms: t.Array(t.Object({ workload: workloadId, power: Power }), { maxItems: 5000 }),
  volumes: t.Array(Volume, { maxItems: 5000 }),
  /** Guests on the hypervisor without our mark: shown, never touched. */
  foreign: t.Array(t.String({ maxLength: 200 }), { maxItems: 500 }),
})
export type Inventory = Static<typeof Inventory>

export const LogLevel = t.Enum(['info', 'command', 'warning', 'error'])
export type LogLevel = Static<typeof LogLevel>

const key = t.String({ maxLength: 120 })

/** Frames from the agent, one JSON text each, at most 1 MB. */
export const FromAgent = t.Union([
  t.Object({ type: t.Literal('facts'), facts: Facts }),
  Heartbeat,
  Inventory,
  /** A guest changed its state by itself or by hand: streamed, not polled. */
  t.Object({
    type: t.Literal('power'),
    workload: workloadId,
    power: Power,
    at: t.Integer(),
    reason: t.String({ maxLength: 200 }),
  }),
  t.Object({ type: t.Literal('log'), key, level: LogLevel, text: t.String({ maxLength: 4096 }), at: t.Integer() }),
  t.Object({ type: t.Literal('progress'), key, percent: t.Integer({ minimum: 0, maximum: 100 }) }),
  t.Object({ type: t.Literal('done'), key, output: t.Unknown() }),
  t.Object({
    type: t.Literal('failed'),
    key,
    error: t.Object({ code: t.String({ maxLength: 60 }), message: t.String({ maxLength: 2000 }) }),
  }),
])
export type FromAgent = Static<typeof FromAgent>

/** Frames to the agent. */
export const ToAgent = t.Union([
  /** First after the upgrade. `now` lets the agent measure its clock's skew. */
  t.Object({ type: t.Literal('welcome'), nodeId: t.String(), controllerVersion: t.String(), now: t.Integer() }),
  t.Object({ type: t.Literal('command'), key, name: t.String(), input: t.Unknown() }),
  /** Asks for facts, a heartbeat and the inventory now. */
  t.Object({ type: t.Literal('report') }),
])
export type ToAgent = Static<typeof ToAgent>

// ---------------------------------------------------------------- enrolment (plain HTTP calls, JSON both ways)
export const EnrollRequest = t.Object({
  token: t.String({ maxLength: 200 }),
  protocol: t.Integer(),
  /** Ed25519, raw 32 bytes, base64url. */
  publicKey: t.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  facts: Facts,
})
export type EnrollRequest = Static<typeof EnrollRequest>
/** Errors have the API's shape: `{ error: { code, message } }`, with 401 for a token that is expired or not valid. */
export const EnrollResponse = t.Object({ nodeId: t.String(), name: t.String() })
export type EnrollResponse = Static<typeof EnrollResponse>

/** Body `{ nodeId, protocol }`. 401 when the node was removed or revoked; 426 with the update message for another protocol. */
export const ChallengeRequest = t.Object({ nodeId: t.String({ maxLength: 60 }), protocol: t.Integer() })
export const ChallengeResponse = t.Object({ nonce: t.String() })
