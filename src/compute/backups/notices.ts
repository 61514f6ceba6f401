// A failed backup becomes a notice for the owner of the server: once for each plan until it has worked again, because a
// place that does not answer would fill the inbox every night.
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import { backupById, hasFailedBefore } from './queries.ts'

export const backupNotices = {
  backup_failed: { when: 'a backup of a server fails', kinds: ['reseller', 'customer'], mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>

type Data = { server: { hostname: string }; backup: { id: string; error: string } }

export function tellOfFailure(tx: Tx, app: AppContext, { type, subjectId, customerId, data }: EmittedEvent) {
  if (type !== 'backup.failed' || !customerId) return
  const { server, backup } = data as Data
  const owner = accountById(tx, customerId)
  const row = backupById(tx, backup.id)
  if (!owner || owner.kind === 'staff' || !row || hasFailedBefore(tx, row)) return
  const next = row.planId
    ? 'It is tried again when its plan is due. You are not told again before a backup of this plan has worked.'
    : 'Try it again on the page Backups.'
  notify(tx, app, owner, 'backup_failed', {
    subject: `A backup of ${server.hostname} failed`,
    paragraphs: [`${backup.error} Earlier backups stay as they are.`.trim(), next],
    button: { words: 'Open its backups', path: `${areas[owner.kind]}/servers/${subjectId}/backups` },
  })
}
