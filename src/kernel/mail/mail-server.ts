import { type Static, Type as t } from 'typebox'
import { encryptedSetting } from '../db/encrypted-setting.ts'

/** How Berth reaches the operator's mail server; encrypted in the settings. */
export const MailServer = t.Object({
  host: t.String({ maxLength: 253 }),
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  /** TLS from the first byte (465); otherwise STARTTLS is required unless `plain`. */
  tls: t.Boolean(),
  plain: t.Boolean(),
  user: t.Union([t.String({ maxLength: 200 }), t.Null()]),
  password: t.Union([t.String({ maxLength: 200 }), t.Null()]),
  from: t.String({ maxLength: 254 }),
})
export type MailServer = Static<typeof MailServer>

const setting = encryptedSetting('mail.server', MailServer)
export const keepMailServer = setting.keep
/** Undefined until the operator has set one. */
export const mailServer = setting.get
