import { Type as t } from 'typebox'
import { serverData } from '../../compute/server-records/model.ts'
import { customerData } from '../../identity/account-records/model.ts'
import { nullable } from '../../kernel/api/operation.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { gauge } from '../../kernel/monitoring.ts'
import { addAlert, listAlerts, removeAlert, updateAlert } from './alerts.ts'
import { countFiring, expiredChanges, timelineOfAlerts } from './queries.ts'
import { alertChanges, alerts } from './tables.ts'
import { alertNotices } from './tell.ts'
import { AlertWatch } from './watch.ts'

const ids = { alert: { prefix: 'alr', sample: 'cpu' }, alertChange: { prefix: 'alc' } } as const
const errors = {
  alert_not_found: { status: 404, when: 'There is no such alert, or it is not yours.', remedy: 'Check the id.' },
} as const
const about = t.Object({
  server: serverData,
  customer: customerData,
  alert: t.Object({
    id: t.String(),
    kind: t.String(),
    threshold: nullable(t.Number()),
    description: t.String(),
  }),
})
const events = {
  'alert.fired': event('resellers and customers', 'A server alert fires', about),
  'alert.recovered': event('resellers and customers', 'It recovers', about),
}

declare module '../../kernel/register.ts' {
  interface Names {
    alerts: { ids: typeof ids; errors: typeof errors; events: typeof events; notices: typeof alertNotices }
  }
  interface Services {
    /** Compares metrics with thresholds. */
    alerts: AlertWatch
  }
}

export const alertsFeature = feature({
  name: 'alerts',
  ids,
  errors,
  events,
  notices: alertNotices,
  samples: { threshold: 90, firedAt: null },
  tables: [alerts, alertChanges],
  expiring: [expiredChanges],
  operations: [listAlerts, addAlert, updateAlert, removeAlert],
  services: ({ db }) => ({ alerts: new AlertWatch(db) }),
  timeline: [timelineOfAlerts],
  figures: ({ db }) => [gauge('berth_alerts_firing', 'Alerts of servers that fire.', countFiring(db))],
  schedule: [{ everyMs: 10 * second, words: 'comparing alerts', work: ({ app }) => app.alerts.turn(app) }],
  auditTargets: [{ prefix: 'alr', scope: 'servers:read' }],
  async fixture({ admin }) {
    const [server] = (await admin('GET', '/admin/servers?limit=1')).data
    return { alert: (await admin('POST', `/servers/${server.id}/alerts`, { kind: 'cpu' })).id }
  },
})
