// S33: every secret there is – sent, answered, mailed or put into a cookie – is looked for wherever something is kept
// or said. Each operation is done in full: a secret is most in danger where something is made of it.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { operations } from '../../src/app/features.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { listenToLog } from '../support/log.ts'
import { mailbox } from '../support/services/mailbox.ts'
import { provider } from '../support/services/provider.ts'
import { callerOf, everyId, everything, targetsOf } from '../support/world/everything.ts'
import type { Reply, Who } from '../support/world/panel.ts'
import { cookieFor, makeRight, markedBody, refresh } from '../support/world/right-call.ts'

/** The fields of bodies that are secret, as `operation field`; a picture is only too long for the audit log. */
const secretFields = (schema: any, path = ''): string[] =>
  schema.writeOnly || schema.anyOf?.some((one: any) => one.writeOnly)
    ? path === 'image'
      ? []
      : [path]
    : Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
        secretFields(inner, path ? `${path}.${name}` : name),
      )

/** Fields of answers that are shown this one time. */
const SHOWN_ONCE = /^(rootPassword|sheet|token|secret|recoveryCodes|command|url|uri)$/
const shownBy = (schema: any): string[] =>
  Object.entries(schema?.properties ?? {}).flatMap(([name, inner]: [string, any]) =>
    SHOWN_ONCE.test(name) ? [name] : shownBy(inner),
  )

/** The secret in a text: in a command or an address, the word that cannot be guessed. */
const words = (text: string) => (/[\s/?=&]/.test(text) ? (text.match(/(?:pnl_|enr_)?[\w-]{32,}/g) ?? []) : [text])

/** Operations that others need come first, and those that stop others last. */
const stops = (op: Operation) =>
  op.id === 'sign-in-provider.set'
    ? -1
    : Number(/lock|suspend|disable|remove|terminate|revoke|end|leave|close|password|totp|email/.test(op.id))

const withSecrets = operations.filter(
  (op) => !op.localOnly && ((op.body && secretFields(op.body).length) || shownBy(op.response).length || op.authAttempt),
)

/** Why it is not done in full here. Every other operation with a secret has had it in hand. */
const notDone: Readonly<Record<string, string>> = {
  'setup.finish': 'there is staff already',
  'sessions.passkey': 'what an authenticator signs is good for one question',
  'passkeys.create': 'what an authenticator signs is good for one question',
  'identities.link': 'a code of the provider is good once, and never kept',
  'sessions.from-provider': 'a code of the provider is good once, and never kept',
  'imports.add-keys': 'no import has been read: test/imports/source-access/node-access.test.ts',
  'messages.unsubscribe': 'its token is in a mail of news, which nobody gets here: test/platform/messages',
  'imports.check-access': 'no import has been read, and its command carries public keys',
}

test('S33: nothing secret that is sent, answered, mailed or put into a cookie stands in the database, the journal, ' +
  'the audit log, addresses, job logs, queues or on disk', async () => {
  using p = await everything({ logRequests: true })
  const box = await mailbox()
  const idp = await provider(p.now)
  const canaries = new Map<string, string>()
  const inHand = new Set<string>()
  const keep = (what: string, value: unknown) => {
    if (Array.isArray(value)) for (const [i, one] of value.entries()) keep(`${what} ${i}`, one)
    else if (typeof value === 'string')
      for (const word of words(value)) if (word.length > 15) canaries.set(`${what} ${canaries.size}`, word)
  }
  const plant = (what: string) => {
    const text = `Canary ${what} ${Bun.randomUUIDv7()}`
    canaries.set(what, text)
    return text
  }
  const keepCookies = (what: string, headers: Headers) => {
    for (const text of headers.getSetCookie()) keep(`${what} cookie`, /=([^;]*)/.exec(text)![1])
  }
  const at = (op: Operation, id: string) => op.path.replace(/\{\w+\}/, id)
  const ask = (
    op: Operation,
    id: string,
    who: Who | undefined,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => p.call(who, op.method, at(op, id), op.method === 'GET' ? undefined : body, headers)

  /** Done once in full, whoever and whatever that takes. */
  async function doneOnce(op: Operation, n: number) {
    const ids = everyId(p)
    const marked = markedBody(p, op, ids)
    const kind = callerOf(op)
    const own: (Who | undefined)[] = op.access === 'anyone' ? [undefined] : [p.people[kind], { token: p.tokens[kind] }]
    for (const id of op.on ? targetsOf(p, op, ids) : [''])
      for (const who of own) {
        refresh(p, op)
        if (op.authAttempt) p.turnClock(3_600_000)
        refresh(p, op)
        const body = marked && JSON.parse(makeRight(p, op, JSON.stringify(marked), kind, n))
        for (const field of op.body ? secretFields(op.body) : [])
          if (/^<\w+>$/.test(body[field])) body[field] = plant(`${op.id} ${field} in full`).slice(0, 100)
        if (op.id === 'sign-in-provider.set') body.issuer = idp.issuer
        const cookie = cookieFor(p, op)
        if (cookie) keep(`${op.id} pending`, cookie.split('=')[1])
        const headers: Record<string, string> = cookie ? { Cookie: cookie, Origin: 'https://panel.test' } : {}
        const reply = await ask(
          op,
          id,
          who,
          body,
          op.idempotent ? { ...headers, 'Idempotency-Key': `full-${n}` } : headers,
        )
        if (reply.status >= 300) continue
        inHand.add(op.id)
        for (const field of op.body ? secretFields(op.body) : []) keep(`${op.id} ${field}`, body?.[field])
        for (const name of shownBy(op.response)) keep(`${op.id} ${name}`, reply.body[name])
        keepCookies(op.id, reply.headers)
        if (reply.headers.getSetCookie().length && who?.cookie) p.people[kind] = p.signIn(p.people[kind].id)
        await p.settle()
        return
      }
  }

  const { lines } = await listenToLog(async () => {
    // Each secret field through the whole gate; what the rest of the body lacks is refused, and that is a path too.
    for (const op of operations)
      for (const field of op.body ? secretFields(op.body) : []) {
        const body = structuredClone(op.example ?? {}) as any
        const path = field.split('.')
        let inner = body
        for (const part of path.slice(0, -1)) inner = inner[part] ??= {}
        inner[path.at(-1)!] = plant(`${op.id} ${field}`)
        const who = op.access === 'anyone' ? undefined : p.people[callerOf(op)]
        refresh(p, op)
        await ask(op, p.customer.id, who, body, { 'Idempotency-Key': `k-${op.id}-${field}` })
        await ask(op, p.customer.id, who, { ...body, surprise: 1 })
      }
    await p.call(undefined, 'POST', '/sessions', { email: 'nobody@x.test', password: plant('a wrong password') })
    const wrong = `pnl_${plant('a wrong token').replace(/[^\w-]/g, '')}`
    await p.call(undefined, 'GET', '/jobs', undefined, { Authorization: `Bearer ${wrong}` })
    canaries.set('a wrong token', wrong)

    // Everything in full; what is mailed goes out through a real server, and its links are opened.
    for (const [n, op] of [...withSecrets].sort((a, b) => stops(a) - stops(b)).entries()) await doneOnce(op, n)
    for (const { text } of p.mailed()) keep('mailed', text.match(/https:\/\/panel\.test\/\S+[\w-]{43}/g) ?? [])
    await box.serve(p)
    await p.controller.deliveries.settle()
    for (const mailContent of box.taken)
      keep('mailed', mailContent.text.match(/https:\/\/panel\.test\/\S+[\w-]{43}/g) ?? [])
    const visit = (path: string) => p.controller.router.fetch(new Request(`http://localhost${path}`))
    for (const token of [...canaries].filter(([what]) => what.startsWith('mailed')).map(([, token]) => token))
      for (const path of [
        `/reset/${token}`,
        `/welcome/${token}`,
        `/sign-in/${token}`,
        `/join?token=${token}`,
        `/setup?token=${token}`,
      ]) {
        await visit(path)
        await visit(`/api/v1/team/invitation${path.slice(path.indexOf('?'))}`)
      }
    const begun = await visit('/login/oidc/start')
    expect(begun.status).toBe(303)
    keepCookies('begun with the provider', begun.headers)
    for (const name of ['state', 'nonce']) keep(name, new URL(begun.headers.get('Location')!).searchParams.get(name))

    // Something breaks while a secret is in hand.
    p.db.$client.run('ALTER TABLE roles RENAME TO gone')
    await p.call(undefined, 'POST', '/sessions', { email: 'ada@x.test', password: plant('while it breaks') })
    const reset = operations.find((op) => op.id === 'passwords.set')!
    const broken = JSON.parse(makeRight(p, reset, JSON.stringify(markedBody(p, reset, [])), 'customer', 4711))
    p.db.$client.run('ALTER TABLE totp RENAME TO gone_too')
    await p.call(undefined, 'POST', '/passwords', broken)
    p.db.$client.run('ALTER TABLE sessions RENAME TO gone_three')
    for (const path of [`/reset/${broken.token}`, `/join?token=${broken.token}`]) {
      const page = new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } })
      expect((await p.controller.router.fetch(page)).status).toBe(500)
    }
    p.db.$client.run('ALTER TABLE gone_three RENAME TO sessions')
    keep('a link while it breaks', broken.token)
    p.db.$client.run('ALTER TABLE gone_too RENAME TO totp')
    p.db.$client.run('ALTER TABLE gone RENAME TO roles')
    p.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  box.close()
  idp.stop()

  expect(
    withSecrets
      .filter((op) => !inHand.has(op.id))
      .map((op) => op.id)
      .sort(),
  ).toEqual(Object.keys(notDone).sort())
  expect(canaries.size).toBeGreaterThanOrEqual(30)
  const kept = new Map<string, string>([['the journal', lines.join('')]])
  const walk = (dir: string) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (entry.isDirectory()) walk(`${dir}/${entry.name}`)
      else if (entry.isFile()) kept.set(`${dir}/${entry.name}`, readFileSync(`${dir}/${entry.name}`, 'latin1'))
    }
  }
  walk(p.dir)
  expect([...kept.keys()].some((name) => name.endsWith('berth.db'))).toBe(true)
  expect(JSON.stringify(p.auditLines())).toContain('***')
  expect(kept.get('the journal')).toContain('"path":"/api/v1/passwords"')
  const found = [...kept].flatMap(([where, text]) =>
    [...canaries].filter(([, value]) => text.includes(value)).map(([what]) => `${what} in ${where.replace(p.dir, '')}`),
  )
  expect(found).toEqual([])
}, 60_000)
