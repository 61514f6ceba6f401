// The account as its holder sees and changes it.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { type Actor, sessionOf } from '../../kernel/api/actor.ts'
import { type ApiError, invalid } from '../../kernel/api/errors.ts'
import {
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  type PrepareContext,
  secret,
  time,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import type { UiPreferences } from '../../kernel/register.ts'
import { timeZoneFrom } from '../../kernel/time-zones.ts'
import { consumeLink, makeLink } from '../auth/links/links.ts'
import { storePassword } from '../auth/passwords/change.ts'
import { accountIfPasswordUnchanged, hashPassword, mustBeGood, passwordFits } from '../auth/passwords/hash.ts'
import { mustStillBeOpen, ownSessionId } from '../auth/sessions.ts'
import { sessionThrottleKey, throttled } from '../auth/sign-in-throttle.ts'
import { mailAddress, mailField, ownAccount, refuseTaken } from './model.ts'
import { tellOldAddress } from './new-address.ts'
import { accountByEmail, updateAccount } from './queries.ts'
import type { Account } from './tables.ts'
import { uiPreferences, uiPreferencesOf } from './ui-preferences.ts'

const ownResponse = namedSchema('OwnAccount', {
  id: t.String(),
  kind: t.String(),
  email: t.String(),
  name: t.String(),
  organization: nullable(t.String()),
  hasPassword: t.Boolean(),
  theme: t.Enum(uiPreferences.theme),
  density: t.Enum(uiPreferences.density),
  timeZone: nullable(t.String()),
  lockedAt: nullable(time),
  lockReason: nullable(t.String()),
  createdAt: time,
})
const show = (account: Account) => ({
  id: account.id,
  kind: account.kind,
  email: account.email,
  name: account.name,
  organization: account.organization,
  hasPassword: account.passwordHash !== null,
  ...uiPreferencesOf(account),
  lockedAt: isoOrNull(account.lockedAt),
  lockReason: account.lockReason,
  createdAt: iso(account.createdAt),
})

export const getOwnAccount = operation({
  id: 'account.get',
  method: 'GET',
  path: '/account',
  summary: 'The own account',
  access: everybody('account:read'),
  withoutSecondFactor: true,
  response: ownResponse,
  run: ({ tx, actor }) => show(ownAccount(tx, actor)),
})

export const changeOwnAccount = operation({
  id: 'account.update',
  method: 'PATCH',
  path: '/account',
  summary: 'Change the own name, organization, and how pages look',
  access: everybody('account:write'),
  body: fields({
    name: t.Optional(line(100)),
    organization: t.Optional(nullable(line(100, 0))),
    theme: t.Optional(t.Enum(uiPreferences.theme)),
    density: t.Optional(t.Enum(uiPreferences.density)),
    timeZone: t.Optional(nullable(t.String({ maxLength: 64 }))),
  }),
  response: ownResponse,
  example: { name: 'Ada Lovelace', theme: 'dark', timeZone: 'Europe/Berlin' },
  auditSnapshot: ({ tx, actor }) => ownAccount(tx, actor),
  run({ tx, actor, body: { name, organization, ...chosen } }) {
    const account = ownAccount(tx, actor)
    const timeZone = chosen.timeZone && timeZoneFrom(chosen.timeZone)
    if (timeZone === undefined && chosen.timeZone)
      throw invalid({
        field: 'timeZone',
        message: 'is not a known time zone. Take a name like Europe/Berlin, or null for the browser’s.',
      })
    const preferences: UiPreferences = { ...uiPreferencesOf(account), ...chosen, ...(timeZone && { timeZone }) }
    return show(
      updateAccount(tx, account, {
        ...(name !== undefined && { name }),
        ...(organization !== undefined && { organization: organization || null }),
        preferences,
      }),
    )
  },
})

/**
 * Slow, so it runs before the transaction, in which `mustStillBe` checks again. Throws `validation_failed` for a wrong
 * password, and `rate_limited` after too many wrong ones in this session.
 */
async function mustBeTheirs(
  call: Pick<PrepareContext, 'db' | 'actor' | 'signInThrottle'>,
  password: string,
  field: string,
): Promise<Account> {
  const account = ownAccount(call.db, call.actor)
  const fits = await throttled(call, sessionThrottleKey(ownSessionId(call.actor)), account, () =>
    passwordFits(password, account.passwordHash, true),
  )
  if (!fits) throw isNotTheirs(field).of(account)
  return account
}
function mustStillBe(tx: Tx, actor: Actor, looked: Account, field: string): Account {
  mustStillBeOpen(tx, actor)
  return accountIfPasswordUnchanged(tx, looked) ?? refuse(isNotTheirs(field).of(looked))
}
const isNotTheirs = (field: string) => invalid({ field, message: 'is not your password.' })
function refuse(refusal: ApiError): never {
  throw refusal
}

const typed = secret(t.String({ minLength: 1, maxLength: 1000 }))

export const changePassword = operation({
  id: 'account.password',
  method: 'PUT',
  path: '/account/password',
  summary: 'Change the own password; every other session ends',
  access: everybody('account:write'),
  requiresSession: true,
  authAttempt: true,
  body: fields({ current: typed, password: typed }),
  response: done,
  refuses: ['rate_limited'],
  example: { current: 'correct horse battery staple', password: 'seven green bicycles' },
  async prepare(call) {
    const { body, db, actor } = call
    await mustBeGood(body.password, 'password', ownAccount(db, actor))
    return {
      looked: await mustBeTheirs(call, body.current, 'current'),
      passwordHash: await hashPassword(body.password),
    }
  },
  run(call) {
    const { tx, actor, prepared } = call
    const account = mustStillBe(tx, actor, prepared.looked, 'current')
    const but = sessionOf(actor)?.sessionId
    storePassword(tx, call, account, prepared.passwordHash, { tell: true, ...(but && { but }) })
    return {}
  },
})

// ---------------------------------------------------------------- the e-mail address
export const changeEmail = operation({
  id: 'account.email',
  method: 'PUT',
  path: '/account/email',
  summary: 'Change the own e-mail address: it takes effect once the link mailed to it is opened',
  access: everybody('account:write'),
  requiresSession: true,
  authAttempt: true,
  body: fields({ email: mailField, password: typed }),
  response: done,
  refuses: ['rate_limited'],
  example: { email: 'ada@example.net', password: 'correct horse battery staple' },
  async prepare(call) {
    mailAddress(call.body.email)
    return mustBeTheirs(call, call.body.password, 'password')
  },
  /** The response does not tell whether another account has the address; only a mail to that address does. */
  run(call) {
    const { tx, actor, body, clock, prepared } = call
    const account = mustStillBe(tx, actor, prepared, 'password')
    const email = mailAddress(body.email)
    if (email === account.email) throw invalid({ field: 'email', message: 'is already your address.' })
    mailTo(tx, call, account, {
      subject: 'Your e-mail address is about to change',
      paragraphs: [
        'Somebody who is signed in as you asked for another e-mail address for your account. It changes once ' +
          'the new one is confirmed.',
      ],
      closing:
        'If this was not you, choose a new password at once with "Forgot your password?" on the sign-in page: ' +
        'it ends every session, and this change too.',
    })
    if (accountByEmail(tx, email)) return {}
    const link = makeLink(tx, { purpose: 'email', account, data: email, now: clock() })
    mailTo(
      tx,
      call,
      { ...account, email },
      {
        subject: 'Confirm your e-mail address',
        paragraphs: [`From now on you sign in with ${email}, once you have confirmed it.`],
        button: { words: 'Confirm this address', ...link },
        closing: 'The link works once, for a day. If you did not ask for this, ignore this mail.',
      },
    )
    return {}
  },
})

export const confirmEmail = operation({
  id: 'account.confirm-email',
  method: 'POST',
  path: '/account/email/confirm',
  summary: 'Confirm the new e-mail address with the link mailed to it',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  response: t.Object({ email: t.String() }),
  refuses: ['link_not_valid', 'email_taken', 'rate_limited'],
  example: { token: '<token>' },
  run(call) {
    const { tx, body, clock } = call
    const { account, data } = consumeLink(tx, ['email'], body.token, clock())
    try {
      tellOldAddress(tx, call, account, updateAccount(tx, account, { email: data!, emailPending: false }))
    } catch (error) {
      refuseTaken(error)
    }
    return { email: data! }
  },
})
