// A kind of workload: servers, and whatever else runs on nodes for an owner. Placement, addresses, quotas, team access
// and the reports of nodes know no kind; texts and identifiers do, by this value.
import type { ContainerEnd } from '../../../agent/protocol/gpu.ts'
import type { Crash, Power } from '../../../agent/protocol/wire.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import type { Registry } from '../../kernel/registry.ts'
import { count, list } from '../../kernel/words.ts'

export type WorkloadKind = {
  /** Stored in `workloads.kind`, and the type of the subject of its jobs. */
  kind: string
  /** As in `srv_…`, without the underscore. */
  idPrefix: string
  words: { one: string; many: string }
  /** Names one that nobody named, with its number behind it. Left out: its word. */
  hostnamePrefix?: string
  /** The code that refuses a change while a job works on one. */
  busy: Code
}

/** The lock and the subject of a job about a workload: one job works on it at a time. */
export const lockOf = ({ kind, words, busy }: WorkloadKind, id: string) =>
  ({
    holds: id,
    subject: { type: kind, id },
    busy: () =>
      new ApiError(
        busy,
        `Another job is working on this ${words.one}. Wait until it has ended; its log is on the ${words.one} page.`,
      ),
  }) satisfies Partial<NewJob>

type Ending = { by: Actor; now: number; immediately?: boolean }

/** `busy`: a job works on the workload, so its state is changing. `now`: in ms. */
export type ObservedPower = { busy: boolean; now: number }

/** The declaration of a kind by its feature: the kind, and how one of it ends. */
export type DeclaredKind = WorkloadKind & {
  /** Left out: a vm with a disk. A container has a /workspace. */
  runsAs?: 'container'
  /**
   * Terminates one: record, event and job in the caller's transaction; answers the job's id, null where a node has
   * nothing to do. Throws what the kind's own operation throws, such as `server_protected`. `immediately`: nothing is
   * held that could bring it back, also of one that was terminated before.
   */
  terminate(tx: Tx, id: string, asked: Ending): string | null
  /**
   * Brings back one that was terminated and whose disk is held, and checks neither quota nor lock: what ends a
   * termination that was not to be. Throws `hostname_taken`, `no_capacity`, `node_lost` and `server_terminated`.
   */
  undelete?(tx: Tx, id: string, asked: Ending): string | null
  /** Takes the loss of its node, which was heard of last at `at`, in ms. It has failed, with the reason. */
  lost?(tx: Tx, id: string, when: { at: number; now: number; by: Actor }): void
  /** Takes an unexpected end, once, in the transaction that keeps it. */
  crashed?(tx: Tx, id: string, crash: Crash, seen: ObservedPower): void
  /**
   * Takes the power that is stored now, after the node has reported it or an unexpected end; also when it is as it
   * was. `end`: why it ended, where the node says so.
   */
  powered?(tx: Tx, id: string, power: Power | null, end: ContainerEnd | undefined, seen: ObservedPower): void
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    workloadKinds?: readonly DeclaredKind[]
  }
}

/** Every kind that the features of this controller declare. */
export const workloadKindsOf = ({ features }: Pick<Registry, 'features'>): DeclaredKind[] =>
  features.flatMap(({ workloadKinds = [] }) => workloadKinds)

/** The same by their names. */
export const kindsByName = (registry: Pick<Registry, 'features'>): ReadonlyMap<string, DeclaredKind> =>
  new Map(workloadKindsOf(registry).map((kind) => [kind.kind, kind]))

/** Terminates a workload of any kind, see `DeclaredKind.terminate`. */
export const terminateWorkload = (
  registry: Pick<Registry, 'features'>,
  tx: Tx,
  { id, kind }: { id: string; kind: string },
  asked: Ending,
): string | null =>
  workloadKindsOf(registry)
    .find((one) => one.kind === kind)!
    .terminate(tx, id, asked)

/** Brings back a workload of any kind, see `DeclaredKind.undelete`. */
export const undeleteWorkload = (
  registry: Pick<Registry, 'features'>,
  tx: Tx,
  { id, kind }: { id: string; kind: string },
  asked: Ending,
): string | null => workloadKindsOf(registry).find((one) => one.kind === kind)!.undelete!(tx, id, asked)

/** `44 servers and 2 GPU instances`, in the order of the features; no words for no workloads. */
export const countedByKind = (registry: Pick<Registry, 'features'>, counts: Readonly<Record<string, number>>): string =>
  list(
    workloadKindsOf(registry).flatMap(({ kind, words: { one, many } }) =>
      counts[kind] ? [count(counts[kind], one, many)] : [],
    ),
  )
