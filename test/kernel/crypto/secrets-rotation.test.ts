// S32: the key changes, and nobody notices but who has the old one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { getTableName } from 'drizzle-orm'
import { registry } from '../../../src/app/features.ts'
import { encryptedResponses } from '../../../src/kernel/api/idempotency.ts'
import { isEncrypted, keyOf, type Secrets, secretsFromFile, secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { keysInUse } from '../../../src/kernel/db/encrypted.ts'
import { openDb, write } from '../../../src/kernel/db/open.ts'
import { mailTo } from '../../../src/kernel/mail/mail.ts'
import { addImport } from '../../imports/record.ts'
import { addGpuHost, addGpuImage, addGpuOffer } from '../../support/nodes/gpus.ts'
import { codeOf, cookiesOf, finish, pending, person, withApp } from '../../support/second-factor.ts'
import { mailbox } from '../../support/services/mailbox.ts'
import { provider } from '../../support/services/provider.ts'
import { type Panel, world } from '../../support/world/panel.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

const encryptedColumns = registry.encrypted
type Database = Panel['db']['$client']
/** Every value in the whole database that has the form of an encrypted one, found without the list. */
function encryptedIn(db: Database) {
  const columns = db
    .query<{ table: string; column: string }, []>(
      "SELECT m.name AS 'table', c.name AS 'column' FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE " +
        "m.type = 'table'",
    )
    .all()
  return columns.flatMap(({ table, column }) =>
    db
      .query<{ value: unknown }, []>(`SELECT "${column}" AS value FROM "${table}"`)
      .all()
      .map(({ value }) => (typeof value === 'string' ? value.replace(/^"(.*)"$/, '$1') : value))
      .filter(isEncrypted)
      .map((value) => ({ where: `${table}.${column}`, value })),
  )
}
const listed = encryptedColumns.map(({ table, column }) => `${getTableName(table)}.${column.name}`)
const keysOf = (db: Database) => [...new Set(encryptedIn(db).map(({ value }) => keyOf(value)))]
/** Every encrypted value opened, by the list. */
const opened = (db: Panel['db'], secrets: Secrets) =>
  encryptedColumns.flatMap(({ table, field, about }) =>
    db
      .select()
      .from(table)
      .all()
      .filter((row: any) => isEncrypted(row[field]))
      .map((row: any) => `${about(row)}: ${secrets.open(about(row), row[field])}`),
  )

const ROTATE = '/admin/settings/secrets/actions/rotate'
const once = { 'Idempotency-Key': 'order-1842' }

/** Something encrypted in every column that has such. */
async function encryptedWorld() {
  const p = await world()
  const post = await mailbox()
  await post.serve(p)
  const idp = await provider(p.now)
  await p.call(p.owner, 'PUT', '/admin/settings/sign-in', { ...idp.settings, issuer: idp.issuer, for: ['customer'] })
  const going = await p.call(undefined, 'POST', '/sessions/provider', {})
  const cal = person(p)
  const otpApp = await withApp(p, cal)
  const { body: answered } = await p.call(p.owner, 'POST', '/admin/servers', p.order, once)
  await p.settle()
  const webhook = { url: 'https://hooks.example.com/berth', events: ['*'] }
  const { body: hook } = await p.call(p.owner, 'POST', '/webhooks', webhook)
  await p.call(p.owner, 'POST', `/webhooks/${hook.id}/actions/rotate-secret`, {})
  const { id: targetId } = await p.admin('POST', '/admin/backup-targets/rest', {
    name: 'Oslo',
    address: 'https://backups.example.com:8000/node1/',
    login: 'node1',
    secret: 'Kj38sLq0pWz7',
  })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/set-node-login`, {
    nodeId: p.node.id,
    login: 'fra-01',
    secret: 'Kj38sLq0pWz6',
  })
  const gpuImage = await addGpuImage(p, { registryUsername: 'berth', registryPassword: 'Kj38sLq0pWz8' })
  addGpuHost(p, p.location, 1)
  const { instanceId } = await p.admin('POST', '/admin/gpu-instances', {
    ownerId: p.customer.id,
    offerId: await addGpuOffer(p, { imageIds: [gpuImage] }),
    nodeGroupId: p.location,
  })
  await p.settle()
  await p.admin('PUT', `/gpu-instances/${instanceId}/environment`, {
    environment: ['TOKEN=Kj38sLq0pWz9'],
    command: null,
  })
  await p.admin('POST', `/servers/${answered.serverId}/backups`, {})
  await p.settle()
  addImport(p)
  await post.deliver(p)
  write(p.db, (tx) =>
    mailTo(
      tx,
      p.controller.app,
      { email: 'a@b.test', name: 'A' },
      { subject: 'S', paragraphs: ['Paragraph of the letter'] },
    ),
  )
  const close = p.close
  const dispose = () => {
    post.close()
    idp.stop()
    close()
  }
  return Object.assign(p, { post, idp, going, cal, otpApp, answered, [Symbol.dispose]: dispose })
}

describe('S32: what is encrypted', () => {
  test('stands in the columns of the list, in each of them, and in none beside', async () => {
    using p = await encryptedWorld()
    expect([...new Set(encryptedIn(p.db.$client).map(({ where }) => where))].toSorted()).toEqual(listed.toSorted())
  })
  test('is counted by its key', async () => {
    using p = await encryptedWorld()
    expect([...keysInUse(p.db, encryptedColumns)]).toEqual([['k1', encryptedIn(p.db.$client).length]])
  })
})

describe('S32: after a rotation', () => {
  test('everything is encrypted with the new key and opens as what it was; the old key opens nothing', async () => {
    using p = await encryptedWorld()
    const { secrets } = p.controller.app
    const before = opened(p.db, secrets)
    const n = encryptedIn(p.db.$client).length
    expect(n).toBeGreaterThanOrEqual(4)
    const { key, encrypted, setAside } = await p.admin('POST', ROTATE)
    expect([encrypted, setAside, key]).toEqual([n, ['k1'], secrets.keyIds()[0]])
    expect(secrets.keyIds()).toEqual([key])
    expect(keysOf(p.db.$client)).toEqual([key])
    expect(opened(p.db, secrets)).toEqual(before)

    const stolen = secretsWith(Buffer.alloc(32, 7))
    for (const { about, table, field } of encryptedColumns)
      for (const row of p.db.select().from(table).all() as any[])
        if (isEncrypted(row[field])) {
          expect(() => stolen.open(about(row), row[field])).toThrow()
          expect(() => stolen.open(about(row), row[field].replace(key, 'k1'))).toThrow()
        }
    expect(p.auditLines().at(-1)).toMatchObject({ operation: 'secrets.rotate', actorName: 'System', result: 'done' })
  })
  test('codes of the app and recovery codes sign in, waiting mail leaves, and a key replays its answer', async () => {
    using p = await encryptedWorld()
    await p.admin('POST', ROTATE)
    expect((await finish(p, { code: codeOf(p, p.otpApp.secret) }, await pending(p, p.cal.email))).status).toBe(201)
    expect((await finish(p, { recoveryCode: p.otpApp.recoveryCodes[0] }, await pending(p, p.cal.email))).status).toBe(
      201,
    )
    // The way to the identity provider and back was begun before it.
    p.idp.is({ sub: 'cal-1', email: p.cal.email, email_verified: true })
    p.db.$client.run("INSERT INTO account_identities VALUES ('idn_1', ?, ?, 'cal-1', 1, 1)", [p.cal.id, p.idp.issuer])
    const back = new URL((await fetch(p.going.body.url, { redirect: 'manual' })).headers.get('Location')!).searchParams
    const Cookie = `__Host-panel-provider=${cookiesOf(p.going)['__Host-panel-provider']}`
    const came = await p.call(
      undefined,
      'POST',
      '/sessions/from-provider',
      { code: back.get('code'), state: back.get('state') },
      { Cookie },
    )
    expect([came.status, came.body.accountId]).toEqual([201, p.cal.id])
    await p.post.deliver(p)
    const mailContent = p.post.taken.filter(({ to }) => to === 'a@b.test')
    expect(mailContent).toMatchObject([{ text: expect.stringContaining('Paragraph of the letter') }])
    const again = await p.call(p.owner, 'POST', '/admin/servers', p.order, once)
    expect([again.status, again.body, again.headers.get('Idempotency-Replayed')]).toEqual([201, p.answered, 'true'])
  })
  test(
    'settings whose key is away count as not set, so that people can sign in and the operator can set them ' + 'anew',
    async () => {
      using p = await encryptedWorld()
      p.db.$client.run(
        "UPDATE settings SET value = replace(value, 'k1.', '2026-01-31-00c0ffee.') WHERE value LIKE '\"k1.%'",
      )
      expect((await p.call(undefined, 'GET', '/sessions/provider')).body).toEqual({ label: null, linkable: false })
      expect((await p.call(p.owner, 'GET', '/admin/settings/sign-in')).body).toMatchObject({ issuer: null })
      await p.post.serve(p)
      expect((await p.call(p.owner, 'DELETE', '/admin/settings/sign-in')).status).toBe(200)
      expect(await p.admin('POST', ROTATE)).toMatchObject({ setAside: ['k1'] })
    },
  )
  test('a cursor from before it is refused in words, and the list starts again', async () => {
    using p = await encryptedWorld()
    p.account('customer', 'Bo')
    const list = (cursor = '') => p.call(p.owner, 'GET', `/admin/customers?limit=1${cursor && `&cursor=${cursor}`}`)
    const { nextCursor } = (await list()).body
    p.controller.app.secrets.addKey(p.now())
    expect((await list(nextCursor)).status).toBe(200)
    await p.admin('POST', ROTATE)
    expect((await list(nextCursor)).body.error).toMatchObject({ code: 'invalid_request' })
    expect((await list((await list()).body.nextCursor)).status).toBe(200)
  })
})

describe('S32: a rotation', () => {
  test('that found a value which does not open changes nothing, and names its table', async () => {
    using p = await encryptedWorld()
    p.db.$client.run(
      "UPDATE idempotency SET answer = (SELECT encrypted_payload FROM deliveries WHERE encrypted_payload <> '')",
    )
    const before = [p.fingerprint(), JSON.stringify(encryptedIn(p.db.$client))]
    await expect(p.admin('POST', ROTATE)).rejects.toThrow(
      /key_file_not_usable.*A value in idempotency does not open with the key k1.*Nothing was changed/,
    )
    expect([p.fingerprint(), JSON.stringify(encryptedIn(p.db.$client))]).toEqual(before)
    expect(p.controller.app.secrets.keyIds()).toEqual(['k1'])
  })
  test('that found a key missing changes nothing, and names the key', async () => {
    using p = await encryptedWorld()
    p.db.$client.run(
      "UPDATE deliveries SET encrypted_payload = replace(encrypted_payload, 'k1.', '2026-01-31-00c0ffee.')",
    )
    const before = [p.fingerprint(), JSON.stringify(encryptedIn(p.db.$client))]
    await expect(p.admin('POST', ROTATE)).rejects.toThrow(
      'Something is encrypted with the key 2026-01-31-00c0ffee, and the key file has the key k1 only.',
    )
    expect([p.fingerprint(), JSON.stringify(encryptedIn(p.db.$client))]).toEqual(before)
    expect(p.controller.app.secrets.keyIds()).toEqual(['k1'])
  })
  test('that was cut short goes on with the key it made', async () => {
    using p = await encryptedWorld()
    const { secrets } = p.controller.app
    secrets.addKey(p.now())
    const [key] = secrets.keyIds()
    expect(await p.admin('POST', ROTATE)).toMatchObject({ key, setAside: ['k1'] })
    expect(keysOf(p.db.$client)).toEqual([key!])
  })
  test('twice at once agrees on one key', async () => {
    using p = await encryptedWorld()
    const [a, b] = await Promise.all([p.admin('POST', ROTATE), p.admin('POST', ROTATE)])
    expect(b.key).toBe(a.key)
    expect([...a.setAside, ...b.setAside]).toEqual(['k1'])
    expect(keysOf(p.db.$client)).toEqual([a.key])
  })
  test('misses nothing that is encrypted while it goes on', async () => {
    using p = await encryptedWorld()
    let going = true
    const rotating = p.admin('POST', ROTATE).finally(() => void (going = false))
    const keys: string[] = []
    do {
      keys.push(`during-${keys.length}`)
      const body = { name: 'Bo', email: `bo${keys.length}@customer.test` }
      expect(
        (await p.call(p.owner, 'POST', '/admin/customers', body, { 'Idempotency-Key': keys.at(-1)! })).status,
      ).toBe(201)
      await Bun.sleep(0)
    } while (going)
    const { key } = await rotating
    expect(keysOf(p.db.$client)).toEqual([key])
    expect(opened(p.db, p.controller.app.secrets).filter((text) => text.includes('during-')).length).toBe(keys.length)
  })
})

describe('S32: as processes', () => {
  const MANY = 8000
  /** With the mail that tells of the token: it waits for a mail server. */
  const ALL = MANY + 1
  let live: Installation
  let file: string
  let token: string
  beforeAll(async () => {
    live = await installation()
    file = `${live.dir}/secret.key`
    // An installation of an older Berth.
    openDb(`${live.dir}/berth.db`).$client.close()
    writeFileSync(file, `${'5a'.repeat(32)}\n`, { mode: 0o600 })
    token = await live.staffToken()
    const db = openDb(`${live.dir}/berth.db`)
    const secrets = secretsFromFile(file)
    write(db, (tx) => {
      const keep = tx.$client.prepare(
        'INSERT INTO idempotency (account_id, operation, key, status, answer, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      )
      for (let i = 0; i < MANY; i++) {
        const of = { accountId: 'usr_x', operation: 'servers.create', key: `k${i}` }
        const answer = secrets.encrypt(
          encryptedResponses.about(of),
          JSON.stringify({ rootPassword: `pass ${i}`, more: 'x'.repeat(100) }),
        )
        keep.run(of.accountId, of.operation, of.key, 201, answer, Date.now())
      }
    })
    db.$client.close()
  }, 60_000)
  afterAll(() => live.close())

  const run = (...args: string[]) => berth(args, live.env)
  const rotate = () =>
    Bun.spawn([...live.program, 'secrets', 'rotate'], {
      env: { ...process.env, ...live.env },
      stdout: 'pipe',
      stderr: 'pipe',
    })
  const ids = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (line.includes(' ') ? line.split(' ')[0]! : 'k1'))
  /** Every secret, decrypted with the keys of the file. */
  function everything(secrets = secretsFromFile(file)) {
    const db = openDb(`${live.dir}/berth.db`)
    try {
      return opened(db, secrets)
    } finally {
      db.$client.close()
    }
  }
  const logs = async () =>
    (await Promise.all([...Array(12).keys()].map((i) => live.log(`controller-${i}`).catch(() => '')))).join('')
  function keysUsed() {
    const db = openDb(`${live.dir}/berth.db`)
    const used = keysOf(db.$client)
    db.$client.close()
    return used
  }
  const begun = async (child: ReturnType<typeof rotate>, before: string) => {
    while (readFileSync(file, 'utf8') === before && child.exitCode === null) await Bun.sleep(1)
  }

  /** Waits until the first values have the new key; most still have the old one. */
  const reencrypting = async (child: ReturnType<typeof rotate>, before: string) => {
    await begun(child, before)
    const db = openDb(`${live.dir}/berth.db`)
    const first = db.$client.query("SELECT 1 FROM idempotency WHERE answer NOT LIKE 'k1.%' LIMIT 1")
    while (first.get() === null && child.exitCode === null) await Bun.sleep(1)
    child.kill('SIGSTOP')
    db.$client.close()
  }

  test('kill -9 again and again, at any moment: everything opens with what the file has, and the last run ' +
    'finishes', async () => {
    const before = everything()
    expect(before.length).toBe(ALL)
    const stolen = secretsWith(Buffer.alloc(32, 0x5a))
    const text = readFileSync(file, 'utf8')
    // Rubbish of one that died while it wrote the file.
    writeFileSync(`${file}.new`, 'half a li')
    let killed = 0
    for (let i = 0; i < 12; i++) {
      const child = rotate()
      if (i) await Bun.sleep(200 + i * 40)
      else await reencrypting(child, text)
      if (child.exitCode === null) killed++
      child.kill('SIGKILL')
      await child.exited
      expect(everything()).toEqual(before)
      if (i === 0) expect([ids().length, keysUsed().length]).toEqual([2, 2])
      expect(ids().length).toBeLessThanOrEqual(2)
      if (ids().length === 1) break
    }
    expect(killed).toBeGreaterThan(0)
    if (ids().length > 1) expect((await run('secrets', 'rotate')).code).toBe(0)
    expect(ids().length).toBe(1)
    expect(ids()).not.toEqual(['k1'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(everything()).toEqual(before)
    expect(() => everything(stolen)).toThrow('encrypted with the key')
  }, 120_000)

  test('it says what it did, and is in the audit log', async () => {
    const [old] = ids()
    const { code, out, error } = await run('secrets', 'rotate')
    expect([code, error]).toEqual([0, ''])
    expect(out).toBe(
      `${ALL} values re-encrypted with the key ${ids()[0]}. The key ${old} is a former key, for ` +
        'earlier backups: copy the key file and the file beside it to where you keep them.',
    )
    const { data } = await live.admin('audit.list', { query: { operation: 'secrets.rotate', limit: '1' } })
    expect(data).toMatchObject([{ operation: 'secrets.rotate', actor: { name: 'System' }, result: 'done' }])
  }, 60_000)

  test('a backup from before a rotation opens after a restore; its key stays until nothing needs it', async () => {
    const [old] = ids()
    const before = everything()
    const backup = `${live.dir}/before.db`
    for (const args of [
      ['backup', 'create', backup],
      ['secrets', 'rotate'],
      ['backup', 'restore', backup, '--discard-newer'],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 0])
    expect(keysUsed()).toEqual([old!])
    expect(everything()).toEqual(before)
    expect((await run('secrets', 'list')).out).toMatch(
      new RegExp(`^${ids()[0]}  in the key file; 0 values in the database\n${old}  former key; ${ALL} values`),
    )
    const refused = await run('secrets', 'drop', old!)
    expect([refused.code, refused.error]).toEqual([
      1,
      `former_key_in_use: Something in the database is encrypted with the key ${old}.`,
    ])
    expect(everything()).toEqual(before)
    expect((await run('secrets', 'rotate')).code).toBe(0)
    expect((await run('secrets', 'drop', old!)).out).toBe(`The key ${old} is gone.`)
    expect(everything()).toEqual(before)
    expect((await run('secrets', 'list')).out).not.toContain(old!)
  }, 60_000)

  test('a running controller serves on meanwhile, and knows the new key at once', async () => {
    const child = await live.serve()
    const made: { key: string; email: string; body: unknown }[] = []
    let slowest = 0
    let going = true
    const began = performance.now()
    let tookMs = 0
    const rotation = run('secrets', 'rotate').finally(() => {
      going = false
      tookMs = performance.now() - began
    })
    do {
      const [key, email] = [`live-${made.length}`, `live${made.length}@example.com`]
      const start = performance.now()
      const { status, body } = await live.api(
        token,
        'POST',
        '/admin/customers',
        { name: 'Cal', email },
        { 'Idempotency-Key': key },
      )
      slowest = Math.max(slowest, performance.now() - start)
      expect(status).toBe(201)
      made.push({ key, email, body })
      await Bun.sleep(20)
    } while (going)
    expect((await rotation).out).toContain('values re-encrypted')
    expect(ids().length).toBe(1)
    for (const { key, email, body } of made) {
      const again = await live.api(
        token,
        'POST',
        '/admin/customers',
        { name: 'Cal', email },
        { 'Idempotency-Key': key },
      )
      expect([again.body, again.headers.get('Idempotency-Replayed')]).toEqual([body, 'true'])
    }
    // Batches of a hundred rows take some milliseconds; this much is the machine's, which may be slow.
    expect(slowest).toBeLessThan(Math.max(1000, tookMs / 2))

    // The controller dies in the middle, and one is there again while the command goes on by itself.
    const text = readFileSync(file, 'utf8')
    const second = rotate()
    await begun(second, text)
    child.kill('SIGKILL')
    await child.exited
    const next = await live.serve()
    const { key, email, body } = made[0]!
    const again = await live.api(token, 'POST', '/admin/customers', { name: 'Cal', email }, { 'Idempotency-Key': key })
    expect(again.body).toEqual(body)
    const fresh = await live.api(
      token,
      'POST',
      '/admin/customers',
      { name: 'Di', email: 'di@example.com' },
      { 'Idempotency-Key': 'fresh' },
    )
    expect(await second.exited).toBe(0)
    if (ids().length > 1) expect((await run('secrets', 'rotate')).code).toBe(0)
    expect(ids().length).toBe(1)
    const replay = await live.api(
      token,
      'POST',
      '/admin/customers',
      { name: 'Di', email: 'di@example.com' },
      { 'Idempotency-Key': 'fresh' },
    )
    expect([replay.body, replay.headers.get('Idempotency-Replayed')]).toEqual([fresh.body, 'true'])
    expect(everything().length).toBe(ALL + made.length + 1)
    next.kill('SIGTERM')
    await next.exited
  }, 120_000)

  test('a key file that is away: nothing starts, none is made in its place, and the words say which key is ' +
    'needed', async () => {
    const before = everything()
    const [needed] = ids()
    renameSync(file, `${file}.away`)
    for (const args of [['secrets', 'rotate'], ['admin', 'nodes.list'], ['serve']]) {
      const { code, out, error } = await run(...args)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(error).toStartWith(
        `key_file_not_usable: There is no key file ${file}, and the database holds what is encrypted with the ` +
          `key ${needed}.`,
      )
      expect(existsSync(file)).toBe(false)
    }
    renameSync(`${file}.away`, file)
    expect(everything()).toEqual(before)
  }, 60_000)

  test('an older key file: the controller says which key is missing and heals when it comes; a rotation changes ' +
    'nothing', async () => {
    const [needed] = ids()
    await live.admin('mail.configure', {
      host: '127.0.0.1',
      port: 9,
      from: 'panel@example.com',
      password: 'of the server',
    })
    const right = readFileSync(file, 'utf8')
    const older = `${'5a'.repeat(32)}\n`
    writeFileSync(file, older)
    const { code, out, error } = await run('secrets', 'rotate')
    expect([code, out]).toEqual([1, ''])
    expect(error).toContain(
      `key_file_not_usable: Something is encrypted with the key ${needed}, and the key file has the key k1 only. ` +
        'Nothing was changed.',
    )
    expect(readFileSync(file, 'utf8')).toBe(older)

    const child = await live.serve()
    const replay = () =>
      live.api(
        token,
        'POST',
        '/admin/customers',
        { name: 'Di', email: 'di@example.com' },
        { 'Idempotency-Key': 'fresh' },
      )
    expect((await replay()).status).toBe(500)
    // It goes on without what it cannot read: the delivery queue looks every five seconds.
    await live.until('the round of mail', async () => (await logs()).includes('the setting mail.server cannot be read'))
    expect(child.exitCode).toBe(null)
    rmSync(file)
    writeFileSync(file, right, { mode: 0o600 })
    expect((await replay()).headers.get('Idempotency-Replayed')).toBe('true')
    child.kill('SIGTERM')
    await child.exited
    expect(await logs()).toContain(
      `What is encrypted with the key ${needed} cannot be read: ${file} has the key k1 only.`,
    )
  }, 60_000)
})
