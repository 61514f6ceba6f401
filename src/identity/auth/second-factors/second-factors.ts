// The second factors of an account, and the roles that require one.

import { randomBytes } from 'node:crypto'
import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { sessionOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, described, nullable, operation, time } from '../../../kernel/api/operation.ts'
import { digest } from '../../../kernel/crypto/secrets.ts'
import { day, iso, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../../kernel/mail/mail.ts'
import { type Account, ownAccount } from '../../account-records/model.ts'
import { type Role, roleOf } from '../../account-records/roles/role.ts'
import { endSessionsOf, mustStillBeOpen } from '../sessions/sessions.ts'
import { factorsOf } from './factors.ts'
import {
  deleteRecoveryCodes,
  factorCounts,
  isRecoveryCodeUnused,
  passkeysOf,
  replaceRecoveryCodes,
  totpOf,
  useRecoveryCode,
} from './queries.ts'

/** An owner has this long to set up a second factor. */
export const OWNER_GRACE_MS = 7 * day

/** When the role begins to require a second factor of the account, in ms; undefined where it does not. */
export function secondFactorDueAt(
  { ownerSince, createdAt }: Pick<Account, 'ownerSince' | 'createdAt'>,
  role: Role | undefined,
): number | undefined {
  if (!role?.secondFactor) return undefined
  return role.isOwner ? (ownerSince ?? createdAt) + OWNER_GRACE_MS : 0
}

/** Is a second factor required that is missing? Then only setting one up is possible. People only, never tokens. */
export function lacksSecondFactor(tx: Db, account: Account, role: Role | undefined, now: number): boolean {
  const dueAt = secondFactorDueAt(account, role)
  return dueAt !== undefined && dueAt <= now && !factorsOf(tx, account.id).length
}

/** Access to one's own second factors. */
export const own = everybody('account:write')

type Changing = MailContext & Pick<Call, 'tx' | 'actor'>

/** Mails the holder: a change of factors can lock them out. `what`: a sentence that says what happened. */
const mailHolder = (call: Changing, what: string) =>
  mailTo(call.tx, call, ownAccount(call.tx, call.actor), {
    subject: 'Your second factor was changed',
    paragraphs: [what],
    closing:
      'If this was not you, choose a new password at once with "Forgot your password?" on the sign-in page, ' +
      'then check what is set up under Security. If you can no longer sign in, contact your administrator or provider.',
  })

/**
 * Call it after adding or removing a factor. Ends the other sessions, deletes codes without a factor, mails the holder.
 */
export function factorsChanged(call: Changing, what: string) {
  const { tx, actor } = call
  mustStillBeOpen(tx, actor)
  mailHolder(call, `${what} All your other sessions were ended.`)
  endSessionsOf(tx, actor.accountId, sessionOf(actor)?.sessionId)
  if (!factorsOf(tx, actor.accountId).length) deleteRecoveryCodes(tx, actor.accountId)
}

// ---------------------------------------------------------------- recovery codes
const CODES = 10
/** Without letters that look like digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** 80 bits: 16 of 32 characters. */
const newCode = () =>
  [...randomBytes(16)]
    .map((b) => alphabet[b % 32])
    .join('')
    .replace(/(.{4})(?=.)/g, '$1-')
const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^0-9a-z]/g, '')
    .replaceAll('o', '0')
    .replace(/[il]/g, '1')
/** No keyed digest, which would end with a key rotation: 2^80 cannot be searched. */
const hashOf = (accountId: string, text: string) => digest(`recovery code ${accountId} ${plain(text)}`)

/** Replaces the recovery codes with ten new ones; they are shown only now. */
function newCodes({ tx, actor, clock }: Pick<Call, 'tx' | 'actor' | 'clock'>): string[] {
  const { accountId } = actor
  const codes = Array.from({ length: CODES }, newCode)
  const hashes = codes.map((text) => hashOf(accountId, text))
  replaceRecoveryCodes(tx, accountId, hashes, clock())
  return codes
}

/** New codes for the first factor; null when there are codes already. */
export const firstRecoveryCodes = (call: Pick<Call, 'tx' | 'actor' | 'clock'>): string[] | null =>
  factorsOf(call.tx, call.actor.accountId).includes('recovery') ? null : newCodes(call)

/** Undefined for a wrong code, else a function that consumes it and is false when it was consumed meanwhile. */
export function recoveryCodeFits(
  tx: Db,
  accountId: string,
  text: string,
  now: number,
): ((tx: Tx) => boolean) | undefined {
  const hash = hashOf(accountId, text)
  return isRecoveryCodeUnused(tx, accountId, hash) ? (tx) => useRecoveryCode(tx, accountId, hash, now) : undefined
}

export const renewRecoveryCodes = operation({
  id: 'recovery-codes.create',
  method: 'POST',
  path: '/account/recovery-codes',
  summary: 'Generate ten new recovery codes, shown only once; the earlier ones end',
  past: 'Created new recovery codes',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  response: t.Object({ recoveryCodes: t.Array(t.String()) }),
  status: 201,
  refuses: ['not_possible'],
  run(call) {
    if (!factorsOf(call.tx, ownAccount(call.tx, call.actor).id).length)
      throw new ApiError(
        'not_possible',
        'Recovery codes replace a lost second factor, and there is none. Add one first.',
      )
    mailHolder(call, 'New recovery codes were created for your account; the earlier ones no longer work.')
    return { recoveryCodes: newCodes(call) }
  },
})

export const getSecondFactor = operation({
  id: 'second-factor.get',
  method: 'GET',
  path: '/account/second-factor',
  summary: 'Which second factors the own account has, without their secrets',
  access: everybody('account:read'),
  requiresSession: true,
  withoutSecondFactor: true,
  response: t.Object({
    email: t.String(),
    hasPassword: t.Boolean(),
    required: t.Boolean(),
    requiredFrom: described(nullable(time), 'When an owner must have one at the latest; null where nothing is due.'),
    totp: nullable(t.Object({ confirmedAt: time })),
    passkeys: t.Array(
      t.Object({
        id: t.String(),
        name: t.String(),
        createdAt: time,
        usedAt: nullable(time),
        usedFrom: nullable(t.String()),
      }),
    ),
    recoveryCodesLeft: t.Integer(),
  }),
  run({ tx, actor, clock }) {
    const account = ownAccount(tx, actor)
    const dueAt = secondFactorDueAt(account, roleOf(tx, account))
    const app = totpOf(tx, account.id)
    return {
      email: account.email,
      hasPassword: account.passwordHash !== null,
      required: dueAt !== undefined && dueAt <= clock(),
      requiredFrom: dueAt ? iso(dueAt) : null,
      totp: app?.confirmedAt ? { confirmedAt: iso(app.confirmedAt) } : null,
      passkeys: passkeysOf(tx, account.id).map(({ id, name, createdAt, usedAt, usedFrom }) => ({
        id,
        name,
        createdAt: iso(createdAt),
        usedAt: isoOrNull(usedAt),
        usedFrom,
      })),
      recoveryCodesLeft: factorCounts(tx, account.id).recovery,
    }
  },
})
