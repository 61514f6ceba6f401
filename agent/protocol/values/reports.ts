// Facts and reports, in which an agent describes its host.
import { type Static, Type as t } from 'typebox'
import { bridgeName, counter, line, megabytes, timestamp, workloadId } from '../bounds.ts'
import { Card, CardSample, ContainerEnd, ContainerEngine, MOST_CARDS } from '../gpu.ts'
import { Volume } from './disks.ts'
import { address, cidr } from './ports.ts'
import { Uplink } from './vlans.ts'
import { cpuModel, firmwares, MOST_CPU_MODELS, Power } from './vms.ts'

/**
 * The states of an agent's update. `refused`: nothing of the release was taken. `failed`: it could not be fetched or
 * started, and a later try may end otherwise. `trial`: it runs until the controller accepts it, and goes back without.
 */
export const updateStates = ['fetching', 'refused', 'failed', 'switching', 'trial', 'went_back'] as const

/** Left out: no update was tried since the last one that was accepted. `at`: of the last change of its state. */
export const AgentUpdate = t.Object(
  {
    state: t.Enum(updateStates),
    at: timestamp,
    /** That of the release; left out where its manifest is not believed. */
    version: t.Optional(line(64)),
    /** The version to which a trial goes back. */
    from: t.Optional(line(64)),
    /** Of `refused`, `failed` and `went_back`. */
    code: t.Optional(t.String({ pattern: '^[a-z0-9_]{1,60}$', examples: ['release_too_old'] })),
    reason: t.Optional(line(500)),
    /**
     * Of a trial, once the agent has compared its inventory with that of before and probed each of its drivers: what
     * speaks against it. Empty: nothing.
     */
    findings: t.Optional(t.Array(line(300), { maxItems: 20 })),
  },
  { title: 'AgentUpdate' },
)
export type AgentUpdate = Static<typeof AgentUpdate>

/** Facts about the host, sent when the agent connects and whenever one changes. */
export const Facts = t.Object({
  hostname: line(253),
  agentVersion: line(64),
  fake: t.Boolean(),
  os: line(200),
  kernel: line(200),
  bootedAt: timestamp,
  cpu: t.Object({ model: line(200), threads: t.Integer({ minimum: 1, maximum: 65_536 }) }),
  /** The CPU models that vms can have here; left out: not known. */
  cpuModels: t.Optional(t.Array(cpuModel, { maxItems: MOST_CPU_MODELS })),
  memoryMb: megabytes,
  /** `kvm` only if a probe guest ran with it; `reason` is the finding in words. */
  virtualisation: t.Object(
    { kind: t.Enum(['kvm', 'emulation', 'none']), reason: line(500) },
    { title: 'Virtualisation' },
  ),
  /** The firmware that vms can have here, and whether they can have a TPM; left out: BIOS only. */
  hardware: t.Optional(
    t.Object({ firmware: t.Array(t.Enum(firmwares), { maxItems: 8 }), tpm: t.Boolean() }, { title: 'NodeHardware' }),
  ),
  versions: t.Record(t.String({ pattern: '^[a-z0-9._-]{1,40}$' }), line(100), {
    maxProperties: 50,
    additionalProperties: false,
  }),
  bridges: t.Array(t.Object({ name: bridgeName, addresses: t.Array(cidr, { maxItems: 64 }) }), { maxItems: 256 }),
  /** Addresses of the host itself, with prefix lengths. */
  addresses: t.Array(cidr, { maxItems: 256 }),
  /** Left out where the operator named none. */
  uplink: t.Optional(Uplink),
  /** The host's address between the nodes: that from which it reaches its controller. */
  managementAddress: t.Optional(address),
  /** Left out by a host that has no container engine. */
  containers: t.Optional(ContainerEngine),
  cards: t.Optional(t.Array(Card, { maxItems: MOST_CARDS })),
  /**
   * How this agent comes to another version: `itself` by releases of its controller, or by a `package` or another work
   * of an operator's, `hand`. Left out by agents that know no releases.
   */
  updatedBy: t.Optional(t.Enum(['itself', 'package', 'hand'])),
  /** `linux-x64`, as a release names what its programs are for. */
  platform: t.Optional(line(41)),
  update: t.Optional(AgentUpdate),
})
export type Facts = Static<typeof Facts>

/** The kinds of storage pools that an agent of this version can have; `fake` is that of a fake node. */
export const poolKinds = ['file', 'lvm-thin', 'zfs', 'rbd', 'fake'] as const
export type PoolKind = (typeof poolKinds)[number]
/** A label of the operator's for how fast a pool is, such as `nvme` or `hdd`. */
export const POOL_CLASS = '^[a-z0-9][a-z0-9-]{0,19}$'

/**
 * Size and free space of a storage pool, in bytes, and what is wrong with it in words. `kind` is one of `poolKinds`, or
 * one that a newer agent has. Disks in pools of the kinds `lvm-thin`, `zfs` and `rbd` are always raw. `path` is where
 * the pool is on the host: a directory, a thin pool, a data set, or a pool of Ceph's.
 */
export const PoolCapacity = t.Object(
  {
    name: line(32),
    kind: line(20),
    path: line(400),
    totalBytes: counter,
    freeBytes: counter,
    class: t.Optional(line(20)),
    /** Of a thin pool, whose metadata can be full before its data is. */
    metadataTotalBytes: t.Optional(counter),
    metadataFreeBytes: t.Optional(counter),
    warnings: t.Optional(t.Array(line(300), { maxItems: 8 })),
    /** Names the storage itself in the same words on every node that reaches it. Left out: no other node can. */
    storage: t.Optional(line(200)),
    /** It does not answer since then: the figures are the last that are known, or 0. */
    silentSince: t.Optional(timestamp),
  },
  { title: 'StoragePool' },
)
export type PoolCapacity = Static<typeof PoolCapacity>

/** The workloads that a report names at most. */
export const MOST_WORKLOADS = 5000
/** They may be long, and a heartbeat has to fit its frame. */
export const MOST_ENDS = 100

/** The parts of a host that know its workloads. Each may hang. */
export const silentParts = ['hypervisor', 'containers'] as const
export type SilentPart = (typeof silentParts)[number]

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
    t.Object({
      ...{ id: workloadId, power: Power, cpuMs: counter, rxBytes: counter, txBytes: counter },
      /** Of a container that ended by itself, for at most `MOST_ENDS` of them. */
      end: t.Optional(ContainerEnd),
    }),
    { maxItems: MOST_WORKLOADS },
  ),
  /** The parts that do not answer: nothing is known of their workloads, which are not named. */
  silent: t.Optional(
    t.Array(t.Object({ part: t.Enum(silentParts), since: timestamp, why: line(300) }), {
      maxItems: silentParts.length,
    }),
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
  containers: t.Optional(t.Array(t.Object({ workload: workloadId, power: Power }), { maxItems: MOST_WORKLOADS })),
  /** The instances that have a /workspace here. */
  workspaces: t.Optional(t.Array(workloadId, { maxItems: MOST_WORKLOADS })),
  /** The parts and pools that did not answer: nothing follows from what is not named of them. */
  silent: t.Optional(t.Array(t.Enum(silentParts), { maxItems: silentParts.length })),
  silentPools: t.Optional(t.Array(line(32), { maxItems: 64 })),
})
export type Inventory = Static<typeof Inventory>

/** Addresses that one frame names at most: with the longest ones it is half as long as a frame may be. */
export const MOST_ADDRESSES = 5000
/** Frames of one report of addresses at most. */
export const MOST_ADDRESS_PARTS = 4
/**
 * The addresses that workloads on this host may use, with their floating ones: an IPv4 address alone, an IPv6 prefix
 * with its length. Sent before each inventory, in `parts` frames one after the other, of which the first is 1. A report
 * is about what the inventory names, and about disks whose vm is not defined, too.
 */
export const Addresses = t.Object({
  type: t.Literal('addresses'),
  part: t.Integer({ minimum: 1, maximum: MOST_ADDRESS_PARTS }),
  parts: t.Integer({ minimum: 1, maximum: MOST_ADDRESS_PARTS }),
  held: t.Array(
    t.Object({
      workload: workloadId,
      address: t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$' }),
    }),
    { maxItems: MOST_ADDRESSES },
  ),
})
export type Addresses = Static<typeof Addresses>

/** A change of power, by a command, by the guest or by hand: sent at once. */
export const PowerChange = t.Object({
  type: t.Literal('power'),
  workload: workloadId,
  power: Power,
  at: timestamp,
  reason: line(200),
  /** Of a container that ended although no command stopped it. */
  end: t.Optional(ContainerEnd),
})

export const crashCauses = ['ended', 'out_of_memory', 'shutdown', 'not_started'] as const

/**
 * A vm or container ended, or did not start, although it should run. Sent at once, and those of the last 24 hours again
 * after each connection: `workload` and `at` identify it.
 */
export const Crash = t.Object({
  type: t.Literal('crash'),
  workload: workloadId,
  at: timestamp,
  /**
   * `ended`: its process was killed or broke off. `shutdown`: by its guest, under the policy `always`; of a container:
   * its command ended with exit code 0.
   */
  cause: t.Enum(crashCauses),
  /** The host's own words, for staff; empty where `cause` says all. */
  detail: line(300),
  /** `restarts`: the node starts it again. `left_off`: its policy or too many tries keep it off. */
  outcome: t.Enum(['restarts', 'left_off']),
  /** Of a container. */
  end: t.Optional(ContainerEnd),
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
 * begins another one, whose sums count beside the earlier ones. `measuredSeconds`: how much of the day it covers,
 * `estimatedSeconds` of it while nobody counted, such as an absence of the agent: that traffic is spread evenly.
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
      estimatedSeconds: t.Optional(secondsMeasured),
    }),
    { maxItems: MOST_TRAFFIC_DAYS },
  ),
})
export type Traffic = Static<typeof Traffic>

/** Vms that one frame of metrics names at most; a node with more sends several frames. */
export const MOST_SAMPLES = 1000
/** The longest time that one sample covers, in ms. The agent drops a longer one: it becomes a gap. */
export const LONGEST_SAMPLE_MS = 120_000
const sampleMs = t.Integer({ minimum: 1, maximum: LONGEST_SAMPLE_MS })

/**
 * The use of one vm since the sample before, as increments: a lost frame, a restart of the vm or of the agent is a gap
 * and never a negative value. `ms` is the time that the increments cover.
 */
const sample = {
  ms: sampleMs,
  /** Processor time in ms; bytes received and sent; packets received and sent, as seen from the vm. */
  fast: t.Array(counter, { minItems: 5, maxItems: 5 }),
  /** Each 60 s: bytes read and written; reads and writes. */
  disk: t.Optional(t.Object({ ms: sampleMs, sums: t.Array(counter, { minItems: 4, maxItems: 4 }) })),
  /** Each 60 s: memory in use, as the guest's balloon driver tells it. */
  memory: t.Optional(t.Object({ ms: sampleMs, usedMb: megabytes })),
}
export const MetricsSample = t.Object({ id: workloadId, ...sample })
export type MetricsSample = Static<typeof MetricsSample>
/** The use of the host itself: its processors, all its network devices and all its drives together. */
export const HostSample = t.Object(sample)
export type HostSample = Static<typeof HostSample>

/** Sent each 10 s for the vms that run, and for the host. Nothing of it is sent again. */
export const Metrics = t.Object({
  type: t.Literal('metrics'),
  host: t.Optional(HostSample),
  cards: t.Optional(t.Array(CardSample, { maxItems: MOST_CARDS })),
  samples: t.Array(MetricsSample, { maxItems: MOST_SAMPLES }),
})
export type Metrics = Static<typeof Metrics>
