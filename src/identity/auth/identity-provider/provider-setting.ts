// The identity provider that the operator configured. Encrypted, because it holds the client's secret.
import { type Static, Type as t } from 'typebox'
import { encryptedSetting } from '../../../kernel/db/encrypted-setting.ts'
import { accountKinds } from '../../account-records/kinds.ts'

export const Provider = t.Object({
  /** Exactly as the provider writes it in its tokens. */
  issuer: t.String(),
  clientId: t.String(),
  /** Null: a public client, which PKCE alone protects. */
  clientSecret: t.Union([t.String(), t.Null()]),
  /** The kinds of account that may sign in through it. */
  for: t.Array(t.Enum([...accountKinds])),
  /** The words on the button. */
  label: t.String(),
})
export type Provider = Static<typeof Provider>

const setting = encryptedSetting('sign-in.provider', Provider)
/** Undefined until the operator has configured one. */
export const providerFrom = setting.get
export const keepProvider = setting.keep
export const dropProvider = setting.drop

/** The page that the provider sends people back to; the operator enters it there. */
export const CALLBACK_PAGE = '/login/oidc'
