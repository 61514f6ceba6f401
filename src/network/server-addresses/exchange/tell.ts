// Notices for the owner of a server that has another primary address.
import { load, lockOfServer } from '../../../compute/server-records/model.ts'
import { areas } from '../../../identity/account-records/areas.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../../identity/notices/notify.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { EmittedEvent } from '../../../kernel/jobs/emitted-event.ts'
import { openJobOf } from '../../../kernel/jobs/queries.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { list } from '../../../kernel/words.ts'
import { awaitingSwap, exchanging } from './exchanging.ts'

export const addressNotices = {
  server_address_changed: {
    when: 'the primary address of a server is changed',
    kinds: ['reseller', 'customer'],
    mail: 'always',
  },
} as const satisfies Record<string, NoticeDeclaration>

const kinds: ReadonlySet<string> = new Set([exchanging.kind, awaitingSwap.kind])

/** Where a job has changed it: nobody uses the address of what is not installed. */
export function tellOfChange(tx: Tx, app: MailContext, { type, subjectId, data }: EmittedEvent) {
  if (type !== 'server.addresses_changed') return
  const job = openJobOf(tx, lockOfServer(subjectId).holds)
  if (!job || !kinds.has(job.kind)) return
  const server = load(tx, subjectId)
  const owner = accountById(tx, server.ownerId)
  if (!owner || owner.kind === 'staff') return
  const { added, removed } = data as { added: string[]; removed: string[] }
  notify(tx, app, owner, 'server_address_changed', {
    subject: `${server.hostname} has another address`,
    paragraphs: [
      `The primary address of ${server.hostname} was changed.`,
      `Its old address: ${list(removed)}. Its new address: ${list(added)}.`,
      'Change what names the old address, such as DNS records, firewalls and licences.',
    ],
    button: { words: 'Open the server', path: `${areas[owner.kind]}/servers/${server.id}` },
  })
}
