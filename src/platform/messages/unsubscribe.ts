import { Type as t } from 'typebox'
import { choose } from '../../identity/notices/queries.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { done, fields, operation, secret } from '../../kernel/api/operation.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import { NEWS } from './audience.ts'
import { recipientByLink } from './queries.ts'

export const unsubscribe = operation({
  id: 'messages.unsubscribe',
  method: 'POST',
  path: '/unsubscribe',
  summary: 'Get no more news, with the link from a mail; mails about the own servers still come',
  past: 'Unsubscribed from news',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  response: done,
  refuses: ['link_not_valid', 'rate_limited'],
  example: { token: '<token>' },
  run({ tx, body }) {
    const recipient = recipientByLink(tx, digest(body.token))
    if (!recipient) throw new ApiError('link_not_valid', 'This link is no longer valid. Turn news off under Notices.')
    choose(tx, recipient.accountId, NEWS, { byMail: false })
    return {}
  },
})
