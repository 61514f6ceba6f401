// Through which identity provider people may sign in, as the operator configured it. Sealed: it holds the client's secret.
import { type Static, Type as t } from 'typebox'
import { accountKinds } from '../kernel/api/access.ts'
import { fits } from '../kernel/api/validate.ts'
import { type Db, prepared, type Tx } from '../kernel/db/open.ts'
import type { Secrets } from '../kernel/secrets.ts'

export const Provider = t.Object({
  /** Exactly as the provider writes it in its tokens. */
  issuer: t.String(),
  clientId: t.String(),
  /** Null: a public client, which PKCE alone protects. */
  clientSecret: t.Union([t.String(), t.Null()]),
  /** The kinds of account that may come this way. */
  for: t.Array(t.Enum([...accountKinds])),
  /** On the button. */
  label: t.String(),
})
export type Provider = Static<typeof Provider>

const SETTING = 'sign-in.provider'
const statements = prepared(({ $client }) => ({
  get: $client.prepare<{ value: string }, []>(`SELECT value FROM settings WHERE name = '${SETTING}'`),
  keep: $client.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)'),
  drop: $client.prepare(`DELETE FROM settings WHERE name = '${SETTING}'`),
}))

/** Undefined until the operator has configured one. */
export function providerFrom(db: Db, secrets: Secrets): Provider | undefined {
  const row = statements(db).get.get()
  const it = row && JSON.parse(secrets.open(SETTING, JSON.parse(row.value)))
  return fits(Provider, it) ? (it as Provider) : undefined
}
export const keepProvider = (tx: Tx, secrets: Secrets, it: Provider) =>
  void statements(tx).keep.run(SETTING, JSON.stringify(secrets.seal(SETTING, JSON.stringify(it))))
export const dropProvider = (tx: Tx) => void statements(tx).drop.run()
