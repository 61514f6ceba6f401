// Owners to whom maintenance was announced are told when its drain is moved to another time.
import { areas } from '../../../identity/account-records/areas.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { notify } from '../../../identity/notices/notify.ts'
import { minuteText } from '../../../kernel/db/clock.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import type { ToldOwners } from '../tables.ts'

/** By notice and mail. Answers what they know now; its end is as long after its begin as before. */
export function tellMoved(call: MailContext & { tx: Tx }, told: ToldOwners, startsAt: number): ToldOwners {
  if (told.startsAt === startsAt) return told
  const endsAt = told.endsAt === null ? null : told.endsAt - told.startsAt + startsAt
  const until = endsAt === null ? '' : ` to ${minuteText(endsAt)}`
  for (const id of told.ownerIds) {
    const owner = accountById(call.tx, id)
    if (!owner || owner.kind === 'staff') continue
    notify(call.tx, call, owner, 'maintenance_planned', {
      subject: `Maintenance moved to ${minuteText(startsAt)}`,
      paragraphs: [
        `The maintenance of which we told you is not on ${minuteText(told.startsAt)}. ` +
          `It is from ${minuteText(startsAt)}${until}.`,
        'What we told you about each of your servers still holds. You need to do nothing.',
      ],
      button: { words: 'Open your servers', path: `${areas[owner.kind]}/servers` },
    })
  }
  return { ...told, startsAt, endsAt }
}
