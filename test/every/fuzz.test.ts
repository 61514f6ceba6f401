// Every operation against whatever a stranger may send it. Bodies come from the operation's own schema, right and
// broken; paths, queries and headers from a list of what has broken other programs. BERTH_LONG=1: more of it, from
// another seed each time.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import type { AccountKind } from '../../src/kernel/api/access.ts'
import type { Code } from '../../src/kernel/api/errors.ts'
import { type Operation, queryOf as parametersOf } from '../../src/kernel/api/operation.ts'
import { csrfToken } from '../../src/kernel/crypto/csrf-token.ts'
import { codesOf } from '../../src/kernel/openapi/openapi.ts'
import { isQuick, quickCount } from '../support/quick.ts'
import { callerOf, type Everything, everyId, everything, targetsOf } from '../support/world/everything.ts'
import { type World, world } from '../support/world/panel.ts'
import { cookieFor, makeRight, markedBody, refresh } from '../support/world/right-call.ts'
import { operations, registry } from './toy-feature/every-feature.ts'

const long = !!process.env['BERTH_LONG']
const CASES = long ? 2000 : quickCount(120, 8)
const SEED = long ? Date.now() % 2 ** 31 : 1
/** Only one that hangs meets it: a call to a server elsewhere gives up after 5 s, and the search for its name too. */
const LIMIT_MS = 8000

/** In every value that is sent: an answer that has it has echoed. */
const MARK = 'zq7mark'
/** Longer than anybody who guessed has to wait. */
const quarter = 15 * 60_000 + 1

// ---------------------------------------------------------------- what is sent
type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  additionalProperties?: unknown
}

const nastyTexts = [
  '',
  ' ',
  MARK,
  `${MARK}\0`,
  `\u202e${MARK}`,
  `\ud800${MARK}`,
  `${MARK}\udfff`,
  `${MARK}\r\nSet-Cookie: a=b`,
  `' OR 1=1 -- ${MARK}`,
  `%${MARK}%`,
  `../../etc/${MARK}`,
  `<script>${MARK}</script>`,
  `$(touch ${MARK})`,
  `\${${MARK}}`,
  '\u0660\uff11',
  '١٢٣',
  'NaN',
  '-1',
  '1e999',
  '0x10',
  '2026-02-30T25:61:61Z',
  '999.999.999.999/99',
  '::ffff:0:0/-1',
  'constructor',
  '__proto__',
  `${'a'.repeat(63)}.`.repeat(1500),
  `${'a-'.repeat(50_000)}!`,
  `${'9'.repeat(100_000)}x`,
  MARK.repeat(10_000),
  'ssh-rsa AAAAB3NzaC1yc2E=',
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI ${MARK}`,
]
const nastyValues = [
  ...nastyTexts,
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  2 ** 63,
  1e300,
  -1e300,
  [],
  {},
  [[MARK]],
  [null, MARK],
  Array(1000).fill(MARK),
  { length: 1, 0: MARK },
  { toString: MARK, valueOf: MARK },
  JSON.parse(`{"__proto__": {"isAdmin": "${MARK}"}}`),
]

/** Has the shape; ids are mostly of things that are there. */
function fitting(schema: Schema, ids: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((s) => fitting(s, ids)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'string':
      return textFitting(schema, ids)
    case 'integer':
    case 'number': {
      const from = schema.minimum ?? -(2 ** 31)
      return fc.oneof(
        fc.constantFrom(from, schema.maximum ?? Number.MAX_SAFE_INTEGER),
        fc.integer({ min: from, max: Math.min(schema.maximum ?? 2 ** 31 - 1, from + 100) }),
      )
    }
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fitting(schema.items!, ids), { maxLength: Math.min(schema.maxItems ?? 4, 4) })
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, s]) => [name, fitting(s, ids)])),
        {
          requiredKeys: schema.required ?? [],
        },
      )
    default:
      return fc.anything()
  }
}
function textFitting({ pattern, minLength = 0, maxLength = 60 }: Schema, ids: readonly string[]): fc.Arbitrary<string> {
  const short = Math.min(maxLength, 40)
  // Lookaheads do not help to generate a text; the broken texts cover them.
  const some = pattern?.includes('(?')
    ? fc.webPath({ size: 'small' }).map((path) => (path || '/').slice(0, maxLength))
    : pattern
      ? // A pattern of fixed length may ask for more than a short text.
        fc
          .stringMatching(new RegExp(pattern), isOpenEnded(pattern) ? { maxLength: short + fixedLength(pattern) } : {})
          .map((s) => s.padEnd(minLength, 'a'))
      : fc.oneof(
          fc.string({ minLength, maxLength: Math.max(minLength, short) }),
          fc.emailAddress(),
          fc.ipV4(),
          fc.ipV6(),
          fc.tuple(fc.ipV4(), fc.nat(33)).map(([a, n]) => `${a}/${n}`),
        )
  return maxLength === 40
    ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: some })
    : some
}

const isOpenEnded = (pattern: string) => /[+*]|,\d*\}/.test(pattern)
/** The length of the repetitions of a fixed number, such as the digits of a digest. */
const fixedLength = (pattern: string) => [...pattern.matchAll(/\{(\d+)\}/g)].reduce((sum, [, n]) => sum + Number(n), 0)

const extraKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toJSON',
  'then',
  'id',
  'isOwner',
  '',
  'a.b',
  '\0',
  '\ud800',
]
/** One thing wrong somewhere in it. */
const broken = (value: unknown): fc.Arbitrary<unknown> =>
  fc
    .record({
      key: fc.nat(),
      how: fc.nat(3),
      deeper: fc.boolean(),
      nasty: fc.constantFrom(...nastyValues),
      name: fc.constantFrom(...extraKeys),
    })
    .map(({ key, how, deeper, nasty, name }) => breakAt(value, { key, how, deeper, nasty, name }))
function breakAt(
  value: unknown,
  a: { key: number; how: number; deeper: boolean; nasty: unknown; name: string },
): unknown {
  if (typeof value !== 'object' || value === null) return a.nasty
  const entries = Object.entries(value)
  const chosen = entries[a.key % Math.max(1, entries.length)]
  if (chosen && a.deeper && typeof chosen[1] === 'object') chosen[1] = breakAt(chosen[1], a)
  else if (chosen && a.how === 0) entries.splice(entries.indexOf(chosen), 1)
  else if (chosen && a.how < 3) chosen[1] = a.nasty
  else entries.push([a.name, a.nasty])
  return Array.isArray(value) ? entries.map(([, v]) => v) : withEntries(entries)
}
/** `Object.fromEntries` with `__proto__` as a property like any other. */
function withEntries(entries: [string, unknown][]) {
  const made = Object.create(null)
  for (const [name, value] of entries)
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true })
  return made
}

/** Text that no JSON.stringify would write, made from one that it did. */
const rawForms: ((text: string) => string | Uint8Array)[] = [
  () => '',
  () => ' \n',
  () => 'null',
  () => 'true',
  () => `"${MARK}"`,
  () => '[]',
  () => 'NaN',
  () => 'undefined',
  (text) => `[${text}]`,
  (text) => text.slice(0, -1),
  (text) => `${text}${text}`,
  (text) => `${text}//`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace(/}$/, ',}'),
  (text) => text.replace('{', '{"__proto__":{"permissions":["all"]},'),
  (text) => text.replace('{', '{"constructor":{"prototype":{"x":1}},'),
  (text) => text.replace('{', '{"__proto__":null,').replace(',}', '}'),
  // The same name twice: for JSON.parse the last one counts.
  (text) => text.replace(/^\{(?=")(("[^"]*"):)/, `{$2:"${MARK}",$1`),
  (text) => text.replace(/^\{("[^"]*":)(.*)\}$/s, '{$1$2,$1{"surprise":1}}'),
  (text) => text.replace(/:/, ':NaN,"x":'),
  (text) => text.replace(/:/, ':-Infinity,"x":'),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, `:${'1'.repeat(999_000)}`),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, `:0.${'1'.repeat(100_000)}e-5`),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, `:1e${'9'.repeat(1000)}`),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, `:${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, ':"\\ud800"'),
  (text) => text.replace(/:("[^"]*"|[0-9]+)/, ':"\0"'),
  () => '['.repeat(900_000),
  () => '{"a":'.repeat(150_000),
  () => `{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":${i}`)}}`,
  () => `"${'x'.repeat(1_000_000)}"`,
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xed, 0xa0, 0x80])]),
  (text) => Buffer.from(text.replace(/:"/, ':"\xff'), 'latin1'),
  (text) => Bun.gzipSync(Buffer.from(text)),
]

const nastyIds = [
  'x',
  '..',
  '../..',
  '../admin/packages',
  '.',
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fetc',
  '..%2f..%2f',
  '%00',
  '%ff',
  '%',
  '%zz',
  '%c0%af',
  '%ed%a0%80',
  '%u0041',
  ';a=b',
  'a%20b',
  '*',
  "'%20OR%201=1--",
  '%27',
  '__proto__',
  'constructor',
  'toString',
  '-1',
  '0',
  'null',
  'current',
  '%E2%80%AE',
  '@evil.test',
  '\\\\evil',
  'x'.repeat(10_000),
  '%41'.repeat(4000),
  'srv_'.repeat(30),
]

const contentTypes = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=latin1',
  'application/json, text/html',
  'application/jsonp',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
  ';',
  '/',
  `${'a'.repeat(20_000)}/json`,
  'application/json; charset=\xff',
]
const headers = fc.oneof(
  { weight: 20, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constantFrom(...contentTypes).map((type) => ({ 'Content-Type': type })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        'k1',
        'k2',
        '',
        ' ',
        'x'.repeat(200),
        'x'.repeat(201),
        'a b',
        '\xe9',
        '"',
        '__proto__',
        `${MARK}'--`,
      )
      .map((key) => ({ 'Idempotency-Key': key })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { Authorization: `Bearer pnl_${MARK.repeat(5)}` },
      { Authorization: 'Bearer' },
      { Authorization: `Basic ${btoa(MARK)}` },
      { Authorization: 'x'.repeat(10_000) },
      { Origin: 'null' },
      { Origin: `https://${MARK}.test` },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'X-CSRF-Token': MARK },
      { 'X-Forwarded-For': `${MARK}, ::1` },
      { 'Content-Encoding': 'gzip' },
      { 'X-HTTP-Method-Override': 'DELETE' },
      { 'User-Agent': `${MARK}\xff`.repeat(500) },
      { Cookie: '=;;=;__Host-panel' },
      { 'HX-Request': 'true' },
    ),
  },
)

function queryOf(op: Operation, ids: readonly string[]): fc.Arbitrary<string> {
  const known = Object.keys(parametersOf(op))
  const value = fc.oneof(
    fc.constantFrom(...nastyTexts.map((text) => encodeURIComponent(text.toWellFormed().slice(0, 5000)))),
    fc.constantFrom(...nastyIds.slice(0, -3)),
    fc.constantFrom('1', '50', '100000', '0', '-5', 'true', 'running', ...ids),
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
  )
  const name = fc.constantFrom(
    ...(known.length ? [...known, ...known, ...known] : ['x']),
    '__proto__',
    'constructor',
    'limit',
    '',
    'x%00',
    '[]',
  )
  const some = fc
    .array(fc.tuple(name, value), { minLength: 1, maxLength: 3 })
    .map((all) => `?${all.map((a) => a.join('=')).join('&')}`)
  if (op.method !== 'GET' && known.length)
    return fc.oneof(
      { weight: 12, arbitrary: fc.constant('') },
      ...(op.dryRun ? [{ weight: 4, arbitrary: fc.constantFrom('?dryRun=true', '?dryRun=false') }] : []),
      { weight: 4, arbitrary: some },
    )
  return known.length
    ? fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 9, arbitrary: some })
    : fc.oneof({ weight: 12, arbitrary: fc.constant('') }, { weight: 1, arbitrary: some })
}

type Case = {
  kind: AccountKind | 'nobody'
  by: 'session' | 'token'
  id: string
  query: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
}
function casesOf(
  op: Operation,
  ids: readonly string[],
  targets: readonly string[],
  example?: object,
): fc.Arbitrary<Case> {
  const fits = op.body ? fitting(op.body as Schema, ids) : fc.constant({})
  // The example with some fields changed gets further than one that is made up whole.
  const near = example
    ? fc.tuple(fits, fc.subarray(Object.keys(op.body!.properties))).map(([other, names]) => ({
        ...example,
        ...Object.fromEntries(Object.entries(other as object).filter(([name]) => names.includes(name))),
      }))
    : fits
  const text = (a: fc.Arbitrary<unknown>) => a.map((value) => JSON.stringify(value))
  const raw = fc.tuple(text(near), fc.constantFrom(...rawForms)).map(([json, form]) => form(json))
  const body: fc.Arbitrary<Case['body']> =
    op.method === 'GET'
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: op.body ? 3 : 1, arbitrary: text(fits) },
          { weight: op.body ? 2 : 1, arbitrary: text(near) },
          { weight: op.body ? 2 : 0, arbitrary: text(example ? fc.constant(example) : fits) },
          { weight: 5, arbitrary: text(near.chain(broken)) },
          { weight: 1, arbitrary: text(fits.chain(broken).chain(broken)) },
          { weight: 3, arbitrary: raw },
          { weight: 1, arbitrary: fc.constant(undefined) },
        )
  const may = accountKinds.filter((kind) => op.access === 'anyone' || op.access[kind])
  const anyId = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...(targets.length ? targets : ids)) },
    { weight: 1, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.constantFrom(...ids).map((id) => id.replace(/.{5}$/, '00000')) },
    { weight: 2, arbitrary: fc.constantFrom(...nastyIds) },
  )
  return fc.record({
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom<Case['kind']>(...(op.access === 'anyone' ? ['nobody' as const] : may)) },
      { weight: 2, arbitrary: fc.constantFrom<Case['kind']>(...accountKinds) },
      { weight: 1, arbitrary: fc.constant('nobody' as const) },
    ),
    by: fc.oneof(
      { weight: 5, arbitrary: fc.constant('session' as const) },
      { weight: 1, arbitrary: fc.constant('token' as const) },
    ),
    id: anyId,
    query: queryOf(op, ids),
    headers,
    body,
  })
}

// ---------------------------------------------------------------- the panel it is sent to
/**
 * Is it still this operation after the URL was read? `..` leads elsewhere, and then its refusals are not this one's.
 */
const leadsTo = (op: Operation, url: string) =>
  new RegExp(`^/api/v1${op.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(new URL(url).pathname)

let slowest = { ms: 0, words: '' }
const seen = new Map<string, number>()

const wordsOf = (op: Operation, c: Case, url: string) => {
  const cut = (text: string, n: number) => (text.length > n ? `${text.slice(0, n)}… (${text.length})` : text)
  const body =
    typeof c.body === 'string'
      ? JSON.stringify(cut(c.body, 400))
      : c.body && `${c.body.length} bytes ${c.body.slice(0, 60).toString()}`
  return (
    `${op.id} as ${c.kind} by ${c.by}: ${op.method} ${cut(url, 200)} ${cut(JSON.stringify(c.headers), 100)} ` +
    `${body ?? ''}`
  )
}

/** With what is good for this one call. */
function madeRight(p: Everything, op: Operation, c: Case, n: number): Case {
  const cookie = c.kind === 'nobody' ? cookieFor(p, op) : undefined
  const body =
    typeof c.body === 'string' ? makeRight(p, op, c.body, c.kind === 'nobody' ? callerOf(op) : c.kind, n) : c.body
  return { ...c, body, headers: cookie ? { Cookie: cookie, Origin: 'https://panel.test', ...c.headers } : c.headers }
}

async function send(p: Everything, op: Operation, c: Case) {
  const who = c.kind === 'nobody' ? undefined : p.people[c.kind]
  const sent: Record<string, string> = {
    ...(c.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(who && c.by === 'token' && { Authorization: `Bearer ${p.tokens[c.kind as AccountKind]}` }),
    ...(who &&
      c.by === 'session' && {
        Cookie: `__Host-panel=${who.cookie}`,
        Origin: 'https://panel.test',
        'X-CSRF-Token': csrfToken(who.csrf!),
      }),
    ...c.headers,
  }
  const url = `http://localhost/api/v1${op.path.replace(/\{\w+\}/g, () => c.id)}${c.query}`
  const request = new Request(url, {
    method: op.method,
    headers: sent,
    ...(c.body === undefined ? {} : { body: c.body as any }),
  })
  const began = performance.now()
  const response = await Promise.race([p.controller.router.fetch(request), Bun.sleep(LIMIT_MS).then(() => undefined)])
  const text = await response?.text()
  return {
    response,
    text: text ?? '',
    ms: performance.now() - began,
    url: request.url,
    words: wordsOf(op, c, request.url),
  }
}

const realFetch = globalThis.fetch
beforeAll(() => {
  // Nothing here may reach out: what asks another host is told that there is none.
  globalThis.fetch = Object.assign(() => Promise.reject(new Error('no network')), { preconnect() {} }) as any
})
afterAll(() => {
  globalThis.fetch = realFetch
  const counts = [...seen].sort((a, b) => b[1] - a[1]).map(([code, n]) => `${code} ${n}`)
  console.log(
    `fuzz: ${CASES} cases for each of ${operations.length} operations, seed ${SEED}; slowest ` +
      `${slowest.ms.toFixed(0)} ms: ${slowest.words}`,
  )
  console.log(`fuzz: ${counts.join(', ')}`)
  const few = [...done].filter(([, n]) => n < 5).sort((a, b) => a[1] - b[1])
  console.log(`fuzz: done in the fewest cases: ${few.map(([id, n]) => `${id} ${n}`).join(', ')}`)
})

/** Operations that few things allow: those that are there are seldom met by chance. */
const possibleOn: Readonly<Record<string, string>> = {
  'servers.undelete': "SELECT id FROM workloads WHERE kind = 'server' AND purge_at IS NOT NULL",
}

/**
 * Operations that no case can carry out here, with the reason and the test that does. Every other operation must have
 * been done at least once.
 */
const neverDone: Readonly<Record<string, string>> = {
  'addresses.get': 'no path has an address: test/network/address-history/history.test.ts',
  'addresses.history': 'likewise',
  'addresses.export': 'likewise: test/network/address-history/files.test.ts',
  'addresses.statement': 'likewise',
  'servers.move': 'no other node routes the addresses: test/compute/transfers/move.test.ts',
  'servers.relocate': 'no other location is offered: test/compute/transfers/relocate.test.ts',
  'servers.adopt': 'no database was restored: test/compute/transfers/elsewhere/adopt.test.ts',
  'servers.cancel-relocation': 'no move is at work: test/compute/transfers/relocate.test.ts',
  'balance.apply': 'nothing is suggested: test/compute/balance/balance.test.ts',
  'transfers.cancel': 'no move is at work: test/compute/transfers/move.test.ts',
  'transfers.update': 'no move is at work: test/compute/transfers/limits.test.ts',
  'nodes.choose-in-drain-plan': 'its second id is that of a server: test/compute/drains/later.test.ts',
  'drains.pause': 'no drain is at work: test/compute/drains/drain.test.ts',
  'drains.resume': 'no drain is at work: test/compute/drains/drain.test.ts',
  'drains.retry': 'no drain is at work: test/compute/drains/drain.test.ts',
  'drains.send': 'no drain is at work: test/compute/drains/send.test.ts',
  'drains.leave': 'no drain is at work: test/compute/drains/send.test.ts',
  'drains.cancel': 'no drain is at work: test/compute/drains/drain.test.ts',
  'rolling.confirm': 'no node waits for it: test/compute/drains/rolling.test.ts',
  'rolling.resume': 'none is paused: test/compute/drains/rolling.test.ts',
  'rolling.skip': 'none is paused: test/compute/drains/rolling.test.ts',
  'roll-outs.pause': 'none is under way: test/platform/roll-outs/roll-outs.test.ts',
  'roll-outs.continue': 'none is under way: test/platform/roll-outs/roll-outs.test.ts',
  'roll-outs.stop': 'none is under way: test/platform/roll-outs/roll-outs.test.ts',
  'roll-outs.leave-out': 'none is under way: test/platform/roll-outs/roll-outs.test.ts',
  'roll-outs.retry': 'none is under way: test/platform/roll-outs/roll-outs.test.ts',
  'imports.trust': 'no certificate is asked for: test/imports/discovery.test.ts',
  'imports.check-access': 'nothing is decided yet: test/imports/source-access/node-access.test.ts',
  'imports.add-keys': 'nothing is decided yet: test/imports/source-access/node-access.test.ts',
  'imports.start': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'imports.pause': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'imports.continue': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'imports.stop-after': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'imports.change-limits': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'import-servers.retry': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'import-servers.cancel': 'nothing moves yet: test/imports/migrate/going.test.ts',
  'import-servers.check': 'nothing has moved: test/imports/after/verify.test.ts',
  'import-servers.accept': 'nothing has moved: test/imports/after/verify.test.ts',
  'import-servers.roll-back-preview': 'nothing has moved: test/imports/after/roll-back.test.ts',
  'import-servers.roll-back': 'nothing has moved: test/imports/after/roll-back.test.ts',
  'imports.check-all': 'nothing has moved: test/imports/after/verify.test.ts',
  'imports.finish': 'nothing has moved: test/imports/after/finish.test.ts',
  'imports.clean-up': 'nothing has moved: test/imports/after/finish.test.ts',
  'source-removal.choose': 'nothing was adopted: test/imports/source-removal/source-removal.test.ts',
  'source-removal.run': 'nothing was adopted: test/imports/source-removal/source-removal.test.ts',
  'source-removal.restore': 'nothing was adopted: test/imports/source-removal/source-removal.test.ts',
  'setup.finish': 'there is staff already: test/end-to-end/pages/browser.test.ts',
  'sessions.begin-with-provider': 'there is no provider to ask: test/identity/auth/identity-provider/oidc.test.ts',
  'identities.begin-link': 'there is no provider to ask: test/identity/auth/identity-provider/oidc.test.ts',
  'identities.link': 'there is no provider to ask: test/identity/auth/identity-provider/oidc.test.ts',
  'sessions.from-provider': 'there is no provider to ask: test/identity/auth/identity-provider/oidc.test.ts',
  'sign-in-provider.set': 'there is no provider to ask: test/platform/settings/sign-in.test.ts',
  'sessions.passkey': 'needs an authenticator: test/end-to-end/pages/sign-in.test.ts',
  'passkeys.create': 'needs an authenticator: test/end-to-end/pages/sign-in.test.ts',
  'team.invitation': 'its token is in the query: test/identity/team/team.test.ts',
  'nodes.stop-awaiting': 'no database was restored: test/fleet/nodes/unknown-addresses.test.ts',
  'images.add': 'fetches a list: test/catalog/images/images.test.ts',
  'images.refresh': 'fetches a list: test/catalog/images/builds.test.ts',
  'images.import': 'reads a file: test/catalog/images/images.test.ts',
  'mail.test': 'there is no mail server: test/platform/settings/mail.test.ts',
  'reverse-dns.set': 'there is no name server: test/network/reverse-dns/reverse-dns.test.ts',
  'reverse-dns.set-unconfirmed': 'there is no name server: test/network/reverse-dns/reverse-dns.test.ts',
  'reverse-dns.test': 'there is no name server: test/network/reverse-dns/reverse-dns.test.ts',
  'servers.remove-address':
    'its second id is that of an address: test/network/server-addresses/server-addresses.test.ts',
  'placement-groups.add-instance':
    'a group and an instance of one owner do not meet: test/compute/placement-groups/instances.test.ts',
  'placement-groups.mend': 'no group is broken: test/compute/placement-groups/placement-groups.test.ts',
  'placement-groups.take-out-instance':
    'its second id is that of a GPU instance: test/compute/placement-groups/instances.test.ts',
  'placement-groups.take-out-server':
    'its second id is that of a server: test/compute/placement-groups/placement-groups.test.ts',
  'networks.detach': 'its second id is that of a server: test/network/private-networks/private-networks.test.ts',
  'servers.change-firewall-rule': 'its second id is that of a rule: test/network/firewalls/firewalls.test.ts',
  'servers.remove-firewall-rule': 'its second id is that of a rule: test/network/firewalls/firewalls.test.ts',
  'firewalls.remove-rule': 'its second id is that of a rule: test/network/firewalls/firewalls.test.ts',
  'snapshots.update': 'its second id is that of a snapshot: test/compute/snapshots/snapshots.test.ts',
  'snapshots.restore': 'its second id is that of a snapshot: test/compute/snapshots/snapshots.test.ts',
  'snapshots.remove': 'its second id is that of a snapshot: test/compute/snapshots/snapshots.test.ts',
  'backups.restore': 'its second id is that of a backup: test/compute/backups/backups.test.ts',
  'backups.download-file': 'its query names a file: test/compute/backups/files.test.ts',
  'backups.remove': 'its second id is that of a backup: test/compute/backups/backups.test.ts',
  'bulk-actions.get': 'no action for many is there: test/compute/bulk-actions/bulk.test.ts',
  'bulk-actions.servers': 'no action for many is there: test/compute/bulk-actions/bulk.test.ts',
  'bulk-actions.cancel': 'no action for many is there: test/compute/bulk-actions/bulk.test.ts',
  'messages.cancel': 'none is being sent: test/platform/messages/messages.test.ts',
  'messages.unsubscribe': 'no mail with news was sent: test/platform/messages/messages.test.ts',
  'updates.check': 'no release is there: test/platform/updates/updates.test.ts',
  'updates.start': 'no release is there: test/platform/updates/updates.test.ts',
  'updates.withdraw': 'no update waits: test/platform/updates/updates.test.ts',
  'updates.look': 'no address is set: test/platform/updates/download.test.ts',
  'updates.download': 'nothing was found: test/platform/updates/download.test.ts',
  'controller-backups.make': 'it has no plan: test/platform/controller-backups/controller-backups.test.ts',
  'jobs.cancel': 'no job is open: test/platform/jobs/cancel.test.ts',
  'nodes.declare-lost': 'the node is connected: test/fleet/nodes/lost.test.ts',
  'servers.add-bandwidth': 'the traffic of the servers is not limited: test/network/traffic/allowance.test.ts',
  'backup-targets.set-node-login': 'its target is a folder: test/compute/backup-targets/node-logins.test.ts',
  'backup-targets.remove-node-login': 'its target is a folder: test/compute/backup-targets/node-logins.test.ts',
}
/** How often each was done, and what was left undone. */
const done = new Map<string, number>()
const auditSize = (db: Database) => (db.query('SELECT count(*) AS n FROM audit').get() as { n: number }).n

describe(
  'whatever is sent, the answer is one from the table, says nothing of what was sent, and a refusal changes ' +
    'nothing',
  () => {
    for (const op of operations)
      test(op.id, async () => {
        const p = await everything()
        // A second connection: its data_version moves when, and only when, the panel has committed a change.
        const watch = new Database(`${p.dir}/berth.db`, { readonly: true })
        const version = () => (watch.query('PRAGMA data_version').get() as { data_version: number }).data_version
        try {
          const ids = everyId(p)
          const codesOfOp = new Set<string>(codesOf(op))
          const one = possibleOn[op.id]
          const targets = one ? [p.db.$client.query<{ id: string }, []>(one).get()!.id] : targetsOf(p, op, ids)
          const cases = fc.sample(casesOf(op, ids, targets, markedBody(p, op, ids)), {
            numRuns: CASES,
            seed: SEED,
          })
          let times = 0
          for (const [n, c] of cases.entries()) {
            // Signing out is an operation too; a clock that goes on by itself would note that the session was seen.
            if (op.refuses?.includes('rate_limited')) p.turnClock(quarter)
            refresh(p, op)
            const prepared = madeRight(p, op, c, n)
            // A report of a node is stored up to some moments later, whatever is sent.
            for (let i = 0; i < 400 && p.controller.reports.isBehind; i++) await Bun.sleep(5)
            const [before, lines] = [version(), auditSize(watch)]
            const { response, text, ms, url, words } = await send(p, op, prepared)
            if (ms > slowest.ms) slowest = { ms, words }
            if (!response) throw new Error(`no answer within ${LIMIT_MS} ms: ${words}`)
            await mustBeProper(op, { response, text, words, url, codesOfOp })
            const noted = auditSize(watch) - lines
            const isAccepted = response.status < 300 && leadsTo(op, url)
            // A dry run changes nothing, like a refusal.
            const isDone = isAccepted && !(op.dryRun && new URL(url).searchParams.get('dryRun') === 'true')
            const replayed = response.headers.has('Idempotency-Replayed')
            if (isDone) times++
            // A sign-in that was refused is noted; of a change that succeeds there is one line, whatever it is.
            const isRefusedSignIn =
              op.authAttempt && /"(sign_in_failed|link_not_valid|setup_link_invalid|invitation_not_valid)"/.test(text)
            const mayChange = isDone ? op.method !== 'GET' : isRefusedSignIn
            // Refusals of one kind are counted, so that one of them a minute is noted.
            const mayBeNoted = op.authAttempt && (op.access === 'anyone' || /"rate_limited"|is not your/.test(text))
            const changed = version() !== before
            if (changed && !mayChange && !mayBeNoted)
              throw new Error(`${response.status}, and something has changed: ${words}`)
            if (mayChange && !replayed && noted !== 1)
              throw new Error(`${noted} lines in the audit log: ${words}\n→ ${text.slice(0, 500)}`)
            if (isDone && op.method !== 'GET') {
              // Work that a change sets going, such as the end of a connection, ends before the next call. That of a
              // revoked node comes with a timer, after the answer.
              if (op.id === 'nodes.revoke-credential') await Bun.sleep(5)
              await p.settle()
              await renew(p, c.kind)
            }
          }
          done.set(op.id, times)
          expect(p.db.$client.query('PRAGMA foreign_key_check').all()).toEqual([])
          expect({} as any).not.toHaveProperty('isAdmin')
          // A quick run has too few cases to do everything.
          if (!isQuick) expect([op.id, times > 0]).toEqual([op.id, !(op.id in neverDone)])
        } finally {
          watch.close()
          p.close()
        }
      }, 120_000)
  },
)

/** Signs people in again whom a successful call has signed out. */
async function renew(p: Everything, kind: Case['kind']) {
  if (kind === 'nobody' || (await p.call(p.people[kind], 'GET', '/images')).status !== 401) return
  p.people[kind] = p.signIn(p.people[kind].id)
}

async function mustBeProper(
  op: Operation,
  {
    response,
    text,
    words,
    url,
    codesOfOp,
  }: { response: Response; text: string; words: string; url: string; codesOfOp: Set<string> },
) {
  const described = `${words}\n→ ${response.status} ${text.slice(0, 500)}`
  // `..` can lead to the pages, which answer people.
  if (!new URL(url).pathname.startsWith('/api/v1/') && response.headers.get('Content-Type')?.startsWith('text/html'))
    return
  if (!/^[0-9a-f-]{36}$/.test(response.headers.get('X-Request-Id') ?? ''))
    throw new Error(`no request id: ${described}`)
  // A file is sent as it is made, and what was in the log before it may be long.
  if (
    op.produces &&
    response.status === 200 &&
    response.headers.get('Content-Type') === `${op.produces}; charset=utf-8`
  )
    return
  if (!response.headers.get('Content-Type')?.startsWith('application/json')) throw new Error(`not JSON: ${described}`)
  const body = JSON.parse(text)
  const code: string | undefined = body.error?.code
  seen.set(code ?? String(response.status), (seen.get(code ?? String(response.status)) ?? 0) + 1)
  if (response.status < 400) return
  if (response.status >= 500 || registry.errors[code as Code]?.status !== response.status)
    throw new Error(`not from the table: ${described}`)
  if (leadsTo(op, url) && !codesOfOp.has(code!)) throw new Error(`${code} is not declared for ${op.id}: ${described}`)
  if (text.includes(MARK)) throw new Error(`echoes what was sent: ${described}`)
  if (text.length > 20_000) throw new Error(`an answer of ${text.length} characters: ${described}`)
}

describe('by their schemas', () => {
  const nodes = (schema: Schema, at: string): [string, Schema][] => [
    [at, schema],
    ...(schema.anyOf ?? []).flatMap((s, i) => nodes(s, `${at}|${i}`)),
    ...(schema.items ? nodes(schema.items, `${at}[]`) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, s]) => nodes(s, `${at}.${name}`)),
  ]
  const all = operations.flatMap((op) => (op.body ? nodes(op.body as Schema, op.id) : []))
  test('bodies say of every object whether it takes fields that are not listed', () => {
    expect(
      all.filter(([, s]) => s.type === 'object' && s.additionalProperties === undefined).map(([at]) => at),
    ).toEqual([])
  })
  test('texts, lists and numbers in bodies have an end', () => {
    const endless = ({ type, enum: listed, const: only, format, maxLength, maxItems, maximum, pattern }: Schema) =>
      only === undefined &&
      ((type === 'string' &&
        !listed &&
        !format &&
        maxLength === undefined &&
        !/\{(\d*,)?\d+\}\$$/.test(pattern ?? '')) ||
        (type === 'array' && maxItems === undefined) ||
        ((type === 'integer' || type === 'number') && !(maximum! <= Number.MAX_SAFE_INTEGER)))
    expect(all.filter(([, s]) => endless(s)).map(([at]) => at)).toEqual([])
  })
})

describe('keys that mean something to JavaScript', () => {
  test('are fields like any other that is not listed: refused by name, and nothing gets a new prototype', async () => {
    using p: World = await world()
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      const { status, body } = await p.call(
        p.owner,
        'POST',
        '/admin/node-groups',
        `{"name":"Lab","${key}":{"open":false,"isAdmin":true}}`,
      )
      expect([status, body.error.details.fields[0].field]).toEqual([422, key])
      expect((await p.call(p.owner, 'GET', `/admin/servers?${key}=1`)).body.error.code).toBe('invalid_request')
    }
    expect(({} as any).isAdmin).toBeUndefined()
  })
  test('a name that stands there twice counts once, the last, for validation, change and audit alike', async () => {
    using p: World = await world()
    const { body } = await p.call(
      p.owner,
      'POST',
      '/admin/node-groups',
      '{"name":"First","name":"Second","open":false}',
    )
    expect(body).toMatchObject({ name: 'Second', open: false })
    expect(p.auditLines().at(-1)?.details).toEqual({ name: 'Second', open: false })
    expect((await p.call(p.owner, 'POST', '/admin/node-groups', '{"name":"Third","name":7}')).status).toBe(422)
  })
})
