// A server that moves, as the API shows it: how far it is, and where it runs.
import { type Static, Type as t } from 'typebox'
import { guestOf } from '../../compute/guest/queries.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { described, namedSchema, nullable, type ReadContext, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { hypervisorRows, importServerById } from '../import-records/inventory/queries.ts'
import { moveMethods } from '../import-records/model.ts'
import { attemptsOf, type ImportMove, moveStates, moveWays, places } from '../import-records/moves/queries.ts'
import { nextStepOf } from './failures.ts'

export const moveResponse = namedSchema('ImportMove', {
  serverId: t.String(),
  hostname: t.String(),
  state: described(t.Enum([...moveStates]), 'waiting: it begins when the limits of the import let it.'),
  phase: described(nullable(t.String()), 'What happens now, in words.'),
  percent: described(nullable(t.Integer()), 'Of its job.'),
  whereItRuns: described(t.Enum([...places]), 'nowhere: it is off on its way. unknown: its node is away.'),
  hypervisor: t.Object({ id: t.String(), name: t.String() }),
  node: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The node that takes it.'),
  way: t.Enum([...moveWays]),
  method: t.Enum([...moveMethods]),
  workloadId: described(nullable(t.String()), 'The server here.'),
  jobId: described(nullable(t.String()), 'Of the last attempt; its log has every command at the source.'),
  jobIds: described(t.Array(t.String()), 'Of all attempts, the first one first.'),
  osName: described(
    nullable(t.String()),
    'As its guest agent says it here; before that answers, as the other panel did.',
  ),
  failure: described(
    nullable(t.Object({ code: t.String(), words: t.String(), nextStep: t.String() })),
    'Why the last attempt failed. It runs at its source as before, unless whereItRuns says otherwise.',
  ),
  bytesTotal: described(nullable(t.Integer()), 'Of its disk at the source.'),
  bytesCopied: nullable(t.Integer()),
  bytesPerSecond: described(nullable(t.Integer()), 'Now.'),
  secondsLeft: described(nullable(t.Integer()), 'Of the copy, an estimate.'),
  expectedAwaySeconds: described(nullable(t.Integer()), 'As the dry run said.'),
  downtimeMs: described(nullable(t.Integer()), 'How long it was off; while it is off, so far.'),
  beganAt: nullable(time),
  stoppedAt: described(nullable(time), 'When it was shut down at its source.'),
  startedAt: described(nullable(time), 'When it was started here.'),
  movedAt: nullable(time),
  failedAt: nullable(time),
})
type Shown = Static<typeof moveResponse>

/** Words for steps that are not told by their own. */
export function showMove(call: Omit<ReadContext, 'query'>, move: ImportMove): Shown {
  const { tx, liveCopies, nodes, clock } = call
  const server = importServerById(tx, move.serverId)!
  const job = move.jobId === null ? undefined : jobFacts(tx, move.jobId)
  const isAtWork = move.state === 'moving' || move.state === 'rolling_back'
  const live = isAtWork && move.jobId !== null ? liveCopies.of(move.jobId, diskBytes(move)) : undefined
  const node = move.nodeId === null ? undefined : nodeById(tx, move.nodeId)
  const isAway = isAtWork && move.nodeId !== null && !nodes.connected(move.nodeId)
  const leftBytes = live ? live.totalBytes - live.copiedBytes : null
  const offFor = isAtWork && move.stoppedAt !== null && move.whereItRuns === 'nowhere' ? clock() - move.stoppedAt : null
  return {
    ...{ serverId: server.id, hostname: server.hostname, state: move.state },
    phase: isAtWork ? phaseOf(job) : null,
    percent: isAtWork ? (job?.progress ?? 0) : null,
    whereItRuns: isAway && move.whereItRuns === 'nowhere' ? 'unknown' : move.whereItRuns,
    hypervisor: {
      id: move.hypervisorId,
      name: hypervisorRows.find(tx, move.importId, move.hypervisorId)?.name ?? move.hypervisorId,
    },
    node: node ? { id: node.id, name: node.name } : null,
    ...{ way: move.way, method: move.method, workloadId: move.workloadId, jobId: move.jobId },
    jobIds: attemptsOf(tx, move.serverId).map(({ jobId }) => jobId),
    osName: osOf(tx, move) ?? server.osName,
    failure:
      move.state === 'failed' && move.failure !== null
        ? { code: move.failure, words: move.failureWords ?? '', nextStep: nextStepOf(move.failure) }
        : null,
    bytesTotal: live?.totalBytes ?? move.bytesTotal,
    bytesCopied: live?.copiedBytes ?? move.bytesCopied,
    bytesPerSecond: live?.bytesPerSecond ?? null,
    secondsLeft: live?.bytesPerSecond ? Math.ceil(leftBytes! / live.bytesPerSecond) : null,
    expectedAwaySeconds: move.expectedAwaySeconds,
    downtimeMs: offFor ?? move.downtimeMs,
    ...{ beganAt: isoOrNull(move.beganAt), stoppedAt: isoOrNull(move.stoppedAt) },
    ...{ startedAt: isoOrNull(move.startedAt), movedAt: isoOrNull(move.movedAt), failedAt: isoOrNull(move.failedAt) },
  }
}

/** The system that its guest agent has named; undefined: none yet. */
function osOf(tx: Db, { workloadId }: ImportMove): string | undefined {
  const { osName, osVersion } = (workloadId === null ? undefined : guestOf(tx, workloadId)) ?? {}
  return osName ? [osName, osVersion].filter(Boolean).join(' ') : undefined
}

const diskBytes = ({ drive }: ImportMove): number => drive?.virtualBytes ?? Number.MAX_SAFE_INTEGER

const UNDOING = 'Taking back what was begun'
const phaseOf = (job: ReturnType<typeof jobFacts>): string =>
  !job ? 'Waiting' : job.state === 'undoing' ? UNDOING : (job.stepName ?? 'Waiting for its turn')
