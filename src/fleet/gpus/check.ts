// The health gate: no card is sold before its memory was cleared and it passed a check, when it is new, came back, was
// broken, or was used.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { type Actor, system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type AppContext, namedSchema, operation } from '../../kernel/api/operation.ts'
import { minute } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { count } from '../../kernel/words.ts'
import { nodeById } from '../node-records/queries.ts'
import { gpuCard } from './model.ts'
import { cardsToCheck, checkLater, mustBeChecked, nodesToCheck, noteCheck } from './queries.ts'

/** A check that could not be made is tried again after this long. */
const AGAIN_MS = 5 * minute

type Checking = { nodeId: string }
export const checkingCards = saga<Checking>('check_cards', {
  title: 'GPU check',
  forStaff: true,
  lane: 'build',
  cancelWith: 'gpu:write',
})
  .record('choose', 'Choosing the cards that wait for it', {
    do: (tx, { input: { nodeId } }) => cardsToCheck(tx, nodeId),
    undo(tx, { input: { nodeId }, out, now, error }) {
      const chosen = out.choose ?? cardsToCheck(tx, nodeId)
      checkLater(tx, nodeId, chosen, now + AGAIN_MS, error?.message.slice(0, 300) ?? '')
    },
    undoAtOnce: true,
  })
  .command('check', 'Clearing their memory and testing them', {
    do: ({ input: { nodeId }, out: { choose } }) =>
      choose.length ? nodeCommand(nodeId, 'cards.check', { cards: choose }) : undefined,
  })
  .record('note', 'Recording what was found', {
    do(tx, { input: { nodeId }, out: { choose, check }, now, log }) {
      const checked = check?.cards ?? []
      noteCheck(tx, nodeId, checked, now)
      const silent = choose.filter((uuid) => !checked.some((card) => card.uuid === uuid))
      if (silent.length) checkLater(tx, nodeId, silent, now + AGAIN_MS, 'Its node did not answer for it.')
      for (const { uuid, problems } of checked) for (const problem of problems) log(`${uuid}: ${problem}`, 'warning')
    },
  })

const lockOf = (nodeId: string) => `cards of ${nodeId}`

/**
 * Starts the job that checks the cards of a node which wait for it. Null: none waits, or one is under way, after which
 * the clock starts the next.
 */
export function startCheck(tx: Tx, nodeId: string, now: number, by: Actor = system): string | null {
  const waiting = cardsToCheck(tx, nodeId).length
  if (!waiting || isHeldByJob(tx, lockOf(nodeId))) return null
  return startJob(
    tx,
    checkingCards,
    { nodeId },
    {
      by,
      title: `Check ${count(waiting, 'GPU')} of ${nodeById(tx, nodeId)?.name ?? nodeId}`,
      holds: lockOf(nodeId),
      subject: { type: 'node', id: nodeId },
      nodeId,
      now,
    },
  )
}

/** Starts the checks that are due. A node that is away is asked when it is back. */
export function checkWaitingCards(db: Db, { clock, nodes }: Pick<AppContext, 'clock' | 'nodes'>) {
  const now = clock()
  for (const nodeId of nodesToCheck(db, now))
    if (nodes.connected(nodeId) && !isHeldByJob(db, lockOf(nodeId))) write(db, (tx) => void startCheck(tx, nodeId, now))
}

export const checkCard = operation({
  id: 'gpus.check',
  method: 'POST',
  path: '/admin/gpu-cards/{id}/actions/check',
  summary: 'Take a card that nobody has out of sale, clear its memory and test it; it is sold again when it passes',
  past: 'Checked a GPU',
  access: { staff: ['gpu:write'] },
  on: gpuCard,
  response: namedSchema('GpuCheckStarted', { jobId: t.String() }),
  status: 202,
  idempotent: true,
  refuses: ['not_possible', 'in_use'],
  run({ tx, actor, target, clock, nodes }) {
    if (target.workloadId !== null)
      throw new ApiError('not_possible', 'An instance holds this card. It is checked when that is deleted.')
    const cannot =
      target.missingSince !== null
        ? 'The node does not report this card.'
        : target.problems.length
          ? `The node says that this card is broken: ${target.problems[0]}`
          : !target.open
            ? 'This card is closed. Open it first; it is checked before it is sold.'
            : !nodes.connected(target.nodeId)
              ? 'Its node is not connected.'
              : undefined
    if (cannot) throw new ApiError('not_possible', cannot)
    mustBeChecked(tx, target.id)
    const jobId = startCheck(tx, target.nodeId, clock(), actor)
    if (jobId === null) throw new ApiError('in_use', 'Cards of this node are being checked. Wait until that has ended.')
    return { jobId }
  },
})
