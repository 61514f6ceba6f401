// An authenticator app, and a browser that signs in with it.
import { Secret, TOTP } from 'otpauth'
import { hashPassword } from '../../src/identity/auth/passwords/hash.ts'
import type { Panel, Reply, Who } from './world/panel.ts'

export const password = 'seven green bicycles'
const hash = await hashPassword(password)
/** It is their password from now on. */
export const givePassword = (p: Panel, accountId: string) =>
  void p.db.$client.run('UPDATE accounts SET password_hash = ? WHERE id = ?', [hash, accountId])

export type Person = { id: string; email: string } & Who

/** Somebody with a password, signed in. */
export function person(p: Panel, kind: 'customer' | 'staff' = 'customer'): Person {
  const who = kind === 'staff' ? p.staff() : p.account('customer', 'Cal')
  const email = `${who.id.slice(4)}@person.test`
  p.db.$client.run('UPDATE accounts SET email = ?, password_hash = ? WHERE id = ?', [email, hash, who.id])
  return { ...who, email }
}

export const codeOf = (p: Panel, secret: string, stepsAway = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: p.now() + stepsAway * 30_000 })

/** Adds the app to the account; the clock goes on, so that the code of now is a fresh one. */
export async function withApp(p: Panel, who: Who): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = (await p.call(who, 'POST', '/account/totp')).body
  const { status, body } = await p.call(who, 'POST', '/account/totp/actions/confirm', { code: codeOf(p, secret) })
  if (status !== 200) throw new Error(JSON.stringify(body))
  p.turnClock(60_000)
  return { secret, recoveryCodes: body.recoveryCodes }
}

/** Every cookie that an answer sets; '' for one that it takes away. */
export const cookiesOf = ({ headers }: Reply): Record<string, string> =>
  Object.fromEntries(
    headers.getSetCookie().map((text) => [text.slice(0, text.indexOf('=')), /=([^;]*)/.exec(text)![1]!]),
  )

export const signIn = (p: Panel, email: string, pass = password, headers: Record<string, string> = {}) =>
  p.call(undefined, 'POST', '/sessions', { email, password: pass }, headers)

/** The first factor is shown; answers the browser's cookie. */
export async function pending(p: Panel, email: string): Promise<{ Cookie: string }> {
  const answer = await signIn(p, email)
  return pendingIn(answer)
}

export const finish = (p: Panel, body: unknown, headers: Record<string, string> = {}) =>
  p.call(undefined, 'POST', '/sessions/second-factor', body, headers)

/** The person whose session the response opened. */
export function whoOf(p: Panel, answer: Reply): Who {
  const cookie = cookiesOf(answer)['__Host-panel']!
  const csrf = p.db.$client
    .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
    .get()!.csrf
  return { cookie, csrf }
}

/** The sign-in that waits for its second factor, as the browser sends it along. */
export const pendingIn = (answer: Reply) => ({
  Cookie: `__Host-panel-second=${cookiesOf(answer)['__Host-panel-second']}`,
})
