// The line of a move on the timeline of its server, which its owner reads: no node is named.
import type { TimelineSource } from '../../../fleet/workloads/timeline.ts'
import { movesWithin } from '../queries.ts'
import type { Transfer } from '../tables.ts'

/** Each stands in place of the line of its job, for those who see that. */
export const timelineOfMoves: TimelineSource = ({ tx }, { id }, span) =>
  movesWithin(tx, id, span).flatMap((moved) =>
    moved.jobId === null
      ? []
      : [
          {
            id: moved.jobId,
            at: moved.finishedAt!,
            kind: 'job' as const,
            operation: null,
            action: null,
            title: titleOf(moved),
            who: null,
            from: null,
            result: moved.state === 'finished' ? 'succeeded' : 'failed',
            jobId: moved.jobId,
            ofJob: true as const,
          },
        ],
  )

function titleOf({ state, downtimeMs }: Transfer): string {
  const off = downtimeMs ? `; it was off for ${lengthOf(downtimeMs)}` : ''
  return state === 'finished'
    ? `Moved to another node${off}`
    : `The move to another node ${state === 'cancelled' ? 'was cancelled' : 'failed'}${off}`
}
const lengthOf = (ms: number) =>
  ms < 1000 ? `${ms} ms` : ms < 90_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
