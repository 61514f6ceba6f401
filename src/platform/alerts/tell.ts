// An alert that fires or recovers: the record, the event and the notice, in one transaction.
import { inEvent, serverById } from '../../compute/server-records/model.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { describe } from './kinds.ts'
import { type Alert, noteChange } from './queries.ts'

export const alertNotices = {
  alert: {
    when: 'an alert of a server fires, and when it recovers',
    kinds: ['reseller', 'customer'],
    mail: 'optional',
  },
} as const satisfies Record<string, NoticeDeclaration>

/** Tells once: an alert that stands so already, or is gone, says nothing. */
export function tell(tx: Tx, app: AppContext, alert: Alert, fires: boolean, now: number) {
  const server = serverById(tx, alert.workloadId)
  const description = describe(alert)
  if (!server || !noteChange(tx, alert, fires, now, description)) return
  const { concerning, data } = inEvent(tx, server)
  emit(tx, now, fires ? 'alert.fired' : 'alert.recovered', concerning, {
    ...data,
    alert: { id: alert.id, kind: alert.kind, threshold: alert.threshold, description },
  })
  const owner = accountById(tx, server.ownerId)
  if (!owner || owner.kind === 'staff' || server.lifecycle === 'terminated') return
  notify(tx, app, owner, 'alert', {
    subject: fires ? `${server.hostname}: ${description}` : `${server.hostname} has recovered: ${description}`,
    paragraphs: [
      fires
        ? `An alert for ${server.hostname} is firing: ${description}. You will hear again when it is over.`
        : `An alert for ${server.hostname} is over: ${description}.`,
    ],
    button: { words: 'Open its metrics', path: `${areas[owner.kind]}/servers/${server.id}/metrics` },
  })
}
