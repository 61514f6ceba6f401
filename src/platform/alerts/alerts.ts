import { Type as t } from 'typebox'
import { server } from '../../compute/server-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { described, done, fields, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type AlertKind, kindOf } from './kinds.ts'
import { ALERTS_PER_SERVER, alert, alertResponse, kind, LONGEST_MINUTES, showAlert } from './model.ts'
import { changeAlert, countAlerts, deleteAlert, insertAlert, pageOfAlerts } from './queries.ts'

const threshold = t.Optional(
  described(
    nullable(t.Integer({ minimum: 1, maximum: 9_000_000 })),
    'cpu and memory: percent. disk_io: MiB/s. network: Mbit/s. traffic: gigabytes in the month. down: none.',
  ),
)
const minutes = t.Optional(t.Integer({ minimum: 1, maximum: LONGEST_MINUTES }))

/** Throws `validation_failed` for a threshold that its kind cannot have. */
function mustFit(of: AlertKind, given: number | null) {
  const { unit, most } = kindOf(of)
  if (unit === undefined && given !== null)
    throw invalid({ field: 'threshold', message: 'down has none: leave it out.' })
  if (unit !== undefined && (given === null || given > most))
    throw invalid({ field: 'threshold', message: `must be from 1 to ${most.toLocaleString('en')} ${unit}.` })
}

export const listAlerts = operation({
  id: 'alerts.list',
  method: 'GET',
  path: '/servers/{id}/alerts',
  summary: 'The alerts of a server',
  access: everybody('servers:read'),
  on: server,
  response: page(alertResponse),
  run: (call) => pageOfAlerts(call, call.target.id, showAlert),
})

export const addAlert = operation({
  id: 'alerts.create',
  method: 'POST',
  path: '/servers/{id}/alerts',
  summary: 'Add an alert to a server; its owner is told when the server uses too much, or is off',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ kind, threshold, minutes }),
  response: alertResponse,
  status: 201,
  idempotent: true,
  refuses: ['limit_reached', 'server_terminated'],
  example: { kind: 'cpu' as const, threshold: 90, minutes: 5 },
  run({ tx, target, body, clock, alerts }) {
    if (target.lifecycle === 'terminated')
      throw new ApiError('server_terminated', `${target.hostname} is terminated: there is nothing to watch.`)
    const { usual } = kindOf(body.kind)
    const wanted = { threshold: body.threshold ?? usual.threshold, minutes: body.minutes ?? usual.minutes }
    mustFit(body.kind, wanted.threshold)
    if (countAlerts(tx, target.id) >= ALERTS_PER_SERVER)
      throw new ApiError(
        'limit_reached',
        `A server has at most ${ALERTS_PER_SERVER} alerts. Remove one that is not needed.`,
      )
    alerts.changed(target.id)
    return showAlert(
      insertAlert(tx, {
        id: newId('alr'),
        workloadId: target.id,
        kind: body.kind,
        ...wanted,
        createdAt: clock(),
        firedAt: null,
      }),
    )
  },
})

export const updateAlert = operation({
  id: 'alerts.update',
  method: 'PATCH',
  path: '/alerts/{id}',
  summary: 'Change the threshold of an alert, or how long it must be exceeded',
  past: 'Changed an alert',
  access: everybody('servers:settings'),
  on: alert,
  body: fields({ threshold, minutes }),
  response: alertResponse,
  example: { threshold: 80 },
  run({ tx, target, body, alerts }) {
    const wanted = {
      threshold: body.threshold === undefined ? target.threshold : body.threshold,
      minutes: body.minutes ?? target.minutes,
    }
    mustFit(target.kind, wanted.threshold)
    alerts.changed(target.workloadId)
    return showAlert(changeAlert(tx, target.id, wanted))
  },
})

export const removeAlert = operation({
  id: 'alerts.remove',
  destroys: [],
  method: 'DELETE',
  path: '/alerts/{id}',
  summary: 'Remove an alert; one that fires says nothing more',
  access: everybody('servers:settings'),
  on: alert,
  response: done,
  run({ tx, target, alerts }) {
    deleteAlert(tx, target.id)
    alerts.changed(target.workloadId)
    return {}
  },
})
