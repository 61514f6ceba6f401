import { Type as t } from 'typebox'
import { mailAddress } from '../accounts/account.ts'
import { done, fields, nullable, operation, secret } from '../kernel/api/operation.ts'
import { keepMailServer } from '../kernel/web/mail.ts'

export const configureMail = operation({
  id: 'mail.configure',
  method: 'PUT',
  path: '/admin/settings/mail',
  summary: 'Say which mail server sends for Berth; what waits is sent then',
  access: { staff: ['settings:write'] },
  body: fields({
    host: t.String({ maxLength: 253, pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$', title: 'a host name or address' }),
    port: t.Integer({ minimum: 1, maximum: 65_535 }),
    tls: t.Optional(t.Boolean()),
    plain: t.Optional(t.Boolean()),
    user: t.Optional(nullable(t.String({ maxLength: 200 }))),
    password: t.Optional(nullable(secret(t.String({ maxLength: 200 })))),
    from: t.String({ maxLength: 254 }),
  }),
  answer: done,
  example: { host: 'mail.example.com', port: 587, user: 'berth', password: '<password>', from: 'panel@example.com' },
  run({ tx, body, secrets }) {
    const { tls = body.port === 465, plain = false, user = null, password = null } = body
    keepMailServer(tx, secrets, { host: body.host, port: body.port, tls, plain, user, password, from: mailAddress(body.from, 'from') })
    return {}
  },
})
