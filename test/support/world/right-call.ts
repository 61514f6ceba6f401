// A call that is right in everything just now: the example of the reference, with what is good for one time, or taken
// after it, made for this call. Links are put where mails and billing systems would have got them from.
import { randomBytes } from 'node:crypto'
import ssh2 from 'ssh2'
import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import { accountById } from '../../../src/identity/account-records/queries.ts'
import { makeLink, type Purpose } from '../../../src/identity/auth/links/links.ts'
import { encryptedTotp } from '../../../src/identity/auth/second-factors/totp.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { digest, randomToken } from '../../../src/kernel/crypto/secrets.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { codeOf, givePassword, password } from '../second-factor.ts'
import { actorOf, callerOf, type Everything, exampleOf } from './everything.ts'
import { addressOf } from './team.ts'

type Made = (p: Everything, kind: AccountKind, n: number) => object

const token = (keep: (p: Everything, hash: string, kind: AccountKind, n: number) => void): Made => {
  return (p, kind, n) => {
    const text = randomToken()
    keep(p, digest(text), kind, n)
    return { token: text }
  }
}
const link =
  (purpose: Purpose, data?: (n: number) => string): Made =>
  (p, _, n) => {
    const account = accountById(p.db, p.customer.id)!
    const { path } = write(p.db, (tx) =>
      makeLink(tx, { purpose, account, now: p.now(), madeBy: actorOf(p, 'staff'), ...(data && { data: data(n) }) }),
    )
    return { token: path.slice(-43) }
  }
const invitation = (to: (p: Everything, kind: AccountKind, n: number) => string) =>
  token((p, hash, kind, n) => {
    const [id, email] = [newId('tm'), to(p, kind, n)]
    p.db.$client.run("DELETE FROM team_members WHERE member_id = ? OR email = ? AND role = 'view'", [
      p.people[kind].id,
      email,
    ])
    p.db.$client.run(
      `INSERT INTO team_members (id, owner_id, email, role, token_hash, invited_by, created_at, expires_at)
       VALUES (?, ?, ?, 'view', ?, 'Rita', ?, ?)`,
      [id, p.resold.id, email, hash, p.now(), p.now() + 3_600_000],
    )
  })
/** The secret of an app that was begun with and not confirmed. */
const begun: Made = (p, kind, confirmedAt) => {
  const accountId = p.people[kind].id
  const { secrets } = p.controller.app
  p.db.$client.run('INSERT OR REPLACE INTO totp VALUES (?, ?, 0, ?, ?)', [
    accountId,
    secrets.encrypt(encryptedTotp.about({ accountId }), p.secret),
    p.now(),
    confirmedAt || null,
  ])
  return { code: codeOf(p, p.secret) }
}
const somebody: Made = (_, __, n) => ({ email: `n${n}@right.test`, externalId: `right-${n}` })
const named: Made = (_, __, n) => ({ name: `Right ${n}` })
const called: Made = (_, __, n) => ({ hostname: `right${n}` })
/** Of an Ed25519 key before its 32 bytes (RFC 8709): its type and its length. */
const keyHead = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')
/** A private key of SSH. */
const sshKey = () => ssh2.utils.generateKeyPairSync('ed25519').private
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const fresh: Readonly<Record<string, Made>> = {
  'sessions.create': (p) => ({ email: addressOf(p, p.customer), password }),
  'sessions.confirm': () => ({ password }),
  'sessions.second-factor': (p) => ({ code: codeOf(p, p.secret) }),
  'sign-in-links.use': link('sign-in'),
  'passwords.set': link('reset'),
  'account.confirm-email': link('email', (n) => `moved${n}@right.test`),
  'account.password': (_, __, n) => ({ current: password, password: `the password of case ${n}` }),
  'account.email': (_, __, n) => ({ email: `moves${n}@right.test`, password }),
  'totp.confirm': (p, kind) => begun(p, kind, 0),
  'staff.create': (_, __, n) => ({ email: `n${n}@right.test` }),
  'staff.update': () => ({ role: 'Nobody' }),
  'customers.create': somebody,
  'customers.update': somebody,
  'resellers.create': somebody,
  'reseller.create-customer': somebody,
  'roles.create': named,
  'packages.create': named,
  'locations.create': named,
  'tokens.create': named,
  'scripts.create': named,
  'saved-filters.create': named,
  'backup-targets.add-rest': (_, __, n) => ({ name: `Right ${n}`, secret: randomToken() }),
  'backup-targets.add-s3': (_, __, n) => ({ name: `Right ${n}`, secret: randomToken() }),
  'backup-targets.add-sftp': (_, __, n) => ({ name: `Right ${n}`, secret: sshKey() }),
  'backup-targets.add-local': named,
  'backup-targets.set-node-login': (_, __, n) => ({ login: `node-${n}`, secret: randomToken() }),
  'backup-plans.create': named,
  'own-images.create': named,
  'gpu-images.create': (_, __, n) => ({ name: `Right ${n}`, registryPassword: randomToken() }),
  'gpu-offers.create': named,
  'ssh-keys.create': () => ({
    publicKey: `ssh-ed25519 ${Buffer.concat([keyHead, randomBytes(32)]).toString('base64')} right`,
  }),
  'team.invite': (_, __, n) => ({ email: `n${n}@right.test`, serverId: null }),
  'team.accept': invitation((p, kind) => addressOf(p, p.people[kind])),
  'team.join': invitation((_, __, n) => `joins${n}@right.test`),
  'pools.create': (_, __, n) => ({
    network: `10.9.${n % 256}.0/29`,
    gateway: `10.9.${n % 256}.1`,
    first: `10.9.${n % 256}.2`,
    last: `10.9.${n % 256}.6`,
    name: `Right ${n}`,
  }),
  'networks.create': named,
  'placement-groups.create': named,
  'firewalls.create': named,
  'reverse-dns.use-powerdns': () => ({ key: randomToken() }),
  'servers.create': called,
  'reseller.create-server': called,
  'servers.setup': called,
  'branding.set': () => ({ senderAddress: 'panel@berth.test', supportLink: 'https://berth.test/help' }),
  'reseller-branding.set': () => ({ senderAddress: 'panel@berth.test', supportLink: 'help@berth.test' }),
  'branding.set-logo': () => ({ image: png }),
  'reseller-branding.set-logo': () => ({ image: png }),
}

/** The placeholder that `makeRight` replaces with the value of a call. */
const MARK = (field: string) => `<right ${field}>`

/** A body with marks for what is made for each call. */
export function markedBody(p: Everything, op: Operation, ids: readonly string[]): object | undefined {
  const example = exampleOf(p, op, ids)
  if (!example) return undefined
  const fields = Object.keys(fresh[op.id]?.(p, callerOf(op), 0) ?? {})
  return { ...example, ...Object.fromEntries(fields.map((field) => [field, MARK(field)])) }
}

/** The text of a body as it is to be sent now, by this kind of account; `n` is another one for each call. */
export function makeRight(p: Everything, op: Operation, text: string, kind: AccountKind, n: number): string {
  if (!text.includes('<right ')) return text
  let made = text
  for (const [field, value] of Object.entries(fresh[op.id]!(p, kind, n)))
    made = made.replaceAll(`"${MARK(field)}"`, JSON.stringify(value))
  return made
}

/**
 * The cookie of somebody who has shown the password and whose second factor is asked for; for every other call nothing.
 */
export function cookieFor(p: Everything, op: Operation): string | undefined {
  if (!/^sessions\.(pending|second-factor|second-factor-passkey)$/.test(op.id)) return undefined
  const text = randomToken()
  p.db.$client.run('INSERT INTO sign_in_challenges VALUES (?, ?, 0, ?, ?)', [
    digest(text),
    p.secured.id,
    p.now(),
    p.now() + 600_000,
  ])
  return `__Host-panel-second=${text}`
}

/**
 * Before each call: people are signed in, have just shown that they are who they are, and have the password or the app
 * that they had.
 */
export function refresh(p: Everything, op: Operation) {
  const now = p.now()
  p.db.$client.run('UPDATE sessions SET created_at = ?, seen_at = ?, confirmed_at = ?', [now, now, now])
  p.db.$client.run("UPDATE tokens SET used_at = ?, used_from = '127.0.0.1'", [now])
  if (/password/.test(JSON.stringify(op.body ?? ''))) for (const { id } of Object.values(p.people)) givePassword(p, id)
  if (op.id === 'totp.remove') for (const kind of accountKinds) begun(p, kind, now)
}
