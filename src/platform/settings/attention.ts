import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { hour, iso } from '../../kernel/db/clock.ts'
import { mailDelivery } from '../../kernel/mail/mail.ts'
import { retried, undelivered } from '../../kernel/queue/queries.ts'
import { count } from '../../kernel/words.ts'
import { getMail } from './mail.ts'

export const unsentMails: Source = ({ tx, actor, clock }) => {
  if (!mayCall(getMail, actor)) return []
  const { failed, late, dropped } = undelivered(tx, mailDelivery.kind, clock() - hour)
  const n = failed + late + dropped
  if (!n) return []
  return [
    {
      level: 'warn',
      what: `${count(n, 'mail was', 'mails were')} not sent.`,
      effect:
        'Invitations and links to new passwords are among them. Those still waiting are sent once the mail server ' +
        'takes it.',
      since: null,
      action: 'Open settings',
      href: '/admin/settings',
    },
  ]
}

export const retriedMails: Source = ({ tx, actor }) => {
  if (!mayCall(getMail, actor)) return []
  const { deliveries, since, error } = retried(tx, mailDelivery.kind)
  if (since === null) return []
  return [
    {
      level: 'warn',
      what: `${count(deliveries, 'mail is', 'mails are')} being retried.`,
      effect: error ?? 'The mail server did not take them.',
      since: iso(since),
      action: 'Open settings',
      href: '/admin/settings',
    },
  ]
}
