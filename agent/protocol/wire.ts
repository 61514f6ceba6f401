// The protocol between controller and agent; both import this file and nothing else of each other.
// PROTOCOL is raised when a message changes its meaning. A new command or an optional field does not raise it.
import { type Static, type TSchema, Type as t } from 'typebox'
import { anyText, bridgeName, counter, line, megabytes, timestamp } from './bounds.ts'
import { MOST_PINS, PIN } from './pin.ts'

/**
 * 1 (2026-11): challenge over HTTP, signed WebSocket upgrade, commands with keys, heartbeats, inventory. Frames,
 * commands and volumes name a workload of any kind; a node runs vms; a volume has a generation. The number stays 1
 * until the first release.
 */
export const PROTOCOL = 1

/** Paths on the controller that agents use. */
export const agentPaths = {
  enroll: '/agent/v1/enroll',
  challenge: '/agent/v1/challenge',
  connect: '/agent/v1/connect',
  /** `/agent/v1/images/{id}`: an image that was imported into the controller. Signed as the upgrade is. */
  images: '/agent/v1/images',
  /** `/agent/v1/program/{x64|aarch64}`: the program, for a machine that joins. Needs an enrolment token. */
  program: '/agent/v1/program',
} as const

/** Headers of an agent's signed requests: the WebSocket upgrade and image downloads. */
export const agentHeaders = {
  node: 'X-Berth-Node',
  nonce: 'X-Berth-Nonce',
  signature: 'X-Berth-Signature',
  protocol: 'X-Berth-Protocol',
} as const

/** Codes with which the controller closes an agent's socket, beside those of WebSocket itself. */
export const closeCodes = {
  /** The controller stops or restarts: connect again soon. */
  restarting: 1012,
  /** The node was removed or its credential revoked. */
  removed: 4401,
  /** The node's key opened another connection: two agents use it, or this one was thought dead. */
  replaced: 4409,
  /** The agent sent more than a node may, or frames that the controller does not understand. */
  tooMuch: 4429,
} as const

/** The most bytes of a frame. A longer one closes the socket with 1009. */
export const MOST_FRAME_BYTES = 1 << 20

/** The text that a node's Ed25519 key signs: bound to the purpose, the node and one nonce of the controller's. */
export const signedText = (nodeId: string, nonce: string) => `berth-agent-v1\n${nodeId}\n${nonce}`

// ---------------------------------------------------------------- values
/** The id of a workload of any kind, as a pattern. Nothing on a node depends on the kind. */
export const WORKLOAD_ID = '[a-z]{2,8}_[0-9a-z]{26}'
const workloadId = t.String({ pattern: `^${WORKLOAD_ID}$` })
const imageId = t.String({ pattern: '^img_[0-9a-z]{26}$' })
const nothing = t.Object({})
const mac = t.String({ pattern: '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' })
/** A tap is `bth<workload number>`; Linux allows 15 characters. Every interface with this prefix is Berth's. */
export const TAP_PREFIX = 'bth'
const tap = t.String({ pattern: '^bth[0-9]{1,11}$' })
const address = t.String({ maxLength: 45, pattern: '^[0-9a-fA-F.:]+$' })
const cidr = t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' })

/**
 * A vm's disk in one of the node's storage pools. Its name on the host derives from workload and generation. A disk
 * that replaces another has a higher generation, so that both exist until the old one is removed; a generation is never
 * used twice.
 */
export const Volume = t.Object({
  workload: workloadId,
  generation: t.Integer({ minimum: 0, maximum: 999_999 }),
  pool: t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  format: t.Enum(['qcow2', 'raw']),
})
export type Volume = Static<typeof Volume>

/** The source of an image and its checksum. A `url` that starts with `/` is on the controller. */
export const ImageSource = t.Object({
  id: imageId,
  url: t.String({ maxLength: 2048 }),
  format: t.Enum(['qcow2', 'raw']),
  /** Checksum of the downloaded file; distributions publish one of the two kinds. */
  checksum: t.String({ pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$' }),
})
export type ImageSource = Static<typeof ImageSource>

/**
 * The reaction of a node to a vm that ends although no command stopped it. `on_failure`: it is started again after a
 * crash, and stays off when its guest shut it down. `always`: also then. `never`: it stays off.
 */
export const restartPolicies = ['always', 'on_failure', 'never'] as const
export const RestartPolicy = t.Enum(restartPolicies)
export type RestartPolicy = (typeof restartPolicies)[number]

const MANY = { maxItems: 1000 }
/** The frames that a vm may send. Addresses are the controller's allocation and are never learned. */
export const PortRules = t.Object({
  workload: workloadId,
  tap,
  mac,
  ipv4: t.Array(address, MANY),
  ipv6: t.Array(cidr, MANY),
})
export type PortRules = Static<typeof PortRules>

/** A vm's hardware, independent of the hypervisor, and what the node does when it ends by itself. */
export const Vm = t.Object({
  workload: workloadId,
  hostname: t.String({ maxLength: 253 }),
  vcpus: t.Integer({ minimum: 1, maximum: 512 }),
  memoryMb: t.Integer({ minimum: 32, maximum: 2 ** 30 }),
  volume: Volume,
  network: t.Object({
    bridge: bridgeName,
    tap,
    mac,
    portMbps: t.Union([t.Integer({ minimum: 1, maximum: 10_000_000 }), t.Null()]),
  }),
  /** True until the guest has booted once: the seed is attached as a CD-ROM. */
  seeded: t.Boolean(),
  /** In force at once, also for a running vm. */
  restartPolicy: RestartPolicy,
})
export type Vm = Static<typeof Vm>

const jsonObject = t.Record(t.String({ pattern: '^.{0,100}$' }), t.Unknown(), {
  maxProperties: 100,
  additionalProperties: false,
})
/** cloud-init's NoCloud seed, each part a JSON value. It holds hashes of passwords, never passwords. */
export const Seed = t.Object({
  workload: workloadId,
  metaData: jsonObject,
  userData: jsonObject,
  networkConfig: jsonObject,
})
export type Seed = Static<typeof Seed>

/** A vm's power as the node reports it; `absent`: not defined on the node. */
export const Power = t.Enum(['running', 'stopped', 'paused', 'crashed', 'absent'])
export type Power = Static<typeof Power>

// ---------------------------------------------------------------- commands
const command = <I extends TSchema, O extends TSchema>(input: I, output: O) => ({ input, output })

/**
 * A command either reads or acts, never both. One that acts converges: sent again, or sent when the host is already in
 * that state, it has the same effect and the same answer. A job therefore reads the earlier state in a step of its own.
 */
export const commands = {
  /** Downloads the image unless the node has it, checks its checksum and header, and stores it for later volumes. */
  'image.ensure': command(ImageSource, t.Object({ virtualSizeBytes: counter })),
  'image.remove': command(t.Object({ id: imageId }), nothing),
  /** The disk's size as the guest sees it; null: there is no such volume. */
  'volume.look': command(Volume, t.Object({ sizeBytes: t.Union([counter, t.Null()]) })),
  /**
   * Makes a disk from an image that `image.ensure` brought, grown to `sizeBytes`. A disk that exists is never
   * overwritten. Fails with `no_image`, `disk_too_small` or `volume_differs`, and with `pool_full` when the image does
   * not fit.
   */
  'volume.create': command(
    t.Object({
      volume: Volume,
      image: imageId,
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    nothing,
  ),
  /**
   * Enlarges the disk, also under a running vm, which sees it at once. A disk that is that large or larger stays as it
   * is: none ever shrinks. Fails with `no_volume`.
   */
  'volume.grow': command(
    t.Object({ volume: Volume, sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    nothing,
  ),
  /** Deletes the disk of this generation; without one it does nothing. */
  'volume.remove': command(Volume, nothing),
  /** Writes the seed of a vm and replaces an earlier one. */
  'seed.write': command(Seed, nothing),
  /** Ejects the seed from the vm and deletes it. Without vm or seed it does nothing. */
  'seed.remove': command(t.Object({ workload: workloadId }), nothing),
  /** Loads the vm's rules, which replace its earlier ones, and stores them for reboots of the host. */
  'firewall.allow': command(PortRules, nothing),
  /** Removes the vm's rules: its tap then sends nothing. */
  'firewall.forget': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Creates the definition or replaces it for the next start; a running vm is not touched. Fails with `no_seed`,
   * `no_bridge`.
   */
  'vm.define': command(Vm, nothing),
  /** From now on the node does this when the vm ends by itself. Fails with `no_vm`. */
  'vm.set-restart-policy': command(t.Object({ workload: workloadId, restartPolicy: RestartPolicy }), nothing),
  /** The vm's power. */
  'vm.look': command(t.Object({ workload: workloadId }), t.Object({ power: Power })),
  /**
   * Starts the vm, now and after reboots of the host. From then on the node starts it again when it ends by itself, as
   * its `restartPolicy` says. Fails with `no_port_rules` before `firewall.allow`, with `no_vm`.
   */
  'vm.start': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Asks the guest to shut down, waits up to `graceSeconds`, then switches the vm off; 0: at once. The definition
   * stays.
   */
  'vm.stop': command(
    t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    nothing,
  ),
  /** Switches the vm off and deletes definition and seed; the disk stays. Without a vm it does nothing. */
  'vm.remove': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Waits until the guest answers by its agent or by SSH at `address`, at most `limitSeconds`. `off`: the vm is no
   * longer running, so it will not answer.
   */
  'vm.await': command(
    t.Object({
      workload: workloadId,
      address: t.Union([address, t.Null()]),
      limitSeconds: t.Integer({ minimum: 1, maximum: 900 }),
    }),
    t.Object({ answered: t.Enum(['agent', 'ssh', 'no', 'off']) }),
  ),
}

export type CommandName = keyof typeof commands
export type Input<N extends CommandName> = Static<(typeof commands)[N]['input']>
export type Output<N extends CommandName> = Static<(typeof commands)[N]['output']>

/** A command for a node. The runner gives it its key, `<job>/<step>` or `<job>/<step>/undo`. */
export type NodeCommand<N extends CommandName = CommandName> = { nodeId: string; name: N; input: Input<N> }
export const nodeCommand = <N extends CommandName>(nodeId: string, name: N, input: Input<N>): NodeCommand<N> => ({
  nodeId,
  name,
  input,
})

// ---------------------------------------------------------------- facts and reports
/** Facts about the host, sent when the agent connects and whenever one changes. */
export const Facts = t.Object({
  hostname: line(253),
  agentVersion: line(64),
  fake: t.Boolean(),
  os: line(200),
  kernel: line(200),
  bootedAt: timestamp,
  cpu: t.Object({ model: line(200), threads: t.Integer({ minimum: 1, maximum: 65_536 }) }),
  memoryMb: megabytes,
  /** `kvm` only if a probe guest ran with it; `reason` is the finding in words. */
  virtualisation: t.Object(
    { kind: t.Enum(['kvm', 'emulation', 'none']), reason: line(500) },
    { title: 'Virtualisation' },
  ),
  versions: t.Record(t.String({ pattern: '^[a-z0-9._-]{1,40}$' }), line(100), {
    maxProperties: 50,
    additionalProperties: false,
  }),
  bridges: t.Array(t.Object({ name: bridgeName, addresses: t.Array(cidr, { maxItems: 64 }) }), { maxItems: 256 }),
  /** Addresses of the host itself, with prefix lengths. */
  addresses: t.Array(cidr, { maxItems: 256 }),
})
export type Facts = Static<typeof Facts>

/** Size and free space of a storage pool, in bytes. */
export const PoolCapacity = t.Object(
  {
    name: line(32),
    kind: line(20),
    path: line(400),
    totalBytes: counter,
    freeBytes: counter,
  },
  { title: 'StoragePool' },
)
export type PoolCapacity = Static<typeof PoolCapacity>

/** The workloads that a report names at most. */
export const MOST_WORKLOADS = 5000

/** Sent every 10 s. Counters are totals since the vm's start, seen from the vm (`rx` is received by it). */
export const Heartbeat = t.Object({
  type: t.Literal('heartbeat'),
  at: timestamp,
  cpuPercent: t.Number({ minimum: 0, maximum: 100 }),
  load1: t.Number({ minimum: 0, maximum: 1_000_000 }),
  memoryFreeMb: megabytes,
  pools: t.Array(PoolCapacity, { maxItems: 64 }),
  workloads: t.Array(
    // Processor time in ms: in nanoseconds a large vm passes the safe integers within two days.
    t.Object({ id: workloadId, power: Power, cpuMs: counter, rxBytes: counter, txBytes: counter }),
    { maxItems: MOST_WORKLOADS },
  ),
})
export type Heartbeat = Static<typeof Heartbeat>

/**
 * Everything on the host with Berth's mark, so that the controller can compare the wanted with the actual state. The
 * agent only reports; it never deletes what it finds.
 */
export const Inventory = t.Object({
  type: t.Literal('inventory'),
  vms: t.Array(t.Object({ workload: workloadId, power: Power }), { maxItems: MOST_WORKLOADS }),
  volumes: t.Array(Volume, { maxItems: MOST_WORKLOADS }),
  /** Names of vms without Berth's mark: shown, never changed. */
  foreign: t.Array(line(200), { maxItems: 500 }),
})
export type Inventory = Static<typeof Inventory>

/** A change of power, by a command, by the guest or by hand: sent at once. */
export const PowerChange = t.Object({
  type: t.Literal('power'),
  workload: workloadId,
  power: Power,
  at: timestamp,
  reason: line(200),
})

export const crashCauses = ['ended', 'out_of_memory', 'shutdown', 'not_started'] as const

/**
 * A vm ended, or did not start, although it should run. Sent at once, and those of the last 24 hours again after each
 * connection: `workload` and `at` identify it.
 */
export const Crash = t.Object({
  type: t.Literal('crash'),
  workload: workloadId,
  at: timestamp,
  /** `ended`: its process was killed or broke off. `shutdown`: by its guest, under the policy `always`. */
  cause: t.Enum(crashCauses),
  /** The host's own words, for staff; empty where `cause` says all. */
  detail: line(300),
  /** `restarts`: the node starts it again. `left_off`: its policy or too many tries keep it off. */
  outcome: t.Enum(['restarts', 'left_off']),
})
export type Crash = Static<typeof Crash>

/** Days of vms that one report of traffic names at most: to store them takes some 10 ms. */
export const MOST_TRAFFIC_DAYS = 250
/** 1.1 PB: what 100 Gbit/s carry in a day. Sums of a year of such days still fit the database. */
const bytesOfDay = t.Integer({ minimum: 0, maximum: 2 ** 50 })
/** More than a year: a node that was not looked at for long has one sum for all of it. */
const secondsMeasured = t.Integer({ minimum: 0, maximum: 40_000_000 })

/**
 * The traffic of vms by day in UTC, as seen from the vm, since the node began to count on that day: sent again until
 * the controller says `traffic-stored` with this `seq`. `meter` names the counting itself: a node that lost its data
 * begins another one, whose sums count beside the earlier ones. `measuredSeconds`: how much of the day it covers.
 */
export const Traffic = t.Object({
  type: t.Literal('traffic'),
  meter: t.String({ pattern: '^[0-9a-f]{16}$' }),
  seq: counter,
  days: t.Array(
    t.Object({
      workload: workloadId,
      /** Days since 1970. */
      day: t.Integer({ minimum: 0, maximum: 2_932_896 }),
      rxBytes: bytesOfDay,
      txBytes: bytesOfDay,
      measuredSeconds: secondsMeasured,
    }),
    { maxItems: MOST_TRAFFIC_DAYS },
  ),
})
export type Traffic = Static<typeof Traffic>

export const LogLevel = t.Enum(['info', 'command', 'warning', 'error'])
export type LogLevel = Static<typeof LogLevel>

const key = line(120)

/** Frames from the agent, one JSON text each, at most `MOST_FRAME_BYTES`. */
export const FromAgent = t.Union([
  t.Object({ type: t.Literal('facts'), facts: Facts }),
  Heartbeat,
  Inventory,
  PowerChange,
  Crash,
  Traffic,
  t.Object({ type: t.Literal('log'), key, level: LogLevel, text: anyText(4096), at: timestamp }),
  t.Object({ type: t.Literal('progress'), key, percent: t.Integer({ minimum: 0, maximum: 100 }) }),
  t.Object({ type: t.Literal('done'), key, output: t.Unknown() }),
  t.Object({
    type: t.Literal('failed'),
    key,
    error: t.Object({ code: t.String({ pattern: '^[a-z0-9_]{1,60}$' }), message: anyText(2000) }),
  }),
])
export type FromAgent = Static<typeof FromAgent>

/** Frames to the agent. */
export const ToAgent = t.Union([
  /** The first frame after the upgrade. `now` lets the agent measure its clock's skew. */
  t.Object({
    type: t.Literal('welcome'),
    nodeId: line(60),
    controllerVersion: line(64),
    now: timestamp,
    /** The keys that the node accepts of the controller's certificate from now on. */
    pins: t.Optional(t.Array(t.String({ pattern: `^${PIN}$` }), { minItems: 1, maxItems: MOST_PINS })),
  }),
  t.Object({ type: t.Literal('command'), key, name: line(60), input: t.Unknown() }),
  /** Requests facts, a heartbeat and the inventory at once. */
  t.Object({ type: t.Literal('report') }),
  /** The days of a report of traffic are in the database, up to this number. */
  t.Object({ type: t.Literal('traffic-stored'), seq: counter }),
])
export type ToAgent = Static<typeof ToAgent>

// ---------------------------------------------------------------- enrolment (plain HTTP calls, JSON both ways)
const protocol = t.Integer({ minimum: 0, maximum: 65_535 })

export const EnrollRequest = t.Object({
  token: line(200),
  protocol,
  /** Ed25519, raw 32 bytes, base64url. */
  publicKey: t.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  facts: Facts,
  /** SHA-256 of the machine's id and host name, hex: the same machine is not made a second node. */
  machineId: t.Optional(t.String({ pattern: '^[0-9a-f]{64}$' })),
})
export type EnrollRequest = Static<typeof EnrollRequest>
/** Errors have the API's form `{ error: { code, message } }`; 401 for a token that is expired or invalid. */
export const EnrollResponse = t.Object({ nodeId: line(60), name: line(253) })
export type EnrollResponse = Static<typeof EnrollResponse>

/** 401 when the node was removed or its key revoked; 426 for another protocol, with what to update. */
export const ChallengeRequest = t.Object({ nodeId: line(60), protocol })
export const ChallengeResponse = t.Object({ nonce: line(200) })
