import { Type as t } from 'typebox'
import { server } from '../../compute/server-records/model.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { alertKindNames, describe } from './kinds.ts'
import { type Alert, alertById } from './queries.ts'

export const ALERTS_PER_SERVER = 20
export const LONGEST_MINUTES = 60

/** An alert is seen by those who see its server, with the same rights. */
export const alert: Resource<Alert> = {
  name: 'alert',
  notFound: 'alert_not_found',
  find(tx, actor, id) {
    const row = alertById(tx, id)
    return row && server.find(tx, actor, row.workloadId) ? row : undefined
  },
  rights: (tx, actor, row) => server.rights!(tx, actor, server.find(tx, actor, row.workloadId)!),
}

export const kind = t.Enum([...alertKindNames])
export const alertResponse = namedSchema('Alert', {
  id: t.String(),
  serverId: t.String(),
  kind,
  threshold: described(nullable(t.Integer()), 'In the unit of its kind; null for down.'),
  minutes: described(t.Integer(), 'It fires after so many measured minutes in a row, and recovers likewise.'),
  description: t.String(),
  firing: t.Boolean(),
  firedAt: described(nullable(time), 'Since when it fires.'),
  createdAt: time,
})
export const showAlert = (a: Alert) => ({
  id: a.id,
  serverId: a.workloadId,
  kind: a.kind,
  threshold: a.threshold,
  minutes: a.minutes,
  description: describe(a),
  firing: a.firedAt !== null,
  firedAt: isoOrNull(a.firedAt),
  createdAt: iso(a.createdAt),
})
