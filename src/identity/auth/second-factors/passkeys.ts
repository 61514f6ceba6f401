// Passkeys (WebAuthn). The library, loaded with the first one, knows the formats. The requirements are ours: a
// challenge of this controller, used once within five minutes, our own origin, and a counter that never goes back.
import { randomBytes } from 'node:crypto'
import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import {
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  type PrepareContext,
  type Resource,
  secret,
} from '../../../kernel/api/operation.ts'
import { minute } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import { type Db, isUniqueViolation, type Tx, write } from '../../../kernel/db/open.ts'
import { log } from '../../../kernel/log.ts'
import { type Account, ownAccount } from '../../account-records/model.ts'
import { accountById } from '../../account-records/queries.ts'
import { deviceIn } from '../sessions/device.ts'
import { ownSessionId } from '../sessions/sessions.ts'
import {
  deletePasskey,
  insertPasskey,
  insertPasskeyChallenge,
  ownPasskey,
  passkeyByCredentialId,
  passkeysOf,
  renamePasskeyRow,
  takeChallengeOf,
  usePasskey,
} from './queries.ts'
import { factorsChanged, firstRecoveryCodes, own } from './second-factors.ts'
import type { Passkey } from './tables.ts'

const CHALLENGE_MS = 5 * minute
export const PASSKEYS_PER_ACCOUNT = 20

/** Browsers offer passkeys on HTTPS and on localhost only, and never for a bare address. */
export function passkeysWork(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return hostname === 'localhost' || (protocol === 'https:' && !/^[0-9.]+$|^\[/.test(hostname))
}
const mustWork = (origin: string) => {
  if (!passkeysWork(origin))
    throw new ApiError(
      'not_possible',
      'Passkeys need the panel to have a name and HTTPS. Set PANEL_PUBLIC_URL to such an address.',
    )
}
const party = (origin: string) => new URL(origin).hostname

/** The browser's answer: `toJSON` of a PublicKeyCredential. The library parses it; browsers may send more fields. */
const credential = secret(
  t.Object(
    {
      id: t.String({ minLength: 1, maxLength: 2000 }),
      response: t.Object({ clientDataJSON: t.String({ maxLength: 10_000 }) }, { additionalProperties: true }),
    },
    { additionalProperties: true },
  ),
)
export const assertion = credential
export type Assertion = { id: string; response: { clientDataJSON: string } }

// ---------------------------------------------------------------- challenges
const CHALLENGE_BYTES = 32
type Purpose = 'register' | 'confirm' | 'sign_in'

export function newPasskeyChallenge(tx: Tx, holder: string, purpose: Purpose, now: number): string {
  // Base64url of bytes, and nothing else: browsers answer with what they decoded, encoded anew.
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
  insertPasskeyChallenge(tx, { holder, purpose, now, challenge, expiresAt: now + CHALLENGE_MS })
  return challenge
}

/** Consumes the challenge, whatever the result of the check will be. */
const takePasskeyChallenge = (db: Db, holder: string, purpose: Purpose, now: number) =>
  write(db, (tx) => takeChallengeOf(tx, holder, purpose, now))

// ---------------------------------------------------------------- signing in with one
/** The account that a passkey claims to belong to, before it is verified. */
export function holderOf(tx: Db, { id }: Assertion): Account | undefined {
  const key = passkeyByCredentialId(tx, id)
  return key && accountById(tx, key.accountId)
}

/** The options of the browser's request for a passkey; without an account, for any passkey of this panel. */
export async function requestFor(
  { db, config }: Pick<PrepareContext, 'db' | 'config'>,
  accountId: string | undefined,
  challenge: string,
  verify: boolean,
) {
  mustWork(config.origin)
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  return generateAuthenticationOptions({
    rpID: party(config.origin),
    challenge: Buffer.from(challenge, 'base64url'),
    userVerification: verify ? 'required' : 'preferred',
    timeout: CHALLENGE_MS,
    allowCredentials: accountId
      ? passkeysOf(db, accountId).map((k) => ({ id: k.credentialId, transports: k.transports as any }))
      : [],
  })
}

/**
 * Verifies a passkey. Undefined for another challenge, site or account, a wrong signature, or a counter that went back.
 * `use` records the use and is false when the same key was used meanwhile.
 */
export async function passkeyFits(
  { db, config, clock, client }: Pick<PrepareContext, 'db' | 'config' | 'clock' | 'client'>,
  given: Assertion,
  {
    holder,
    purpose,
    accountId,
    mustVerify,
  }: { holder: string; purpose: Purpose; accountId?: string; mustVerify: boolean },
): Promise<{ accountId: string; use(tx: Tx): boolean } | undefined> {
  const now = clock()
  const challenge = takePasskeyChallenge(db, holder, purpose, now)
  const key = passkeyByCredentialId(db, given.id)
  if (!challenge || !key || (accountId !== undefined && key.accountId !== accountId)) return undefined
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: given as any,
      expectedChallenge: challenge,
      expectedOrigin: config.origin,
      expectedRPID: party(config.origin),
      requireUserVerification: mustVerify,
      credential: { id: key.credentialId, publicKey: Buffer.from(key.publicKey, 'base64url'), counter: key.counter },
    })
    if (!verified) return undefined
    return {
      accountId: key.accountId,
      use: (tx) => usePasskey(tx, key, { counter: authenticationInfo.newCounter, usedAt: now, usedFrom: client.from }),
    }
  } catch (error) {
    log.info('a passkey was refused', { passkeyId: key.id, why: error instanceof Error ? error.message : 'unknown' })
    return undefined
  }
}

// ---------------------------------------------------------------- adding and keeping
const passkey: Resource<Passkey> = {
  name: 'passkey',
  notFound: 'passkey_not_found',
  find: ownPasskey,
}

/** Options for the browser's WebAuthn call; the standard defines their form. */
export const options = namedSchema('PasskeyOptions', { options: t.Unknown() })

export const beginPasskey = operation({
  id: 'passkeys.begin',
  method: 'POST',
  path: '/account/passkeys/actions/begin',
  summary: 'What the browser needs to make a passkey for the own account',
  past: 'Began adding a passkey',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  withoutSecondFactor: true,
  response: options,
  refuses: ['not_possible', 'limit_reached'],
  async prepare({ db, actor, config, clock }) {
    mustWork(config.origin)
    const account = ownAccount(db, actor)
    const known = passkeysOf(db, account.id)
    if (known.length >= PASSKEYS_PER_ACCOUNT)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${PASSKEYS_PER_ACCOUNT} passkeys. Remove one that is not used.`,
      )
    const challenge = write(db, (tx) => newPasskeyChallenge(tx, ownSessionId(actor), 'register', clock()))
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    return generateRegistrationOptions({
      rpName: 'Berth',
      rpID: party(config.origin),
      userID: Buffer.from(account.id),
      userName: account.email,
      userDisplayName: account.name,
      challenge: Buffer.from(challenge, 'base64url'),
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      excludeCredentials: known.map((k) => ({ id: k.credentialId, transports: k.transports as any })),
      authenticatorSelection: {
        residentKey: 'preferred',
        userVerification: account.kind === 'staff' ? 'required' : 'preferred',
      },
    })
  },
  run: ({ prepared }) => ({ options: prepared }),
})

export const addPasskey = operation({
  id: 'passkeys.create',
  method: 'POST',
  path: '/account/passkeys',
  summary: 'Add the passkey that the browser made; it signs in from now on. Ends the other sessions',
  past: 'Added a passkey',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  withoutSecondFactor: true,
  body: fields({ name: t.Optional(line(60)), passkey: credential }),
  response: t.Object({ id: t.String(), recoveryCodes: nullable(t.Array(t.String())) }),
  status: 201,
  refuses: ['not_possible'],
  example: { name: 'Laptop', passkey: { id: 'AQ', response: { clientDataJSON: 'e30' } } },
  async prepare({ db, actor, body, config, clock }) {
    mustWork(config.origin)
    const account = ownAccount(db, actor)
    const challenge = takePasskeyChallenge(db, ownSessionId(actor), 'register', clock())
    if (!challenge) throw notTaken('It took too long, or was begun elsewhere. Begin again.')
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
    try {
      const { registrationInfo } = await verifyRegistrationResponse({
        response: body.passkey as any,
        expectedChallenge: challenge,
        expectedOrigin: config.origin,
        expectedRPID: party(config.origin),
        requireUserVerification: account.kind === 'staff',
      })
      if (registrationInfo) return registrationInfo.credential
    } catch (error) {
      log.info('a new passkey was refused', {
        accountId: account.id,
        why: error instanceof Error ? error.message : 'unknown',
      })
    }
    throw notTaken(
      account.kind === 'staff'
        ? 'it was not made for this panel, or did not check who you are. ' +
            'Staff need one with a PIN, fingerprint or face.'
        : 'it was not made for this panel. Begin again.',
    )
  },
  run(call) {
    const { tx, actor, body, prepared: made, clock } = call
    const id = newId('pky')
    try {
      insertPasskey(tx, {
        id,
        accountId: ownAccount(tx, actor).id,
        credentialId: made.id,
        publicKey: Buffer.from(made.publicKey).toString('base64url'),
        counter: made.counter,
        transports: made.transports ?? [],
        name: body.name ?? deviceIn(call.client.userAgent),
        createdAt: clock(),
      })
    } catch (error) {
      if (isUniqueViolation(error)) throw notTaken('it is kept already.')
      throw error
    }
    factorsChanged(call, `A passkey was added to your account: ${body.name ?? deviceIn(call.client.userAgent)}.`)
    return { id, recoveryCodes: firstRecoveryCodes(call) }
  },
})
const notTaken = (why: string) => invalid({ field: 'passkey', message: `was not taken: ${why}` })

export const renamePasskey = operation({
  id: 'passkeys.rename',
  method: 'PATCH',
  path: '/passkeys/{id}',
  summary: 'Rename a passkey',
  access: own,
  requiresSession: true,
  on: passkey,
  body: fields({ name: line(60) }),
  response: t.Object({ id: t.String(), name: t.String() }),
  example: { name: 'Blue key' },
  run({ tx, target, body }) {
    renamePasskeyRow(tx, target.id, body.name)
    return { id: target.id, name: body.name }
  },
})

export const removePasskey = operation({
  id: 'passkeys.remove',
  destroys: ['keys'],
  method: 'DELETE',
  path: '/passkeys/{id}',
  summary: 'Remove a passkey; ends the other sessions',
  access: own,
  requiresSession: true,
  requiresRecentAuth: true,
  on: passkey,
  response: done,
  run(call) {
    deletePasskey(call.tx, call.target.id)
    factorsChanged(call, `A passkey was removed from your account: ${call.target.name}.`)
    return {}
  },
})
