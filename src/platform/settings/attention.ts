import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { named } from '../../kernel/crypto/key-file.ts'
import { KeyFileError } from '../../kernel/crypto/key-ring.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
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

export const missingKeys: Source = ({ actor, secrets }) => {
  if (!mayCall(getMail, actor)) return []
  const missing = missingIn(secrets)
  if (!missing.length) return []
  return [
    {
      level: 'bad',
      what: `The key file lacks ${named(missing)}.`,
      effect:
        'What is encrypted with it cannot be read: passwords of services and authenticator apps are among it. Add ' +
        'the line from your copy of the key file; nothing has to be restarted. sudo berth secrets list says what ' +
        'needs it.',
      since: null,
      action: 'Open settings',
      href: '/admin/settings',
    },
  ]
}

/** A file that cannot be read at all is told by whoever needs it. */
function missingIn(secrets: Secrets): readonly string[] {
  try {
    return secrets.missingKeys()
  } catch (error) {
    if (error instanceof KeyFileError) return []
    throw error
  }
}
