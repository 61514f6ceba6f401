// Evacuation: what no move took from a node is stopped, with a notice to its owners.
import { Type as t } from 'typebox'

import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { notify } from '../../identity/notices/notify.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import type { MailContext } from '../../kernel/mail/mail.ts'
import { count } from '../../kernel/words.ts'
import { load as loadInstance } from '../gpu-instances/model.ts'
import { changePower as changeInstance } from '../gpu-instances/run/power-job.ts'
import { load } from '../server-records/model.ts'
import { changePower } from '../servers/power-job.ts'
import { drain, named, stoppedServer } from './model.ts'
import { atHomeOn, runs } from './plan/node-plan.ts'
import { changeDrainServer, type Drain, insertDrainServer, lastDrainOf, serverOfDrain } from './queries.ts'

export const evacuate = operation({
  id: 'drains.evacuate',
  method: 'POST',
  path: '/admin/drains/{id}/actions/evacuate',
  summary: 'Stop what is still on a node after its drain, with a notice to the owners',
  past: 'Stopped what was left on a node',
  access: { staff: ['nodes:maintain'] },
  on: drain,
  body: fields({ name: described(line(60), 'The name of the node, typed to confirm.') }),
  response: namedSchema('EvacuationStarted', {
    drainId: t.String(),
    stopping: described(t.Array(stoppedServer), 'They are shut down; the drain shows how far that is.'),
    refused: described(
      t.Array(t.Object({ ...stoppedServer.properties, reason: t.String() })),
      'They run on, such as those on which a job works. Try again later.',
    ),
  }),
  status: 202,
  idempotent: true,
  refuses: ['drain_state'],
  example: { name: 'fra-01' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const node = named(tx, target.nodeId)
    if (body.name !== node.name) throw invalid({ field: 'name', message: `must be ${node.name}, typed to confirm.` })
    mustBeLast(tx, target)
    const now = clock()
    const tried = runningOn(tx, target.nodeId).map((one) => ({
      ...one,
      reason: stop(tx, target, one, { by: actor, now }),
    }))
    const stopped = tried.filter(({ reason }) => reason === undefined)
    for (const [ownerId, of] of Map.groupBy(stopped, (one) => one.ownerId)) tellStopped(tx, call, ownerId, of)
    return {
      drainId: target.id,
      stopping: stopped.map(({ id, hostname }) => ({ id, hostname })),
      refused: tried.flatMap(({ id, hostname, reason }) => (reason === undefined ? [] : [{ id, hostname, reason }])),
    }
  },
})

/** Throws `drain_state` unless it is the last drain of its node, has ended, and its servers have not come back. */
export function mustBeLast(tx: Tx, row: Drain) {
  const { name } = named(tx, row.nodeId)
  const refused = (words: string) => new ApiError('drain_state', words)
  if (row.kind !== 'drain') throw refused(`Servers came back to ${name} with it: there is nothing to do.`)
  if (row.finishedAt === null) throw refused(`The drain of ${name} is under way. Wait for its end, or cancel it first.`)
  if (row.returnedAt !== null || lastDrainOf(tx, row.nodeId)?.id !== row.id)
    throw refused(`The drain of ${name} is over: it was opened again, or emptied once more.`)
}

type Running = { id: string; kind: 'server' | 'gpu_instance'; ownerId: string; hostname: string }
/** The servers and GPU instances at home on the node that run. */
export function runningOn(tx: Db, nodeId: string): Running[] {
  const { servers, instances } = atHomeOn(tx, nodeId)
  return [
    ...servers.filter(runs).map(({ id, ownerId, hostname }) => ({ id, kind: 'server' as const, ownerId, hostname })),
    ...instances.filter(({ running }) => running),
  ]
}

/** Starts its job. Answers what refuses that, in words, and notes it. */
function stop(tx: Tx, row: Drain, one: Running, about: { by: Actor; now: number }): string | undefined {
  const item = serverOfDrain(tx, row.id, one.id)
  const noted = { drainId: row.id, workloadId: one.id }
  if (!item)
    insertDrainServer(tx, {
      ...{ ...noted, position: Number.MAX_SAFE_INTEGER, hostname: one.hostname, state: 'left', mode: null },
      ...{ toNodeId: null, bytes: 0, expectedSeconds: 0, expectedDowntimeMs: 0 },
    })
  try {
    const powerJobId =
      one.kind === 'server'
        ? changePower(tx, load(tx, one.id), 'shutdown', about)
        : changeInstance(tx, loadInstance(tx, one.id), 'stop', about)
    changeDrainServer(tx, noted, { state: 'stopping', powerJobId, reason: 'Stopped with a notice to its owner.' })
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    changeDrainServer(tx, noted, { reason: error.message })
    return error.message
  }
}

function tellStopped(tx: Tx, app: MailContext, ownerId: string, of: readonly Running[]) {
  const owner = accountById(tx, ownerId)
  if (!owner || owner.kind === 'staff') return
  const [first] = of
  const names = of.map(({ hostname }) => hostname).join(', ')
  notify(tx, app, owner, 'server_stopped_for_maintenance', {
    subject:
      of.length === 1
        ? `${first!.hostname} is stopped for maintenance`
        : `${count(of.length, 'server')} of yours are stopped for maintenance`,
    paragraphs: [
      `The node needs maintenance now, so this is shut down: ${names}.`,
      'It is started again when the maintenance is over. Nothing on its disks changes.',
    ],
    button: { words: 'Open your servers', path: `${areas[owner.kind]}/servers` },
  })
}
