// Text from people stays text on every page. The test plants strings that would be markup or script through every
// operation that stores free text, then opens every page as every kind of person, in Chromium over the compiled
// program.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import ssh2 from 'ssh2'
import { LINE } from '../../../agent/protocol/text.ts'
import { operations, registry } from '../../../src/app/features.ts'
import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import { keepProvider } from '../../../src/identity/auth/identity-provider/provider-setting.ts'
import { cookieName } from '../../../src/identity/auth/sessions/cookies.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { REASON, SEEN_LINE } from '../../../src/kernel/api/validate.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { launch, open, screens } from '../../support/browser.ts'
import { type Everything, everyId, everything, exampleOf, targetsOf } from '../../support/world/everything.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { invite, share } from '../../support/world/team.ts'

/** Out of an attribute, out of an element, into what Alpine and htmx read, and what a browser would follow or run. */
const tricks = [
  'javascript:xss()//{{xss()}}`+xss()',
  '" x-init="xss()" hx-on:click="xss()" onfocus="xss()',
  '</script><script>xss()</script><svg onload=xss()>',
  // Last, so that it stays where only one value fits.
  `"'></title></textarea><img src=x onerror=xss()>`,
]
/** Elements that no planted string may become. */
const live = [
  'img[src=x]',
  '[onerror],[onload],[onfocus]',
  'script:not([src])',
  '[x-init]',
  '[action^="javascript:" i]',
  '[hx-on\\:click]',
].join(',')

/** Of test/support/world/panel.ts: what it encrypted, the program opens. */
const key = Buffer.alloc(32, 7)

type Role = { name: string; cookie: string | undefined }
let panel: Installation
let browser: Browser
let roles: Role[]
/** `operation field` → the values that were accepted there. */
let planted: Map<string, string[]>
let ids: Record<string, string[]>
let joinToken = ''

/** The titles of the schemas for text that people read. */
const lineTitles: ReadonlySet<unknown> = new Set([LINE, SEEN_LINE, REASON])

/** Free text of a body: one line for people, not secret. `operation field` → the value's place. */
function textFields(schema: any, path: readonly string[] = []): { path: readonly string[]; most: number }[] {
  const one = schema.anyOf?.find((variant: any) => variant.type === 'string') ?? schema
  if (lineTitles.has(one.title)) return schema.writeOnly ? [] : [{ path, most: one.maxLength }]
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => textFields(inner, [...path, name]))
}

function bodyWith(example: object | undefined, path: readonly string[], value: string) {
  const body = structuredClone(example ?? {}) as any
  let at = body
  for (const part of path.slice(0, -1)) at = at[part] ??= {}
  at[path.at(-1)!] = value
  return body
}

/** Fills in the values that an example cannot know: free names, and ids of existing things. */
function fitting(p: Everything, body: any, field: string, n: number) {
  const there = (name: string) => name in body && field !== name
  if (there('email')) body.email = `m${n}@planted.test`
  if (there('hostname')) body.hostname = `h${n}`
  if (there('externalId')) body.externalId = `e${n}`
  if (there('name')) body.name = `${n} ${body.name}`
  if (there('publicKey')) body.publicKey = `ssh-ed25519 ${Buffer.concat([head, randomBytes(32)]).toString('base64')}`
  if (body.address?.startsWith('sftp:')) body.secret = ssh2.utils.generateKeyPairSync('ed25519').private
  if (there('network'))
    Object.assign(body, {
      network: `10.1.${n % 256}.0/24`,
      gateway: `10.1.${n % 256}.1`,
      first: undefined,
      last: undefined,
      nodeIds: [],
    })
  if (there('account'))
    body.account = p.db.$client
      .query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?')
      .get(p.customer.id)!.email
  if (there('role')) body.role = 'Owner'
  delete body.senderAddress
  if (there('supportLink')) delete body.supportLink
  return body
}
/** An Ed25519 key before its 32 bytes (RFC 8709): its type and its length. */
const head = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')

/**
 * Calls everything that keeps free text, as each kind of account that may, with every trick in every such field. What
 * stops others comes last.
 */
async function plant(p: Everything) {
  const kept = new Map<string, string[]>()
  let n = 0
  const order = ({ id }: Operation) => {
    // Orders take the addresses that could be reserved.
    if (id === 'pools.reserve') return -1
    return id.endsWith('.reset-second-factor') ? 2 : Number(/lock|suspend/.test(id))
  }
  for (const op of [...operations].sort((a, b) => order(a) - order(b))) {
    if (!op.body || op.access === 'anyone' || op.id === 'support.open') continue
    for (const { path, most } of textFields(op.body))
      for (const kind of accountKinds) {
        if (!op.access[kind]) continue
        const found = everyId(p)
        // The worst also first, for what is done once.
        for (const trick of [tricks.at(-1)!, ...tricks]) {
          // Each is told from the others by its number.
          const value = `${trick}//${++n}`
          if (value.length > most) continue
          const plant = async (target: string, example: object | undefined) =>
            (
              await p.call(
                p.people[kind],
                op.method,
                op.path.replace(/\{\w+\}/, target),
                fitting(p, bodyWith(example, path, value), path[0]!, n),
              )
            ).status < 300
          // Taking off somebody's second factor ends the sessions that go on here.
          for (const target of op.on ? targetsOf(p, op, found) : [''])
            if (
              op.id.endsWith('.reset-second-factor') &&
              [...Object.values(p.people), p.resold].some(({ id }) => id === target)
            )
              continue
            else if ((await plant(target, undefined)) || (await plant(target, exampleOf(p, op, found)))) {
              const name = `${op.id} ${path.join('.')}`
              kept.set(name, [...(kept.get(name) ?? []), value])
              break
            }
        }
      }
  }
  return kept
}

beforeAll(async () => {
  const p = await everything()
  const one = tricks.at(-1)!
  p.addImage(`Image ${one}`)
  // Each text of an order takes an address.
  const network = { network: '192.0.2.0/24', gateway: '192.0.2.1' }
  await p.admin('POST', '/admin/ip-pools', { name: 'for orders', ...network, nodeIds: [p.node.id] })
  planted = await plant(p)
  // Each call writes the whole brand, so the field that was planted first is gone.
  for (const [who, id, path] of [
    [p.owner, 'branding', '/admin/settings/branding'],
    [p.people.reseller, 'reseller-branding', '/reseller/branding'],
  ] as const) {
    const last = (field: string) => planted.get(`${id}.set ${field}`)!.at(-1)
    const brand = { name: last('name'), senderName: last('senderName') }
    expect([id, (await p.call(who, 'PUT', path, brand)).status]).toEqual([id, 200])
  }
  const friend = p.account('customer', `Friend ${one}`)
  await share(p, p.customer, friend, 'manage')
  joinToken = (await invite(p, p.customer, 'new@planted.test')).token
  const reader = p.staff(
    ['servers.see_all', 'customers.read', 'nodes.read', 'audit.read', 'reports.read'],
    `Reader ${one}`,
  )
  const helper = p.staff(undefined, `Helper ${one}`)
  const opened = await p.call(helper, 'POST', `/customers/${p.customer.id}/support-session`, { reason: one })
  expect(opened.status).toBe(201)
  // Some texts come by no operation: user agents of browsers, facts of nodes, identities from a provider.
  const sql = (text: string, ...values: string[]) => p.db.$client.run(text, values)
  sql('UPDATE sessions SET user_agent = ?', `Agent ${one}`)
  sql(
    "UPDATE nodes SET facts = json_set(facts, '$.hostname', ?1, '$.os', ?1, '$.kernel', ?1, '$.cpu.model', ?1, " +
      "'$.agentVersion', ?1)",
    one,
  )
  sql(
    'INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at) ' +
      "VALUES (?, ?, 'x', 'x', 0, '[]', ?, 1)",
    newId('pky'),
    p.owner.id,
    `Passkey ${one}`,
  )
  sql('UPDATE job_log SET text = ? WHERE n = 1', `Log ${one}`)
  sql(
    "UPDATE jobs SET state = 'failed', error_code = 'x', error_message = ?, cancel_requested_at = 1, " +
      "cancel_by_type = 'person', cancel_by_id = 'x', cancel_by_name = ?, cancel_reason = ? " +
      'WHERE id = (SELECT max(id) FROM jobs)',
    `Error ${one}`,
    `Canceller ${one}`,
    `Reason ${one}`,
  )
  sql(
    "UPDATE workloads SET failure = ?, lifecycle = 'failed' WHERE id = (SELECT max(id) FROM servers WHERE " +
      'image_id IS NOT NULL)',
    `Failure ${one}`,
  )
  const secrets = secretsWith(key)
  write(p.db, (tx) =>
    keepProvider(tx, secrets, {
      issuer: 'https://id.test',
      clientId: 'x',
      clientSecret: null,
      for: ['customer'],
      label: `Provider ${one}`,
    }),
  )
  const first = (table: string) =>
    p.db.$client
      .query<{ id: string }, []>(`SELECT id FROM ${table} ORDER BY id LIMIT 2`)
      .all()
      .map((r) => r.id)
  const idsOf = (query: string) =>
    p.db.$client
      .query<{ id: string }, []>(query)
      .all()
      .map((r) => r.id)
  // The orders of staff and those of a reseller are of different owners.
  const withBilling = idsOf(
    "SELECT max(id) AS id FROM workloads WHERE kind = 'server' AND billing_service_id <> '' GROUP BY owner_id",
  )
  const withComment = idsOf("SELECT server_id AS id FROM snapshots WHERE comment <> '' LIMIT 1")
  ids = {
    servers: [...new Set([...first('servers'), ...withBilling, ...withComment])],
    jobs: first('jobs'),
    customers: p.db.$client
      .query<{ id: string }, []>("SELECT id FROM accounts WHERE kind <> 'staff' LIMIT 2")
      .all()
      .map((r) => r.id),
    resellers: [p.people.reseller.id],
    nodes: first('nodes'),
    'ip-pools': first('pools'),
    enroll: first('enrollments'),
    gpu: first('gpu_instances'),
    'gpu-instances': first('gpu_instances'),
  }
  roles = [
    { name: 'owner', cookie: p.owner.cookie },
    { name: 'reading staff', cookie: reader.cookie },
    { name: 'support', cookie: opened.headers.get('Set-Cookie')!.split(/[=;]/)[1]! },
    { name: 'reseller', cookie: p.people.reseller.cookie },
    { name: 'its customer', cookie: p.resold.cookie },
    { name: 'customer', cookie: p.customer.cookie },
    { name: 'team member', cookie: friend.cookie },
    { name: 'nobody', cookie: undefined },
  ]
  panel = await installation()
  // The compiled program does not have the feature of the tests.
  for (const text of ["DELETE FROM migrations WHERE name = '9000_lamps'", 'DROP TABLE lamps']) p.db.$client.run(text)
  p.db.$client.run('VACUUM INTO ?', [`${panel.dir}/berth.db`])
  p.close()
  writeFileSync(`${panel.dir}/secret.key`, key.toString('hex'), { mode: 0o600 })
  await panel.serve()
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await panel?.close()
})

/**
 * A browser as this role, that tells when a script of ours ran, a dialog opened, a policy was violated or something was
 * said.
 */
async function visitor(cookie: string | undefined) {
  const { context, page, complaints } = await open(browser, screens[0]!, panel.url)
  const found: string[] = complaints
  if (cookie) await context.addCookies([{ name: cookieName(panel.url), value: cookie, url: panel.url }])
  await context.exposeFunction('xss', (what = 'a script ran') => void found.push(what))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      (globalThis as any).xss(`policy: ${event.violatedDirective}`),
    )
  })
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return {
    page,
    found,
    close: () => context.close(),
    /** The text of the page as a person reads it, values of fields included. */
    async read(path: string): Promise<string> {
      await page.goto(path)
      const { grown, text } = await page.evaluate((live) => {
        const fields = [...document.querySelectorAll('input, textarea')].map(
          (field) => (field as HTMLInputElement).value,
        )
        return {
          grown: [
            ...document.querySelectorAll(live),
            ...[...document.links].filter((link) => /^(javascript|data):/.test(link.protocol)),
          ].map((element) => element.outerHTML.slice(0, 200)),
          text: [document.title, document.body.textContent, ...fields].join('\n'),
        }
      }, live)
      found.push(...grown)
      return text
    },
  }
}

/** Every address of a page: with each id there is, and with a trick where a link would have its secret. */
const addressesOf = (path: string): string[] => {
  const collection = /([\w-]+)\/\{\w+\}/.exec(path)?.[1]
  if (path === '/join') return [`/join?token=${joinToken}`, `/join?token=${encodeURIComponent(tricks[1]!)}`]
  if (collection && !ids[collection]) return [path.replace(/\{\w+\}/, encodeURIComponent(tricks.at(-1)!))]
  return collection ? ids[collection]!.map((id) => path.replace(/\{\w+\}/, id)) : [path]
}
const asked = (path: string) => {
  const trick = encodeURIComponent(tricks.at(-1)!)
  const query = ['q', 'next', 'refused', 'status', 'target'].map((name) => `${name}=${trick}`).join('&')
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

test('the detector sees a script that runs, one that the policy stops, and what only would run when it is ' +
  'touched', async () => {
  const visit = await visitor(undefined)
  const serve = (path: string, body: string, headers: Record<string, string> = {}) =>
    visit.page.route(`${panel.url}${path}`, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<!doctype html><title>t</title>${body}`, headers }),
    )
  await serve('/runs', '<img src=x onerror=xss()>')
  await visit.read('/runs')
  await Bun.sleep(100)
  expect(visit.found).toContain('a script ran')
  visit.found.length = 0
  await serve('/stopped', '<script>xss()</script>', { 'Content-Security-Policy': "script-src 'none'" })
  await visit.read('/stopped')
  await Bun.sleep(100)
  expect(visit.found.join()).toContain('policy: script-src')
  visit.found.length = 0
  for (const [i, markup] of [
    '<a href="&#9;JavaScript:xss()">x</a>',
    '<p x-init="xss()">',
    '<p hx-on:click=xss()>',
    '<p onfocus=xss()>',
  ].entries()) {
    await serve(`/grown${i}`, markup)
    await visit.read(`/grown${i}`)
    expect(visit.found.length).toBe(i + 1)
  }
  await visit.close()
}, 60_000)

test('every operation that keeps free text was reached', () => {
  const fields = operations.flatMap((op) =>
    op.body && op.access !== 'anyone' ? textFields(op.body).map(({ path }) => `${op.id} ${path.join('.')}`) : [],
  )
  expect(fields.filter((field) => !planted.has(field)).sort()).toEqual([
    // A link, which is never kept as it was typed.
    'branding.set supportLink',
    // The name of the node, typed once more.
    'drains.evacuate name',
    // Every card is sold by then; identifier and name are planted when they are changed.
    'gpu-instances.create billingServiceId',
    'gpu-instances.create-for-reseller billingServiceId',
    'gpu-instances.create-for-reseller name',
    'gpu-instances.order name',
    // They need a file, an open job, a second factor or a provider, or end the session that they are called by. What
    // most of them keep is planted by hand above.
    'images.import name',
    // The name of the server, typed once more.
    'import-servers.roll-back hostname',
    'jobs.cancel reason',
    // The name of the node, typed once more.
    'nodes.declare-lost name',
    'nodes.enroll vlans',
    'nodes.remove-with-workloads name',
    'nodes.stop-awaiting name',
    // With `open` as false alone; a drain writes the same reason.
    'nodes.update closedReason',
    'passkeys.create name',
    'reseller-branding.set supportLink',
    // A rule that is there; its name is planted when it is added.
    'servers.change-firewall-rule name',
    'settings.set name',
    'sign-in-provider.set clientId',
    'sign-in-provider.set label',
    // A snapshot that is there; its name and comment are planted when it is taken.
    'snapshots.update comment',
    'snapshots.update name',
    // The name of a role that is there.
    'staff.create role',
    'staff.update role',
    'support.open reason',
    'transfers.cancel reason',
    // A server has all the volumes that it may have; the name is planted when it is changed.
    'volumes.create name',
  ])
})

test('nothing that was typed becomes markup or script on any page for anybody, and it can be read there', async () => {
  const seen = new Set<string>()
  const opened = new Map<string, number>()
  const tricked = new Set<string>()
  const crawl = async ({ name, cookie }: Role) => {
    const headers: Record<string, string> = cookie ? { Cookie: `${cookieName(panel.url)}=${cookie}` } : {}
    const visit = await visitor(cookie)
    for (const { path } of registry.pages) {
      let shown = false
      for (const address of addressesOf(path).flatMap((a, i) => (i ? [a] : [a, asked(a)]))) {
        const answer = await fetch(`${panel.url}${address}`, { headers, redirect: 'manual' })
        const html = await answer.text()
        for (const trick of tricks)
          if (/[<>"]/.test(trick))
            expect({ name, address, raw: html.includes(trick) }).toEqual({ name, address, raw: false })
        // In the browser as everybody who gets the first, as the owner each, and once with the tricks in its address.
        if (answer.status !== 200 || (address.includes('refused=') ? tricked.has(path) : shown)) continue
        if (address.includes('refused=')) tricked.add(path)
        else shown = name !== 'owner'
        const text = await visit.read(address)
        for (const [field, values] of planted) if (values.some((value) => text.includes(value))) seen.add(field)
        expect({ name, address, found: visit.found }).toEqual({ name, address, found: [] })
        opened.set(name, (opened.get(name) ?? 0) + 1)
      }
    }
    await visit.close()
  }
  const waiting = [...roles]
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (let role = waiting.shift(); role; role = waiting.shift()) await crawl(role)
    }),
  )
  // Shown where a node is about to come, where one address of a pool is asked for, and until a drain begins.
  // Or while a message has not been sent, and while an import may tell owners.
  const elsewhere = [
    ...['nodes.enroll name', 'pools.reserve reservedFor', 'pools.retire-address reason', 'nodes.schedule-drain reason'],
    ...['messages.create audience.label', 'messages.change audience.label', 'imports.set-messages before.subject'],
  ]
  expect([...planted.keys()].filter((field) => !seen.has(field) && !elsewhere.includes(field))).toEqual([])
  expect([...opened.keys()].sort()).toEqual(roles.map((r) => r.name).sort())
}, 600_000)
