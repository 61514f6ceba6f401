import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { importById } from '../../src/imports/import-records/queries.ts'
import { noteTold } from '../../src/imports/messages/queries.ts'
import { tellAfter, tellAtStart, tellAtWork, tellDuring } from '../../src/imports/messages/tell.ts'
import { write } from '../../src/kernel/db/open.ts'
import { type Mailbox, mailbox } from '../support/services/mailbox.ts'
import { type World, world } from '../support/world/panel.ts'
import { addImport } from './record.ts'
import { addMigrated } from './report/moved.ts'
import { turn } from './world.ts'

let p: World
let box: Mailbox
beforeAll(async () => {
  box = await mailbox()
  p = await world()
  await box.serve(p)
})
afterAll(() => {
  p.close()
  box.close()
})

let id: string
let importServerId: string
let workloadId: string
let n = 0
/** An import with two servers to come of an owner of before, and one that has moved. */
beforeEach(async () => {
  n++
  workloadId = (await p.admin('POST', '/admin/servers', { ...p.order, hostname: `moved${n}` })).serverId
  await p.settle()
  const migrated = addMigrated(p, [
    { sourceId: '1', hostname: 'shop.example.com', address: '203.0.113.21', ready: true },
    { sourceId: '2', hostname: 'mail.example.com', address: '203.0.113.22', ready: true },
    { sourceId: '3', hostname: `moved${n}`, address: '203.0.113.23', workloadId },
  ])
  id = migrated.id
  importServerId = migrated.ids['3']!
  p.db.$client.run("UPDATE import_owners SET choice = 'create' WHERE import_id = ?", [id])
  await box.deliver(p)
  box.taken.length = 0
})

const path = () => `/admin/migrations/${id}/messages`
const change = (body: object) => p.admin('PATCH', path(), body)
const sent = async () => (await box.deliver(p)).map(({ to, subject }) => [to, subject])
const customerEmail = async () => (await p.admin('GET', `/customers/${p.customer.id}`)).email
const during = () => write(p.db, (tx) => tellDuring(tx, p.controller.app, { importServerId, workloadId }))
const after = () => write(p.db, (tx) => tellAfter(tx, p.controller.app, { importServerId, workloadId }))

test('Nobody is told anything as long as nobody has turned it on', async () => {
  expect((await p.admin('GET', path())).emailsOwners).toBe(false)
  during()
  after()
  write(p.db, (tx) => tellAtStart(tx, p.controller.app, importById(tx, id)!))
  expect(await sent()).toEqual([])
})

test('An owner is told of the new addresses of a server that has moved, once', async () => {
  await change({ emailsOwners: true })
  during()
  after()
  after()
  const mails = await box.deliver(p)
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[await customerEmail(), `moved${n} has moved`]])
  const now = (await p.admin('GET', `/servers/${workloadId}`)).addresses[0].address
  expect(mails[0]!.text).toContain(`Its new addresses: ${now}`)
  expect(mails[0]!.text).toContain('203.0.113.23')
  expect(mails[0]!.text).toContain(`https://panel.test/servers/${workloadId}`)
})

test('A server that keeps its addresses says so', async () => {
  const now = (await p.admin('GET', `/servers/${workloadId}`)).addresses.map((one: { address: string }) => one.address)
  p.db.$client.run('UPDATE import_addresses SET address = ? WHERE server_id = ?', [now[0], importServerId])
  await change({ emailsOwners: true })
  after()
  const [mail] = await box.deliver(p)
  expect(mail!.text).toContain('It keeps its addresses: ')
  expect(mail!.text).not.toContain('Its new addresses')
})

test('The words can be changed, and the preview is what goes out', async () => {
  await change({
    emailsOwners: true,
    during: { isOn: true, subject: 'Now: {server}', text: 'One.\n\nTwo of {server}.' },
  })
  const { during: shown } = await p.admin('GET', path())
  expect([shown.isOn, shown.preview]).toEqual([
    true,
    { subject: 'Now: shop.example.com', paragraphs: ['One.', 'Two of shop.example.com.'] },
  ])
  during()
  during()
  expect(await sent()).toEqual([[await customerEmail(), `Now: moved${n}`]])
  expect(box.taken[0]!.text).toContain(`Two of moved${n}.`)
  expect((await p.admin('GET', path())).during.told).toBe(1)
})

test('A placeholder that does not exist is refused, and nothing is changed', async () => {
  const before = await p.admin('GET', path())
  const { status, body } = await p.call(p.owner, 'PATCH', path(), { emailsOwners: true, after: { text: 'Hi {owner}' } })
  expect([status, body.error.details.fields[0]]).toEqual([
    422,
    { field: 'after.text', message: 'has {owner}, and knows only {server}.' },
  ])
  expect(await p.admin('GET', path())).toEqual(before)
})

test('An announcement goes to each owner once, with all its servers, and not in a dry run', async () => {
  expect((await p.admin('GET', path())).toAnnounce).toBe(1)
  expect(await p.admin('POST', `${path()}/actions/announce?dryRun=true`)).toEqual({ sent: 1, left: 0 })
  expect(await sent()).toEqual([])
  expect(await p.admin('POST', `${path()}/actions/announce`)).toEqual({ sent: 1, left: 0 })
  expect(await p.admin('POST', `${path()}/actions/announce`)).toEqual({ sent: 0, left: 0 })
  await change({ emailsOwners: true, before: { isOn: true } })
  write(p.db, (tx) => tellAtStart(tx, p.controller.app, importById(tx, id)!))
  expect(await sent()).toEqual([['old@panel.test', 'We are about to move shop.example.com and mail.example.com']])
})

test('An import that starts tells whoever was not told before, where that is turned on', async () => {
  await change({ emailsOwners: true, before: { isOn: true } })
  write(p.db, (tx) => tellAtStart(tx, p.controller.app, importById(tx, id)!))
  expect(await sent()).toEqual([['old@panel.test', 'We are about to move shop.example.com and mail.example.com']])
})

test('A start tells some hundred owners, the next turn the others, and then nobody looks any more', async () => {
  await change({ emailsOwners: true, before: { isOn: true } })
  const { $client: db } = p.db
  const insert = (sql: string) => db.run(sql.replaceAll('$import', id))
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)'
  insert(`INSERT INTO import_owners (import_id, source_id, read, email, kind, is_suspended, billing_id, choice)
    ${numbers} SELECT '$import', 'o' || i, 1, 'o' || i || '@panel.test', 'customer', 0, '', 'create' FROM n`)
  insert(`INSERT INTO import_servers (id, import_id, source_id, identity, read, hostname, hypervisor_id, package_id,
      owner_id, virtualization, is_windows, is_suspended, is_in_rescue, power, billing_id, state)
    ${numbers} SELECT 'ims_of_' || '$import' || i, '$import', 'o' || i, '$import' || i, 1, 'h' || i, '3', '7', 'o' || i,
      'kvm', 0, 0, 0, 'running', '', 'ready' FROM n`)
  const told = async () => (await p.admin('GET', path())).before.told
  write(p.db, (tx) => tellAtStart(tx, p.controller.app, importById(tx, id)!))
  expect(await told()).toBe(500)
  const turn = () => tellAtWork({ db: p.db, app: p.controller.app })
  turn()
  expect(await told()).toBe(601)
  const another = () => {
    insert(`UPDATE import_owners SET email = 'another@panel.test' WHERE import_id = '$import' AND source_id = 'o600'`)
    turn()
  }
  another()
  expect(await told()).toBe(601)
  // Other words, and a server that is tried again, are a reason to look once more.
  await change({ before: { isOn: true } })
  turn()
  expect(await told()).toBe(602)
  // The mails of so many are not sent.
  db.run("DELETE FROM deliveries WHERE kind = 'mail'")
})

test('A test of a message goes to whoever asks for it, and nobody counts as told', async () => {
  const { email } = p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(p.owner.id) as { email: string }
  await change({ before: { subject: 'Soon: {servers}' } })
  const { body } = await p.call(p.owner, 'POST', `${path()}/actions/test`, { kind: 'before' })
  expect(body).toEqual({ to: email })
  expect(await sent()).toEqual([[email, 'Test: Soon: shop.example.com and mail.example.com']])
  const { before, emailsOwners } = await p.admin('GET', path())
  expect([before.told, emailsOwners]).toEqual([0, false])
})

test('Servers of a member of staff, and those of unknown owners, are announced to nobody', async () => {
  const { email: staff } = p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(p.owner.id) as {
    email: string
  }
  p.db.$client.run("UPDATE import_owners SET email = ?, choice = 'existing', account_id = ? WHERE import_id = ?", [
    ...[staff, p.owner.id, id],
  ])
  expect(await p.admin('POST', `${path()}/actions/announce`)).toEqual({ sent: 0, left: 0 })
  expect(await sent()).toEqual([])
})

test('Accounts that the import has made are invited when somebody says so, and once', async () => {
  const email = `new${n}@panel.test`
  const made = await p.admin('POST', '/admin/customers', { name: 'New', email })
  p.db.$client.run('UPDATE import_owners SET created_account_id = ? WHERE import_id = ?', [made.id, id])
  expect(await sent()).toEqual([])
  const invite = (query = '') => p.admin('POST', `/admin/migrations/${id}/actions/invite-owners${query}`)
  expect([await invite('?dryRun=true'), await sent()]).toEqual([{ sent: 1, left: 0 }, []])
  expect([await invite(), await invite()]).toEqual([
    { sent: 1, left: 0 },
    { sent: 0, left: 0 },
  ])
  expect(await sent()).toEqual([[email, 'Your account is ready']])
})

test('What is told is deleted with an import that is cancelled', async () => {
  const made = addImport(p)
  await p.admin('PATCH', `/admin/migrations/${made.id}/messages`, { emailsOwners: true, before: { isOn: true } })
  write(p.db, (tx) => noteTold(tx, made.id, 'before', 'old@panel.test', p.now()))
  const count = (table: string) =>
    (p.db.$client.query(`SELECT count(*) AS n FROM ${table} WHERE import_id = ?`).get(made.id) as { n: number }).n
  expect([count('import_messages'), count('import_told')]).toEqual([1, 1])
  await p.admin('POST', `/admin/migrations/${made.id}/actions/cancel`)
  for (let i = 0; i < 5; i++) await turn(p)
  expect([count('import_messages'), count('import_told')]).toEqual([0, 0])
})
