// Places for backups: what is stored, what is refused, and what a test from a node records.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { FakeBackups } from '../../../agent/drivers/backup/fake.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

const path = '/admin/backup-targets'
const rest = {
  name: 'Oslo',
  kind: 'rest',
  address: 'https://backups.example.com:8000/web/',
  login: 'web',
  secret: 'hidden-1',
}
const add = (p: World, more: object = {}) => {
  const { kind, ...body } = { ...rest, ...more }
  return p.call(p.owner, 'POST', `${path}/${kind}`, kind === 'local' ? only(body) : body)
}
/** A folder has no credentials. */
const only = ({ name, address }: { name: string; address: string }) => ({ name, address })
const shown = async (p: World, id: string) =>
  (await p.admin('GET', path)).data.find((target: { id: string }) => target.id === id)

/** Tests it from the node, to the end. */
async function tested(p: World, id: string) {
  const { jobId } = await p.admin('POST', `${path}/${id}/actions/test`, { nodeId: p.node.id })
  await p.settle()
  return { jobId, ...(await shown(p, id)).test }
}

/** A key pair for SSH, made once. */
const keys = (() => {
  const dir = `/tmp/berth-key-${process.pid}`
  const make = (name: string, passphrase: string) => {
    Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', passphrase, '-f', `${dir}-${name}`])
    const read = (suffix: string) => readFileSync(`${dir}-${name}${suffix}`, 'utf8')
    const made = { secret: read(''), host: read('.pub').split(' ').slice(0, 2).join(' ') }
    for (const suffix of ['', '.pub']) Bun.spawnSync(['rm', '-f', `${dir}-${name}${suffix}`])
    return made
  }
  return { plain: make('plain', ''), locked: make('locked', 'a passphrase') }
})()
const sftp = {
  name: 'Bergen',
  kind: 'sftp',
  address: 'sftp://b.example/home/b',
  login: 'backup',
  secret: keys.plain.secret,
  trust: keys.plain.host,
}

describe('a target', () => {
  test('is added, shown without its secret, and stored with it encrypted', async () => {
    using p = await world()
    const { status, body } = await add(p)
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Oslo', address: rest.address, login: 'web', trust: null, test: null })
    expect(JSON.stringify(await p.admin('GET', path))).not.toContain('hidden-1')
    const stored = p.db.$client.query('SELECT * FROM backup_targets').get()
    expect(JSON.stringify(stored)).not.toContain('hidden-1')
    expect((await add(p, { address: 'https://other.example.com/' })).body.error.code).toBe('name_taken')
  })
  test('of each kind is taken with what it needs', async () => {
    using p = await world()
    expect((await add(p, sftp)).status).toBe(201)
    const s3 = { name: 'S3', kind: 's3', address: 'https://s3.example/bucket', login: 'AKIA', secret: 'a/b+c' }
    expect((await add(p, s3)).status).toBe(201)
    const local = { name: 'Disk', kind: 'local', address: '/srv/backups', login: '', secret: '' }
    expect((await add(p, local)).status).toBe(201)
    expect((await add(p, { name: 'Open', login: '', secret: '', address: 'http://127.0.0.1:8000/' })).status).toBe(201)
  })
  const refused: readonly (readonly [field: string, more: object])[] = [
    ['address', { address: 'http://backups.example.com/web/' }],
    ['address', { address: 'https://user:secret@backups.example.com/web/' }],
    ['address', { kind: 'local', address: '/srv/../etc' }],
    ['secret', { secret: '' }],
    ['login', { login: '' }],
    ['secret', { secret: 'with\nline' }],
    ['trust', { trust: 'no certificate' }],
    ['secret', { ...sftp, secret: 'no key' }],
    ['secret', { ...sftp, secret: keys.locked.secret }],
    ['secret', { ...sftp, secret: keys.plain.host }],
    ['trust', { ...sftp, trust: '' }],
    ['trust', { ...sftp, trust: `${keys.plain.host}\n* ssh-ed25519 x` }],
    ['login', { ...sftp, login: '-oProxyCommand=x' }],
    ['login', { kind: 's3', address: 'https://s3.example/bucket', login: 'a b' }],
  ]
  test('is refused for what is wrong with it, by the name of the field', async () => {
    using p = await world()
    for (const [field, more] of refused) {
      const { status, body } = await add(p, more)
      expect([field, more, status, body.error?.details.fields[0].field]).toEqual([field, more, 422, field])
    }
    expect((await p.admin('GET', path)).data).toEqual([])
  })
  test('keeps its secret while it goes to the same host, and asks for it anew for another', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    const change = (body: object) => p.call(p.owner, 'PATCH', `${path}/${id}`, body)
    await tested(p, id)
    expect((await change({ name: 'Oslo 2' })).body).toMatchObject({ name: 'Oslo 2', test: { finding: 'works' } })
    // Another folder of the same server: the earlier test says nothing of it.
    expect((await change({ address: 'https://backups.example.com:8000/web/sub/' })).body.test).toBeNull()
    expect((await tested(p, id)).finding).toBe('works')
    for (const elsewhere of [{ address: 'https://thief.example:8000/web/' }, { login: 'other' }]) {
      const { status, body } = await change(elsewhere)
      expect([status, body.error.details.fields[0].field]).toEqual([422, 'secret'])
    }
    expect((await change({ login: 'other', secret: 'hidden-2' })).status).toBe(200)
  })
  test('is removed, and leaves the record without it', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    expect((await p.call(p.owner, 'DELETE', `${path}/${id}`)).status).toBe(200)
    expect((await p.admin('GET', path)).data).toEqual([])
    expect((await p.call(p.owner, 'DELETE', `${path}/${id}`)).body.error.code).toBe('backup_target_not_found')
  })
})

describe('a test from a node', () => {
  test('stores what was found, in words, and how long it took', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    expect(await tested(p, id)).toMatchObject({
      finding: 'works',
      message: 'It takes backups and gives them back.',
      appendOnly: 'yes',
      node: { id: p.node.id },
      seconds: 0.1,
      endedAt: expect.any(String),
    })
  })
  test('finds what is wrong with a target, in words', async () => {
    using p = await world()
    for (const [host, finding, words] of [
      ['nowhere', 'unreachable', 'does not answer'],
      ['expired', 'certificate', 'certificate'],
      ['full', 'full', 'full'],
      ['slow', 'slow', 'slowly'],
    ]) {
      const { id } = (await add(p, { name: host, address: `https://${host}.example/web/` })).body
      const found = await tested(p, id)
      expect(found).toMatchObject({ finding, message: expect.stringContaining(words!), appendOnly: 'unknown' })
      const { attention } = await p.admin('GET', '/admin/overview')
      expect(attention).toContainEqual({
        level: 'warn',
        what: `The backup target ${host} does not work.`,
        effect: found.message,
        since: found.endedAt,
        action: 'Show backup targets',
        href: '/admin/backup-targets',
      })
      // A target that does not work is the result of the job and no failure of it.
      expect(p.job(found.jobId).state).toBe('succeeded')
    }
  })
  test('is said to have failed when the node does not answer', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    p.node.agent.fault({ command: 'backup-target.test', mode: 'fail', times: 1 })
    expect(await tested(p, id)).toMatchObject({ finding: 'not_tested', detail: expect.stringContaining('on purpose') })
  })
  test('does not speak for a target that was changed or removed meanwhile', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    p.node.agent.fault({ command: 'backup-target.test', mode: 'slow', times: 1, ms: 500 })
    await p.admin('POST', `${path}/${id}/actions/test`, { nodeId: p.node.id })
    const second = await p.call(p.owner, 'POST', `${path}/${id}/actions/test`, { nodeId: p.node.id })
    while (!(await shown(p, id)).test) await Bun.sleep(1)
    expect(second.body.error.code).toBe('in_use')
    await p.call(p.owner, 'PATCH', `${path}/${id}`, { address: 'https://backups.example.com:8000/web/new/' })
    await p.settle()
    expect((await shown(p, id)).test).toBeNull()
    await p.call(p.owner, 'DELETE', `${path}/${id}`)
  })
  test('S33: its secrets are in no job, no log and no audit line', async () => {
    using p = await world()
    const { id } = (await add(p, { secret: 'canary-of-a-target' })).body
    await tested(p, id)
    const tables = p.db.$client.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    for (const { name } of tables)
      expect([name, JSON.stringify(p.db.$client.query(`SELECT * FROM "${name}"`).all(), bytesToo)]).toEqual([
        name,
        expect.not.stringContaining('canary-of-a-target'),
      ])
  })
})

const bytesToo = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : typeof value === 'bigint' ? `${value}` : value

describe('a target in use', () => {
  test('of the controller itself is not removed', async () => {
    using p = await world()
    const { id } = (await add(p, { name: 'Disk', kind: 'local', address: '/srv/own' })).body
    await p.admin('PUT', '/admin/controller-backups', { targetIds: [id], hour: 3, keepDays: 7 })
    const refused = await p.call(p.owner, 'DELETE', `${path}/${id}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'in_use'])
    expect(refused.body.error.message).toContain('The controller stores backups of its database in Disk')
    expect((await shown(p, id)).name).toBe('Disk')
    await p.admin('PUT', '/admin/controller-backups', { targetIds: [], hour: 3, keepDays: 7 })
    expect((await p.call(p.owner, 'DELETE', `${path}/${id}`)).status).toBe(200)
  })

  test('of a restore is not removed, also together with its backups', async () => {
    using p = await world()
    const { id } = (await add(p, { name: 'Disk', kind: 'local', address: '/srv/own' })).body
    await p.admin('POST', `${path}/${id}/actions/make-default`)
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { backupId } = await p.admin('POST', `/servers/${serverId}/backups`, {})
    await p.settle()
    p.node.agent.disconnect()
    await p.admin('POST', `/servers/${serverId}/backups/${backupId}/actions/restore`)
    const refused = await p.call(p.owner, 'DELETE', `${path}/${id}?forgetBackups=true`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'in_use'])
    expect([(await shown(p, id)).name, (await p.admin('GET', '/backups')).total]).toEqual(['Disk', 1])
    p.node.agent.connect()
    await eventually(async () => (await p.admin('GET', `/servers/${serverId}`)).job === null)
    await p.settle()
    expect((await p.call(p.owner, 'DELETE', `${path}/${id}?forgetBackups=true`)).status).toBe(200)
  })

  test('moves with its backups and not without them: the test looks for them at the new address', async () => {
    using p = await world()
    const from = '/srv/own'
    const to = '/mnt/new'
    const { id } = (await add(p, { name: 'Disk', kind: 'local', address: from })).body
    await p.admin('POST', `${path}/${id}/actions/make-default`)
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.node.agent.disconnect()
    await p.admin('POST', `/servers/${serverId}/backups`, {})
    const change = (body: object) => p.call(p.owner, 'PATCH', `${path}/${id}`, body)
    // A job would go on at the old place, or undo what it did at the new one.
    const early = await change({ address: to, moved: true })
    expect([early.status, early.body.error.code, (await shown(p, id)).address]).toEqual([409, 'in_use', from])
    p.node.agent.connect()
    await eventually(async () => (await p.admin('GET', '/backups')).data[0].state === 'ready')
    await p.settle()
    const before = await tested(p, id)
    expect(before.finding).toBe('works')
    const refused = await change({ address: to })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'in_use'])
    expect(refused.body.error.message).toContain('1 backup lies in Disk')
    expect(await shown(p, id)).toMatchObject({ address: from, test: { jobId: before.jobId } })
    // The same place, written otherwise, and what else is changed need no word about it.
    expect((await change({ name: 'Disk 2', address: from })).status).toBe(200)
    expect((await change({ address: to, moved: true })).body).toMatchObject({ address: to, test: null })
    const lost = await tested(p, id)
    expect([lost.finding, lost.message]).toEqual([
      'backups_missing',
      expect.stringContaining('Copy all of them to the new address, or change the address back.'),
    ])
    const backups = p.node.agent.host.backups as FakeBackups
    backups.copy(from, to)
    expect((await tested(p, id)).finding).toBe('works')
  })

  test('is the only one of its place: two would not know of each other’s work there', async () => {
    using p = await world()
    const first = (await add(p)).body
    for (const address of ['https://backups.example.com:8000/web', 'https://BACKUPS.example.com:8000/web/']) {
      const { status, body } = await add(p, { name: 'Second', address })
      expect([address, status, body.error?.details?.fields?.[0]?.field]).toEqual([address, 422, 'address'])
    }
    const second = (await add(p, { name: 'Second', address: 'https://backups.example.com:8000/other/' })).body
    const moved = await p.call(p.owner, 'PATCH', `${path}/${second.id}`, { address: first.address })
    expect([moved.status, (await shown(p, second.id)).address]).toEqual([422, second.address])
    expect((await p.admin('GET', path)).total).toBe(2)
    expect((await p.call(p.owner, 'PATCH', `${path}/${first.id}`, { login: 'web', secret: 'hidden-2' })).status).toBe(
      200,
    )
  })
})
