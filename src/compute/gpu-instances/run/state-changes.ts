// The spells of an instance: `spell` changes together with the event that says so, so that the events, the usage and
// the record never differ.
import type { ContainerEnd } from '../../../../agent/protocol/gpu.ts'
import type { Crash, Power } from '../../../../agent/protocol/wire.ts'
import type { ObservedPower } from '../../../fleet/workloads/kind.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { ExplainedFailure } from '../../../kernel/jobs/failures.ts'
import { mayDestroy } from '../../brake/brake.ts'
import { type GpuInstance, load, tell } from '../model.ts'
import { updateInstance } from '../queries.ts'
import type { EndReason } from '../tables.ts'

/** Notes that it runs from now on, and emits the event: `ready` the first time, then `started`. */
export function noteStarted(tx: Tx, id: string, now: number, reason: 'requested' | 'unsuspended' | 'crashed') {
  const instance = load(tx, id)
  updateInstance(tx, id, { spell: 'running', spellAt: now })
  if (instance.spell === null) tell(tx, now, 'gpu_instance.ready', id, {})
  else tell(tx, now, 'gpu_instance.started', id, { reason, ...(reason === 'crashed' && crashIn(instance)) })
}

type Ending = { now: number; at?: number; reason: EndReason; end?: ContainerEnd | undefined }
/** Notes that it does not run any more. `at`: the moment, in ms, where it is not `now`. No event. */
export function noteEnded(tx: Tx, { id, spellAt }: GpuInstance, { now, at = now, reason, end }: Ending) {
  updateInstance(tx, id, {
    spell: 'stopped',
    spellAt: now,
    // The clock of a node may be wrong.
    endedAt: Math.min(now, Math.max(at, spellAt ?? 0)),
    endReason: reason,
    exitCode: end?.exitCode ?? null,
    oomKilled: end ? end.oomKilled : null,
    endDetail: end?.detail ?? null,
  })
}

/** The same, with the event. */
export function noteStopped(tx: Tx, id: string, ending: Ending) {
  noteEnded(tx, load(tx, id), ending)
  const crash = ending.reason === 'crashed' && crashIn(load(tx, id))
  tell(tx, ending.now, 'gpu_instance.stopped', id, { reason: ending.reason, ...crash })
}

/** How it ended, as events carry it; what the node does not know is left out. */
const crashIn = ({ endDetail, exitCode, oomKilled }: GpuInstance) => ({
  detail: endDetail ?? 'It ended by itself.',
  ...(exitCode !== null && { exitCode }),
  ...(oomKilled !== null && { oomKilled }),
})

export type FailedAction = 'create' | 'start' | 'restart' | 'rebuild'
/** Notes that setting it up, starting or changing it failed. `stays`: it is as it was before. */
export function noteFailed(
  tx: Tx,
  id: string,
  {
    action,
    error,
    stays,
    now,
  }: { action: FailedAction; error: ExplainedFailure | undefined; stays: boolean; now: number },
) {
  const cause = error?.cause ?? 'It was stopped before it had begun.'
  if (!stays) {
    const instance = load(tx, id)
    if (instance.spell === 'running') noteEnded(tx, instance, { now, reason: 'requested' })
    changeWorkload(tx, id, { lifecycle: 'failed', failure: cause, power: 'stopped' })
  }
  tell(tx, now, 'gpu_instance.failed', id, { action, error: cause })
}

/** Its events speak of it: it is set up and not suspended, and no job works on it. */
const isQuiet = ({ lifecycle, suspendedAt }: GpuInstance, busy: boolean) =>
  lifecycle === 'active' && suspendedAt === null && !busy

/** A node reports that an instance ended although nobody had asked for it. */
export function takeCrash(tx: Tx, id: string, { at, outcome, end }: Crash, { busy, now }: ObservedPower) {
  const instance = load(tx, id)
  if (!isQuiet(instance, busy)) return
  if (instance.spell === 'running') noteStopped(tx, id, { now, at, reason: 'crashed', end })
  // The stop was told when its power changed; now the node knows more.
  else if (instance.endReason === 'crashed' && end)
    updateInstance(tx, id, { exitCode: end.exitCode, oomKilled: end.oomKilled, endDetail: end.detail })
  if (outcome === 'left_off' && instance.power !== 'stopped') changeWorkload(tx, id, { power: 'stopped' })
}

/** The power of an instance, as it is stored now. `end`: how it ended, where its node says so. */
export function takePower(
  tx: Tx,
  id: string,
  power: Power | null,
  end: ContainerEnd | undefined,
  { busy, now }: ObservedPower,
) {
  const instance = load(tx, id)
  if (!isQuiet(instance, busy) || power === null) return
  if (power === 'running' && instance.spell === 'stopped') noteStarted(tx, id, now, 'crashed')
  else if (power !== 'running' && instance.spell === 'running') noteStopped(tx, id, { now, reason: 'crashed', end })
}

/** Its host was lost for good: it ran until the host was heard of last. */
export function takeLoss(tx: Tx, id: string, { at, now, by }: { at: number; now: number; by: Actor }) {
  mayDestroy(tx, by, { kind: 'lose', workloadId: id, now })
  const instance = load(tx, id)
  const detail = instance.failure!
  if (instance.spell === 'running' && instance.suspendedAt === null)
    noteStopped(tx, id, { now, at, reason: 'crashed', end: { exitCode: null, oomKilled: false, detail } })
  tell(tx, now, 'gpu_instance.failed', id, { action: 'lost', error: detail })
}
