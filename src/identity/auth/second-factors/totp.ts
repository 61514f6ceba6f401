// Codes of an authenticator app (RFC 6238). Six digits, 30 seconds and SHA-1, because every app understands these.

import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { type AppContext, done, fields, nullable, operation, secret } from '../../../kernel/api/operation.ts'
import type { Secrets } from '../../../kernel/crypto/secrets.ts'
import { second } from '../../../kernel/db/clock.ts'
import { encryptedColumn } from '../../../kernel/db/encrypted.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { ownAccount } from '../../account-records/model.ts'
import { confirmTotpRow, deleteTotp, insertTotp, totpOf, useTotpStep } from './queries.ts'
import { factorsChanged, firstRecoveryCodes, own } from './second-factors.ts'
import { totp } from './tables.ts'

const STEP_MS = 30 * second
export const encryptedTotp = encryptedColumn(
  totp,
  'secret',
  ({ accountId }: { accountId: string }) => `totp ${accountId}`,
)

export const code = () => secret(t.String({ maxLength: 20, pattern: '^ *([0-9] ?){6} *$', title: 'six digits' }))

/**
 * The number of the 30-second step that the code belongs to: the current one, the one before or the one after. After
 * somebody set the host's clock the phone agrees with that clock or with the product's time, so both are tried.
 */
async function stepOf(
  base32: string,
  digits: string,
  { clock, wallClock }: Pick<AppContext, 'clock' | 'wallClock'>,
): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth')
  const app = new TOTP({ secret: Secret.fromBase32(base32) })
  for (const timestamp of [wallClock(), clock()]) {
    const away = app.validate({ token: digits.replaceAll(' ', ''), timestamp, window: 1 })
    if (away !== null) return Math.floor(timestamp / STEP_MS) + away
  }
  return undefined
}

/** Undefined for a wrong code, else a function that consumes it and is false when it or a later one was used before. */
export async function codeFits(
  tx: Db,
  secrets: Secrets,
  accountId: string,
  digits: string,
  clocks: Pick<AppContext, 'clock' | 'wallClock'>,
): Promise<((tx: Tx) => boolean) | undefined> {
  const app = totpOf(tx, accountId)
  if (!app?.confirmedAt) return undefined
  const step = await stepOf(secrets.open(encryptedTotp.about(app), app.secret), digits, clocks)
  if (step === undefined || step <= app.lastStep) return undefined
  return (tx) => useTotpStep(tx, accountId, step)
}

export const beginTotp = operation({
  id: 'totp.begin',
  method: 'POST',
  path: '/account/totp',
  summary: 'Begin adding an authenticator app: answers its secret, once, as text, address and QR code (SVG)',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  withoutSecondFactor: true,
  response: t.Object({ secret: t.String(), uri: t.String(), qr: t.String() }),
  status: 201,
  refuses: ['not_possible'],
  async prepare({ db, actor, config }) {
    const account = ownAccount(db, actor)
    const [{ Secret, TOTP }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')])
    const key = new Secret({ size: 20 })
    const uri = new TOTP({
      issuer: `Berth ${new URL(config.origin).hostname}`,
      label: account.email,
      secret: key,
    }).toString()
    return { secret: key.base32, uri, qr: renderSVG(uri, { border: 3 }) }
  },
  run({ tx, actor, prepared: made, secrets, clock }) {
    const { id } = ownAccount(tx, actor)
    if (totpOf(tx, id)?.confirmedAt)
      throw new ApiError(
        'not_possible',
        'This account already has an authenticator app. Remove it before you add another.',
      )
    const values = {
      secret: secrets.encrypt(encryptedTotp.about({ accountId: id }), made.secret),
      lastStep: 0,
      createdAt: clock(),
      confirmedAt: null,
    }
    insertTotp(tx, id, values)
    return made
  },
})

export const confirmTotp = operation({
  id: 'totp.confirm',
  method: 'POST',
  path: '/account/totp/actions/confirm',
  summary:
    'Finish adding the authenticator app with one of its codes; signing in asks for one from now on. ' +
    'Ends the other sessions',
  past: 'Added an authenticator app',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  withoutSecondFactor: true,
  body: fields({ code: code() }),
  response: t.Object({ recoveryCodes: nullable(t.Array(t.String())) }),
  refuses: ['not_possible'],
  example: { code: '123456' },
  async prepare({ db, actor, body, secrets, clock, wallClock }) {
    const { id } = ownAccount(db, actor)
    const app = totpOf(db, id)
    if (!app || app.confirmedAt)
      throw new ApiError('not_possible', 'No authenticator app is being added. Begin again on the page Security.')
    const step = await stepOf(secrets.open(encryptedTotp.about(app), app.secret), body.code, { clock, wallClock })
    if (step === undefined)
      throw invalid({
        field: 'code',
        message: 'is wrong. Check that the clock of your device is right, and take the newest code.',
      })
    return { step, secret: app.secret }
  },
  run(call) {
    const { tx, actor, prepared: shown, clock } = call
    const { id } = ownAccount(tx, actor)
    if (!confirmTotpRow(tx, id, { ...shown, now: clock() }))
      throw new ApiError(
        'not_possible',
        'It was started again or confirmed in another window. Reload the page Security to see which.',
      )
    factorsChanged(call, 'An authenticator app was added to your account: signing in asks for its code.')
    return { recoveryCodes: firstRecoveryCodes(call) }
  },
})

export const removeTotp = operation({
  id: 'totp.remove',
  destroys: ['keys'],
  method: 'DELETE',
  path: '/account/totp',
  summary: 'Remove the authenticator app; ends the other sessions',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  response: done,
  refuses: ['already_done'],
  run(call) {
    const { tx, actor } = call
    if (!deleteTotp(tx, ownAccount(tx, actor).id))
      throw new ApiError('already_done', 'This account has no authenticator app: there is nothing to remove.')
    factorsChanged(call, 'The authenticator app was removed from your account.')
    return {}
  },
})
