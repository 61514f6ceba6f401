// The notice of an idle stop: nobody asked for it at that moment, and its owner wants to know.
import { areas } from '../../../identity/account-records/areas.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../../identity/notices/notify.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { count } from '../../../kernel/words.ts'
import { type GpuInstance, pageOf } from '../model.ts'

export const idleNotices = {
  gpu_instance_idle: {
    when: 'a GPU instance is stopped because nothing used its cards',
    kinds: ['reseller', 'customer'],
    mail: 'optional',
  },
} as const satisfies Record<string, NoticeDeclaration>

/** Tells the owner that an instance is stopped because nothing used its cards for `minutes`. */
export function tellIdleStop(tx: Tx, app: MailContext, { id, name, ownerId }: GpuInstance, minutes: number) {
  const owner = accountById(tx, ownerId)
  if (!owner || owner.kind === 'staff') return
  notify(tx, app, owner, 'gpu_instance_idle', {
    subject: `${name} is stopped: its cards were not used`,
    paragraphs: [
      `No program ran on the cards of the GPU instance ${name} for ${count(minutes, 'minute')}, so it is stopped, as ` +
        'its settings say.',
      'Its cards, ports and address stay yours, so it is still billed. Delete it to end that.',
    ],
    button: { words: 'Open GPU instance', path: pageOf(areas[owner.kind], id) },
  })
}
