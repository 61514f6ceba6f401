// The idle stop: its owner has an instance stopped when no program ran on its cards for some time. A stopped instance
// is billed as before, because its cards stay held; what ends is the work on them.
//
// The time counts while the host reports the cards. It begins anew when the instance starts, when the host was away,
// and when this controller starts: an instance is never stopped for a time that nobody measured.
import { Type as t } from 'typebox'
import { cardsOf } from '../../../fleet/gpus/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { system } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { described, fields, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import { minute, second } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { count } from '../../../kernel/words.ts'
import { type GpuInstance, gpuInstance, instanceById } from '../model.ts'
import { stopInstance } from '../run/power-job.ts'
import { tellIdleStop } from './notices.ts'
import { forgetIdleStop, idleMinutesOf, idleStops, keepIdleStop } from './queries.ts'

const LEAST_MINUTES = 10
const MOST_MINUTES = 7 * 24 * 60

const idleStop = namedSchema('IdleStop', {
  instanceId: t.String(),
  minutes: described(nullable(t.Integer()), 'It is stopped after so many minutes without use; null: it is not.'),
  idleSeconds: described(
    nullable(t.Integer()),
    'How long no program has run on its cards; null: one runs, or its host does not tell.',
  ),
})

export const getIdleStop = operation({
  id: 'gpu-instances.idle-stop',
  method: 'GET',
  path: '/gpu-instances/{id}/idle-stop',
  summary: 'After how long without use of its cards a GPU instance is stopped, and how long they have not been used',
  access: everybody('servers:read'),
  on: gpuInstance,
  response: idleStop,
  run: ({ tx, target, ...app }) => showIdleStop(tx, app, target),
})

export const setIdleStop = operation({
  id: 'gpu-instances.set-idle-stop',
  method: 'PUT',
  path: '/gpu-instances/{id}/idle-stop',
  summary: 'Have a GPU instance stopped when its cards were not used for some time; null: never',
  past: 'Changed when it is stopped while idle',
  access: everybody('servers:settings'),
  on: gpuInstance,
  body: fields({
    minutes: described(
      nullable(t.Integer({ minimum: LEAST_MINUTES, maximum: MOST_MINUTES })),
      'Minutes without use of its cards.',
    ),
  }),
  response: idleStop,
  refuses: ['gpu_instance_deleted'],
  example: { minutes: 60 },
  run({ tx, target, body: { minutes }, ...app }) {
    if (target.terminatedAt !== null) throw new ApiError('gpu_instance_deleted', `${target.name} was deleted.`)
    if (minutes === null) forgetIdleStop(tx, target.id)
    else keepIdleStop(tx, target.id, minutes)
    return showIdleStop(tx, app, target)
  },
})

function showIdleStop(tx: Db, app: Pick<AppContext, 'cardMetrics' | 'clock'>, instance: GpuInstance) {
  const since = idleSince(tx, app, instance)
  return {
    instanceId: instance.id,
    minutes: idleMinutesOf(tx, instance.id),
    idleSeconds: since === undefined ? null : Math.floor((app.clock() - since) / second),
  }
}

/** Since when no program has run on any of its cards, in ms; undefined: one runs, or its host does not tell. */
function idleSince(
  tx: Db,
  { cardMetrics, clock }: Pick<AppContext, 'cardMetrics' | 'clock'>,
  instance: GpuInstance,
): number | undefined {
  if (instance.status !== 'running') return undefined
  const cards = cardsOf(tx, instance)
  const now = clock()
  let since = instance.spellAt ?? now
  for (const { id } of cards) {
    const idle = cardMetrics.idleSince(id)
    if (idle === undefined) return undefined
    since = Math.max(since, idle)
  }
  return cards.length ? Math.min(since, now) : undefined
}

/** Stops the instances whose cards have not been used for as long as their owners said. */
export function stopIdle(db: Db, app: AppContext) {
  for (const { instanceId, minutes } of idleStops(db)) {
    const instance = instanceById(db, instanceId)
    if (!instance || instance.terminatedAt !== null) {
      write(db, (tx) => forgetIdleStop(tx, instanceId))
      continue
    }
    const since = idleSince(db, app, instance)
    if (since !== undefined && app.clock() - since >= minutes * minute)
      write(db, (tx) => stopOne(tx, app, instanceId, minutes))
  }
}

function stopOne(tx: Tx, app: AppContext, id: string, minutes: number) {
  const instance = instanceById(tx, id)!
  // A job that works on it comes first: the next turn looks again.
  if (instance.status !== 'running' || isHeldByJob(tx, id)) return
  const title = `Stop ${instance.name}: its cards were not used for ${count(minutes, 'minute')}`
  stopInstance(tx, instance, { by: system, title, now: app.clock() })
  tellIdleStop(tx, app, instance, minutes)
}
