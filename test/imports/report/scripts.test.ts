// The scripts for billing systems, run by real PHP on copies of their tables, against a running Berth.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BillingSystem, billingSystemNames } from '../../../src/imports/report/scripts.ts'
import { note } from '../../drivers/tools.ts'
import { type Berth, berth, isPhpThere } from '../../integrations/berth.ts'
import { type Mariadb, mariadb, missingOfMariadb } from './mariadb.ts'
import { addMigrated } from './moved.ts'
import { inSqlite, shops } from './shops.ts'

const drivers = isPhpThere ? Bun.spawnSync(['php', '-r', 'echo implode(" ", PDO::getAvailableDrivers());']) : undefined
const isLeftOut = note(
  drivers?.stdout.toString().includes('sqlite') ? undefined : 'php-cli or php-sqlite3 not installed',
  'the scripts for billing systems',
)
const root = mkdtempSync(join(tmpdir(), 'berth-switch-'))

let p: Berth
let token: string
let ids: string[]
let emails: [string, string]
let ownerIds: [string, string]
let addresses: string[]
beforeAll(async () => {
  if (isLeftOut) return
  p = await berth()
  token = p.billing
  const other = await p.admin('POST', '/admin/customers', { name: 'Dora Other', email: 'dora@example.com' })
  ownerIds = [p.customer.id, other.id]
  emails = [(await p.admin('GET', `/customers/${p.customer.id}`)).email.toUpperCase(), 'dora@example.com']
  ids = []
  for (const [i, ownerId] of [ownerIds[0], ownerIds[0], ownerIds[1]].entries())
    ids.push(
      (await p.admin('POST', '/admin/servers', { ...p.order, ownerId, hostname: `s${501 + i}.example.com` })).serverId,
    )
  await p.settle()
  addresses = ['203.0.113.101', '203.0.113.102', '203.0.113.103']
})
afterAll(async () => {
  rmSync(root, { recursive: true, force: true })
  await p?.[Symbol.asyncDispose]()
})

const state = async () => ({
  servers: await Promise.all(ids.map(async (id) => (await p.admin('GET', `/servers/${id}`)).billingServiceId)),
  owners: await Promise.all(ownerIds.map(async (id) => (await p.admin('GET', `/customers/${id}`)).externalId)),
})
/** A billing system with the services 501 to 503, and the script of an import that has moved their servers. */
async function shop(system: BillingSystem, moved = 3, server?: Mariadb) {
  p.db.$client.run(
    'UPDATE workloads SET billing_service_id = id WHERE id IN (?, ?, ?)',
    ids as [string, string, string],
  )
  p.db.$client.run('UPDATE accounts SET external_id = NULL')
  const home = mkdtempSync(join(root, `${system}-`))
  const { id } = addMigrated(
    p,
    [1, 2, 3].map((n, i) => ({
      ...{ sourceId: String(n), hostname: `s${500 + n}.example.com`, address: addresses[i]! },
      ...(n <= moved ? { workloadId: ids[i]! } : { failed: 'It did not fit.' }),
    })),
  )
  const path = `/admin/migrations/${id}/report/scripts/${system}`
  writeFileSync(join(home, 'switch.php'), String((await p.call(p.owner, 'GET', path)).body))
  const seed = { pack: p.pack, addresses, emails }
  const db = server ? server.shop(system, seed) : inSqlite(system, join(home, 'shop.db'), seed)
  const undoFile = join(home, `berth-switch-${id}.undo.json`)
  async function run(...flags: string[]) {
    const child = Bun.spawn(['php', '-d', 'error_reporting=-1', 'switch.php', ...shops[system].flags, ...flags], {
      ...{ cwd: home, stdout: 'pipe', stderr: 'pipe' },
      env: {
        PATH: process.env['PATH']!,
        ...{ BILLING_DSN: db.dsn, BILLING_USER: db.user },
        ...{ BERTH_TOKEN: token, BERTH_ADDRESS: `http://127.0.0.1:${p.port}` },
      },
    })
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, error }
  }
  return {
    db,
    run,
    undoFile,
    home,
    importId: id,
    isSwitched: (service: number) => shops[system].isSwitched(db, service),
  }
}

const isServerLeftOut = note(missingOfMariadb(), 'the scripts for billing systems with MariaDB')
let server: Mariadb
beforeAll(async () => {
  if (!isLeftOut && !isServerLeftOut) server = await mariadb()
})
afterAll(() => server?.end())

const places = billingSystemNames.flatMap((system) => [
  { system, place: 'a copy of its tables' },
  ...(isServerLeftOut ? [] : [{ system, place: 'MariaDB' }]),
])
describe.skipIf(isLeftOut).each(places)('$system, in $place,', ({ system, place }) => {
  const open = (moved = 3) => shop(system, moved, place === 'MariaDB' ? server : undefined)

  test('changes nothing until it is told to apply, and shows what it would change', async () => {
    const { db, run, undoFile } = await open()
    const [before, names] = [db.contents(), await state()]
    const { code, out, error } = await run()
    expect([code, error]).toEqual([0, ''])
    expect(out).toContain('3 to switch, 0 switched already, 0 with a problem.')
    expect(out).toContain('Nothing was changed')
    expect([db.contents(), await state(), existsSync(undoFile)]).toEqual([before, names, false])
  })

  test('switches the services of moved servers alone, a second time nothing, and takes all of it back', async () => {
    const { db, run, undoFile, isSwitched } = await open(2)
    const [before, names] = [db.contents(), await state()]
    const applied = await run('--apply')
    expect([applied.code, applied.error]).toEqual([0, ''])
    expect([501, 502, 503].map((each) => isSwitched(each) !== null)).toEqual([true, true, false])
    if (system !== 'fossbilling') expect([501, 502].map(isSwitched)).toEqual([ids[0]!, ids[1]!])
    const name = (number: string) => `${system}:k3v9x2ab:${number}`
    expect(await state()).toEqual({ servers: [name('501'), name('502'), ids[2]], owners: [name('71'), null] })
    expect(statSync(undoFile).mode & 0o777).toBe(0o600)
    const after = db.contents()

    const again = await run('--apply')
    expect([again.code, again.out.includes('0 to switch, 2 switched already')]).toEqual([0, true])
    expect(db.contents()).toEqual(after)

    expect((await run('--undo')).out).toContain('Nothing was changed')
    expect(db.contents()).toEqual(after)
    const undone = await run('--undo', '--apply')
    expect([undone.code, undone.error]).toEqual([0, ''])
    expect(db.contents()).toEqual(before)
    expect(await state()).toEqual(names)
    expect((await run('--undo', '--apply')).code).toBe(0)
    expect(db.contents()).toEqual(before)
  })

  test('takes everything back when Berth refuses a name in the middle', async () => {
    const { db, run } = await open()
    const [before, names] = [db.contents(), await state()]
    let patches = 0
    p.fault(
      ({ method }) => method === 'PATCH' && ++patches === 3,
      () => new Response('{"error":{"code":"no"}}', { status: 409 }),
    )
    const { code, error } = await run('--apply')
    p.faults.length = 0
    expect([code, error.includes('PATCH')]).toEqual([1, true])
    expect([db.contents(), await state()]).toEqual([before, names])
    // The file of the undo has changes that did not happen.
    expect((await run('--undo', '--apply')).code).toBe(0)
    expect([db.contents(), await state()]).toEqual([before, names])
  })

  test('refuses a database that it does not know, and changes nothing', async () => {
    const { db, run } = await open()
    const table = Object.keys(db.contents()).find((name) =>
      ['tblservers', 'services', 'service_hosting'].includes(name),
    )
    db.run(`ALTER TABLE ${table} RENAME TO other`)
    const before = db.contents()
    const { code, error } = await run('--apply')
    expect([code, error.includes('This database is not the one that this script knows')]).toEqual([1, true])
    expect(db.contents()).toEqual(before)
  })

  if (place === 'MariaDB')
    test('refuses tables that would keep half a change, says how to change them', async () => {
      const { db, run } = await open()
      const table = Object.keys(db.contents()).find((name) =>
        ['tblhosting', 'service_fields', 'service_hosting', 'properties'].includes(name),
      )!
      db.run(`ALTER TABLE ${table} ENGINE=MyISAM`)
      const before = db.contents()
      const { code, error } = await run('--apply')
      expect([code, error]).toEqual([1, expect.stringContaining(`ALTER TABLE \`${table}\` ENGINE=InnoDB;`)])
      expect(db.contents()).toEqual(before)
      db.run(`ALTER TABLE ${table} ENGINE=InnoDB`)
      expect((await run('--apply')).code).toBe(0)
    })

  test('leaves a change that somebody made after it, and takes the rest back', async () => {
    const { db, run } = await open(1)
    expect((await run('--apply')).code).toBe(0)
    await p.admin('PATCH', `/servers/${ids[0]}/billing`, { billingServiceId: 'by-hand' })
    const { out } = await run('--undo', '--apply')
    expect(out).toContain('is called by-hand since; it is left')
    expect((await state()).servers[0]).toBe('by-hand')
    expect(shops[system].isSwitched(db, 501)).toBeNull()
  })

  test('does not give a service to another person', async () => {
    const { db, run } = await open()
    for (const [table, column] of [
      ['tblclients', 'id'],
      ['contacts', 'client_id'],
      ['client', 'id'],
      ['users', 'id'],
    ] as const)
      if (db.contents()[table]) db.run(`UPDATE ${table} SET email = 'eve@example.com' WHERE ${column} = 72`)
    const before = db.contents()
    const refused = await run('--apply')
    expect([refused.code, refused.out.includes('its owner in Berth is dora@example.com')]).toEqual([2, true])
    expect(db.contents()).toEqual(before)
    const skipped = await run('--apply', '--skip-problems')
    expect(skipped.code).toBe(0)
    expect([501, 502, 503].map((each) => shops[system].isSwitched(db, each) !== null)).toEqual([true, true, false])
  })

  test('does not know an option that it does not have', async () => {
    const { db, run } = await open()
    const before = db.contents()
    expect(await run('--aply')).toMatchObject({ code: 1, error: expect.stringContaining('Unknown option --aply') })
    expect(db.contents()).toEqual(before)
  })
})

test('A script has no text of the other panel that PHP would run', async () => {
  if (isLeftOut) return
  const { id } = addMigrated(p, [
    { sourceId: '9', hostname: "x'\nBERTH_IMPORT;\nsystem('id');?>", address: '203.0.113.200', workloadId: ids[0]! },
  ])
  const { body } = await p.call(p.owner, 'GET', `/admin/migrations/${id}/report/scripts/whmcs`)
  const file = join(root, 'hostile.php')
  writeFileSync(file, String(body))
  expect(Bun.spawnSync(['php', '-l', file]).exitCode).toBe(0)
  expect(readFileSync(file, 'utf8').match(/^BERTH_IMPORT/gm)).toHaveLength(1)
})
