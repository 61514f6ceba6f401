// S24, S25: who may do what with whose things. Every operation on a thing × everybody × every thing there is, against a
// rule that is written here once more and independently: from who owns what, not from the code that decides it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createBackupPlan } from '../../src/compute/backups/plans/plans.ts'
import { addOwnImage } from '../../src/compute/own-images/own-images.ts'
import { keepPools } from '../../src/fleet/storage-pools/queries.ts'
import type { Permission, Scope } from '../../src/kernel/api/access.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { newId } from '../../src/kernel/db/ids.ts'
import { write } from '../../src/kernel/db/open.ts'
import { addImport } from '../imports/record.ts'
import { addDrain, addRolling } from '../support/nodes/drains.ts'
import { addGpuHost, addGpuImage, addGpuOffer, gpuCard, reportCards } from '../support/nodes/gpus.ts'
import { addTransfer } from '../support/nodes/transfers.ts'
import { quickly } from '../support/quick.ts'
import { addRollOut } from '../support/releases/roll-outs.ts'
import { type Who, type World, world } from '../support/world/panel.ts'
import { invite, share } from '../support/world/team.ts'
import { added, operations, registry } from './toy-feature/every-feature.ts'

// ---------------------------------------------------------------- everybody
const cast = [
  'owner',
  'reader',
  'reseller',
  'rival',
  'customer',
  'sibling',
  'foreign',
  'direct',
  'viewer',
  'operator',
  'manager',
] as const
type Name = (typeof cast)[number]
const reads: readonly Permission[] = ['servers.see_all', 'customers.read', 'nodes.read', 'audit.read']
/** In whose care they are. */
const resellerOf: Partial<Record<Name, Name>> = {
  customer: 'reseller',
  sibling: 'reseller',
  foreign: 'rival',
  manager: 'rival',
}
/** The role that `customer` gives them: for one server, or for all. */
const shared: Partial<Record<Name, { does: readonly Scope[]; only?: string }>> = {
  viewer: { does: ['servers:read'], only: "the customer's" },
  operator: { does: ['servers:read', 'servers:power'] },
  manager: { does: ['servers:read', 'servers:power', 'servers:reinstall', 'servers:settings'] },
}
const kindOf = (who: Name) =>
  who === 'owner' || who === 'reader' ? 'staff' : who === 'reseller' || who === 'rival' ? 'reseller' : 'customer'
const { permissions } = registry
/** The scopes that customers hold by the declarations of the features that are added here. */
const ofAdded = added.flatMap(({ scopes = {} }) =>
  Object.entries(scopes).flatMap(([name, { heldBy }]) => (heldBy?.includes('customer') ? [name as Scope] : [])),
)
const withOwn: readonly Scope[] = [
  'account:read',
  'account:write',
  'servers:read',
  'servers:power',
  'servers:reinstall',
  'servers:settings',
  'events:read',
  'webhooks:write',
]
const withOwnReseller: readonly Scope[] = [...withOwn, 'reseller:read', 'reseller:customers', 'reseller:servers']
const held = (who: Name): ReadonlySet<string> => {
  if (kindOf(who) === 'customer') return new Set([...withOwn, ...ofAdded])
  if (kindOf(who) === 'reseller') return new Set(withOwnReseller)
  const all = who === 'owner' ? (Object.keys(permissions) as Permission[]) : reads
  return new Set([
    'account:read',
    'account:write',
    ...all,
    ...all.flatMap((name) => permissions[name].opens as readonly Scope[]),
  ])
}

// ---------------------------------------------------------------- everything
/** `of`: whose it is; without one it is the installation's. `gone`: it was, and is not any more. */
/** `removed`: it was, and to everybody it is now as if it never had been. */
type Thing = { label: string; id: string; of?: Name; gone?: true; never?: true; removed?: true }
let p: World
let people: Record<Name, { id: string } & Who>
let things: Record<string, Thing[]>

const key = (n: number) => {
  const blob = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    Buffer.alloc(32, n),
  ])
  return { publicKey: `ssh-ed25519 ${blob.toString('base64')} k${n}` }
}

beforeAll(async () => {
  p = await world({ features: added })
  const [reseller, rival] = [p.account('reseller', 'Reseller'), p.account('reseller', 'Rival')]
  people = {
    owner: p.owner as { id: string } & Who,
    reader: p.staff(reads),
    reseller,
    rival,
    customer: p.account('customer', 'Customer', reseller.id),
    sibling: p.account('customer', 'Sibling', reseller.id),
    foreign: p.account('customer', 'Foreign', rival.id),
    direct: p.account('customer', 'Direct'),
    viewer: p.account('customer', 'Viewer'),
    operator: p.account('customer', 'Operator'),
    manager: p.account('customer', 'Manager', rival.id),
  }
  for (const { id } of [reseller, rival])
    await p.admin('PATCH', `/resellers/${id}`, { packageIds: [p.pack], locationIds: [p.location] })
  things = {}
  const add = (name: string, thing: Thing) => (things[name] ??= []).push(thing)
  const order = async (of: Name, label: string, gone?: true) => {
    const { serverId, jobId } = await p.admin('POST', '/admin/servers', {
      ...p.order,
      ownerId: people[of].id,
      hostname: label.replace(/\W+/g, '-'),
    })
    await p.settle()
    if (gone) await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
    await p.settle()
    add('server', { label, id: serverId, of, ...(gone && { gone }) })
    if (!gone)
      add('alert', {
        label: `an alert of ${label}`,
        id: (await p.admin('POST', `/servers/${serverId}/alerts`, { kind: 'cpu' })).id,
        of,
      })
    add('job', { label: `the job of ${label}`, id: jobId, of, ...(gone && { gone }) })
    return serverId as string
  }
  const first = await order('customer', "the customer's")
  await order('customer', "the customer's other")
  await order('customer', 'one that was terminated', true)
  for (const of of ['sibling', 'foreign', 'reseller', 'direct'] as const) await order(of, `one of ${of}`)
  const silenced = (await p.admin('POST', `/servers/${first}/alerts`, { kind: 'memory' })).id
  await p.admin('DELETE', `/alerts/${silenced}`)
  add('alert', { label: 'one that was removed', id: silenced, never: true, removed: true })

  for (const of of cast.slice(2)) add('customer', { label: of, id: people[of].id, of })
  add('customer', { label: 'a member of staff', id: people.owner.id, never: true })
  for (const of of ['reseller', 'rival'] as const) add('reseller', { label: of, id: people[of].id, of })
  add('reseller', { label: 'a customer', id: people.customer.id, never: true })
  for (const [n, of] of (['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const).entries())
    add('SSH key', {
      label: `one of ${of}`,
      id: (await p.admin('POST', `/customers/${people[of].id}/ssh-keys`, key(n + 1))).id,
      of,
    })
  const lost = (await p.admin('POST', `/customers/${people.customer.id}/ssh-keys`, key(99))).id
  await p.admin('DELETE', `/ssh-keys/${lost}`)
  add('SSH key', { label: 'one that was removed', id: lost, never: true, removed: true })
  let networksMade = 0
  const float = async (of: Name) =>
    (await p.admin('POST', `/customers/${people[of].id}/floating-ips`, { locationId: p.location })).id as string
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('floating address', { label: `one of ${of}`, id: await float(of), of })
  const released = await float('customer')
  await p.admin('DELETE', `/floating-ips/${released}`)
  add('floating address', { label: 'one that was released', id: released, never: true, removed: true })
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('volume', { label: `one of ${of}`, id: p.addVolume(people[of].id, p.node.id), of })
  const deleted = p.addVolume(people.customer.id, p.node.id)
  p.db.$client.run('DELETE FROM volumes WHERE id = ?', [deleted])
  add('volume', { label: 'one that was deleted', id: deleted, never: true, removed: true })
  const network = async (of: Name) =>
    (
      await p.admin('POST', `/customers/${people[of].id}/networks`, {
        name: `${++networksMade}`,
        locationId: p.location,
        ipv4: '10.20.0.0/24',
      })
    ).id as string
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('private network', { label: `one of ${of}`, id: await network(of), of })
  const removed = await network('customer')
  await p.admin('DELETE', `/networks/${removed}`)
  add('private network', { label: 'one that was removed', id: removed, never: true, removed: true })
  let groupsMade = 0
  const group = async (of: Name) =>
    (
      await p.admin('POST', `/customers/${people[of].id}/placement-groups`, {
        name: `${++groupsMade}`,
        policy: 'affinity',
      })
    ).id as string
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('placement group', { label: `one of ${of}`, id: await group(of), of })
  const removedGroup = await group('customer')
  await p.admin('DELETE', `/placement-groups/${removedGroup}`)
  add('placement group', { label: 'one that was removed', id: removedGroup, never: true, removed: true })
  const kept = async (of: Name, what: 'scripts' | 'images' | 'firewalls', name: string) => {
    const { url, checksum } = addOwnImage.example!
    const bodies = { scripts: { name, content: '#!/bin/sh\n' }, images: { name, url, checksum }, firewalls: { name } }
    return (await p.admin('POST', `/customers/${people[of].id}/${what}`, bodies[what])).id as string
  }
  for (const [name, what] of [
    ['script', 'scripts'],
    ['own image', 'images'],
    ['firewall', 'firewalls'],
  ] as const) {
    for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
      add(name, { label: `one of ${of}`, id: await kept(of, what, 'Kept'), of })
    const id = await kept('customer', what, 'Removed')
    await p.admin('DELETE', `/${what}/${id}`)
    add(name, { label: 'one that was removed', id, never: true, removed: true })
  }
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('ISO', { label: `one of ${of}`, id: p.addIso('Tools', people[of].id), of })
  const gone = p.addIso('Gone', people.customer.id)
  await p.admin('DELETE', `/isos/${gone}`)
  add('ISO', { label: 'one that was removed', id: gone, never: true, removed: true })
  const backUp = (of: Name) => {
    const id = newId('bkp')
    p.db.$client.run(
      `INSERT INTO backups (id, server_id, server_name, owner_id, node_id, target_id, kind, state, job_id, disk_gb,
         machine, firmware, tpm, os, started_at)
       VALUES (?, ?, 'web01', ?, ?, 'bkt_1', 'manual', 'ready', 'job_1', 20, 'q35', 'bios', 0, 'linux', 1)`,
      [id, first, people[of].id, p.node.id],
    )
    return id
  }
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const)
    add('backup', { label: `one of ${of}`, id: backUp(of), of })
  const forgotten = backUp('customer')
  p.db.$client.run('DELETE FROM backups WHERE id = ?', [forgotten])
  add('backup', { label: 'one that was deleted', id: forgotten, never: true, removed: true })
  for (const of of cast) add('token', { label: `one of ${of}`, id: await tokenOf(of), of })
  const revoked = await tokenOf('customer')
  await p.call(people.customer, 'DELETE', `/tokens/${revoked}`)
  add('token', { label: 'one that was revoked', id: revoked, never: true, removed: true })
  const asked = ['customer', 'sibling', 'foreign', 'reseller', 'rival'] as const
  for (const of of asked)
    add('team member', { label: `one of ${of}`, id: (await invite(p, people[of], `x@${of}.test`)).id, of })
  const left = await invite(p, people.customer, 'left@customer.test')
  await p.call(people.customer, 'DELETE', `/team/${left.id}`)
  add('team member', { label: 'one that was removed', id: left.id, never: true, removed: true })
  const shares: [owner: Name, friend: Name, role: 'view' | 'operate' | 'manage', on?: string][] = [
    ['customer', 'viewer', 'view', first],
    ['customer', 'operator', 'operate'],
    ['customer', 'manager', 'manage'],
    // Of people whose servers are seen without it, so that nobody sees more by these.
    ['customer', 'reseller', 'view', first],
    ['foreign', 'rival', 'view'],
  ]
  for (const [owner, friend, role, on] of shares) {
    const id = await share(p, people[owner], people[friend], role, on)
    add('membership', { label: `${friend}’s with ${owner}`, id, of: friend })
    // It is the owner's team member, and the member's membership.
    add('team member', { label: `${friend}, of ${owner}`, id, of: owner })
  }
  const quit = await share(p, people.sibling, people.direct, 'view')
  await p.call(people.direct, 'DELETE', `/team/memberships/${quit}`)
  add('membership', { label: 'one that was left', id: quit, never: true, removed: true })

  const installation: Record<string, string> = {
    package: p.pack,
    location: p.location,
    node: p.node.id,
    'address pool': p.pool,
    'storage pool': p.storagePool(),
    'GPU card': gpuCard(p),
    'GPU image': await addGpuImage(p),
    'GPU offer': await addGpuOffer(p),
    address: (await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)).data[9].id,
    image: p.image,
    enrollment: (await p.admin('POST', '/admin/node-enrollments', { locationId: p.location })).id,
    role: (await p.admin('POST', '/admin/roles', { name: 'Nobody', permissions: [] })).id,
    'member of staff': people.reader.id,
    'backup target': (await p.admin('POST', '/admin/backup-targets/local', { name: 'Disk', address: '/srv/b' })).id,
    message: (
      await p.admin('POST', '/admin/messages', {
        template: 'maintenance',
        workStartsAt: '2027-01-31T03:00:00Z',
        workEndsAt: '2027-01-31T05:00:00Z',
      })
    ).id,
    'bulk action': (await p.admin('POST', '/admin/servers/actions/label', { filter: {}, add: ['batch'] })).id,
    announcement: await p.admin('POST', '/admin/announcements', { text: 'Hello', audience: 'everybody' }).then(
      (a) => a.id,
      () => '',
    ),
  }
  const plan = { ...createBackupPlan.example, targetId: installation['backup target'] }
  installation['backup plan'] = (await p.admin('POST', '/admin/backup-plans', plan)).id
  for (const [name, id] of Object.entries(installation)) if (id) add(name, { label: 'the one there is', id })
  add('storage pool', { label: 'one that the node has no more', id: goneStoragePool(), never: true, removed: true })
  addGpuHost(p, p.location, 8, { name: 'gpu-instances' })
  const instanceOf = async (of: Name) => {
    const body = { ownerId: people[of].id, offerId: installation['GPU offer'], nodeGroupId: p.location }
    return (await p.admin('POST', '/admin/gpu-instances', body)) as { instanceId: string; jobId: string }
  }
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const) {
    const { instanceId, jobId } = await instanceOf(of)
    add('GPU instance', { label: `one of ${of}`, id: instanceId, of })
    add('job', { label: `that of the GPU instance of ${of}`, id: jobId, of })
  }
  const { instanceId: deletedInstance, jobId: ofDeleted } = await instanceOf('customer')
  await p.settle()
  const { jobId: deletion } = await p.admin('DELETE', `/admin/gpu-instances/${deletedInstance}`)
  await p.settle()
  for (const id of [ofDeleted, deletion])
    add('job', { label: 'that of a deleted GPU instance', id, of: 'customer', gone: true })
  add('GPU instance', { label: 'one that was deleted', id: deletedInstance, of: 'customer', gone: true })
  const forgottenCard = addGpuHost(p, p.location, 1, { name: 'gpu-gone' })
  const forgottenId = gpuCard(p, forgottenCard.id)
  reportCards(p, forgottenCard.id, { cards: [] })
  await p.admin('DELETE', `/admin/gpu-cards/${forgottenId}`)
  add('GPU card', { label: 'one that was forgotten', id: forgottenId, never: true, removed: true })
  for (const of of ['customer', 'sibling', 'foreign', 'reseller', 'direct'] as const) {
    const { data } = await p.admin('GET', '/events?type=server.provisioned')
    add('event', {
      label: `one of ${of}`,
      id: data.find((e: any) => e.data.customer.id === people[of].id).id,
      of,
    })
  }
  const hook = { url: 'https://hooks.example.com/', events: ['*'] }
  const hookOf = async (of: Name, name: (id: string, delivery: string) => void) => {
    const { id } = (await p.call(people[of], 'POST', '/webhooks', hook)).body
    name(id, (await p.call(people[of], 'POST', `/webhooks/${id}/actions/test`)).body.deliveryId)
  }
  for (const of of cast.filter((name) => name !== 'reader'))
    await hookOf(of, (id, delivery) => {
      add('webhook', { label: `one of ${of}`, id, of })
      add('delivery', { label: `one of ${of}`, id: delivery, of })
    })
  const ended: string[] = []
  await hookOf('customer', (...ids) => void ended.push(...ids))
  await p.call(people.customer, 'DELETE', `/webhooks/${ended[0]}`)
  for (const [i, name] of ['webhook', 'delivery'].entries())
    add(name, { label: 'one that was removed', id: ended[i]!, never: true, removed: true })
  const [moved] = things['server']!
  add('transfer', { label: 'a move', id: addTransfer(p, moved!.id) })
  const dropped = addTransfer(p, moved!.id)
  p.db.$client.run('DELETE FROM transfers WHERE id = ?', [dropped])
  add('transfer', { label: 'one that was removed', id: dropped, never: true, removed: true })
  add('drain', { label: 'a drain', id: addDrain(p, p.node.id, moved!.id) })
  const removedDrain = addDrain(p, p.node.id, moved!.id)
  for (const [table, column] of [
    ['drain_servers', 'drain_id'],
    ['drains', 'id'],
  ])
    p.db.$client.run(`DELETE FROM ${table} WHERE ${column} = ?`, [removedDrain])
  add('drain', { label: 'one that was removed', id: removedDrain, never: true, removed: true })
  const last = addDrain(p, p.node.id, moved!.id)
  add('drain', { label: 'another drain', id: last })
  add('rolling maintenance', { label: 'one of a node', id: addRolling(p, p.node.id, last) })
  const removedRolling = addRolling(p, p.node.id, last)
  p.db.$client.run('DELETE FROM rolling_drains WHERE id = ?', [removedRolling])
  add('rolling maintenance', { label: 'one that was removed', id: removedRolling, never: true, removed: true })
  add('roll-out', { label: 'one of a node', id: addRollOut(p, p.node.id) })
  const removedRollOut = addRollOut(p, p.node.id)
  p.db.$client.run('DELETE FROM roll_outs WHERE id = ?', [removedRollOut])
  add('roll-out', { label: 'one that was removed', id: removedRollOut, never: true, removed: true })
  const { id: importId, serverId: importServerId } = addImport(p)
  add('import', { label: 'one that was read', id: importId })
  add('import server', { label: 'one that was read', id: importServerId })
  await more(add)
  await thingsOfAdded(add)
  for (const [name, of] of Object.entries(things)) {
    const prefix = of[0]!.id.split('_')[0]
    add(name, { label: 'an id that never was', id: `${prefix}_${'0'.repeat(26)}`, never: true })
    add(name, {
      label: 'an id of another kind',
      id: name === 'image' || name === 'own image' ? p.pack : p.image,
      never: true,
    })
    add(name, { label: 'no id at all', id: 'xyz', never: true })
  }
}, 60_000)
afterAll(() => p.close())

function goneStoragePool(): string {
  const spare = { name: 'spare', kind: 'fake', path: '/', totalBytes: 1024 ** 4, freeBytes: 1024 ** 4 }
  const report = (names: string[]) =>
    write(p.db, (tx) =>
      keepPools(
        tx,
        p.node.id,
        names.map((name) => ({ ...spare, name })),
        p.now(),
      ),
    )
  report(['local', 'spare'])
  const { id } = p.db.$client.query("SELECT id FROM storage_pools WHERE name = 'spare'").get() as { id: string }
  report(['local'])
  return id
}

/** Things that are made through the session of their owner. */
async function more(add: (name: string, thing: Thing) => void) {
  const ownThings = (of: Name, made: (name: string, id: string) => void) => {
    const [identity, passkey] = [newId('idn'), newId('pky')]
    p.db.$client.run('INSERT INTO account_identities VALUES (?, ?, ?, ?, 1, 1)', [
      identity,
      people[of].id,
      `https://${identity}.example.com`,
      of,
    ])
    p.db.$client.run("INSERT INTO passkeys VALUES (?, ?, ?, 'AA', 0, '[]', 'Key', 1, NULL, NULL)", [
      passkey,
      people[of].id,
      passkey,
    ])
    made('identity', identity)
    made('passkey', passkey)
    const filter = newId('flt')
    p.db.$client.run("INSERT INTO saved_filters VALUES (?, ?, 'servers', ?, 'status=running', 1)", [
      filter,
      people[of].id,
      filter,
    ])
    made('saved filter', filter)
  }
  for (const of of cast) {
    ownThings(of, (name, id) => add(name, { label: `one of ${of}`, id, of }))
    const { id } = p.db.$client
      .query<{ id: string }, [string]>('SELECT id FROM sessions WHERE account_id = ?')
      .get(people[of].id)!
    add('session', { label: `one of ${of}`, id, of })
  }
  const removed = (name: string, id: string) =>
    add(name, { label: 'one that was removed', id, never: true, removed: true })
  ownThings('customer', removed)
  p.signIn(people.customer.id)
  const ended = p.db.$client.query<{ id: string }, []>('SELECT id FROM sessions ORDER BY rowid DESC LIMIT 1').get()!.id
  removed('session', ended)
  for (const [name, table] of [
    ['identity', 'account_identities'],
    ['passkey', 'passkeys'],
    ['saved filter', 'saved_filters'],
    ['session', 'sessions'],
  ] as const)
    p.db.$client.run(`DELETE FROM ${table} WHERE id = ?`, [things[name]!.find((t) => t.removed)!.id])

  // Of the installation: what was made and taken away again.
  const gone = async (name: string, path: string, body: object, at = path) => {
    const { id } = await p.admin('POST', path, body)
    await p.admin('DELETE', `${at}/${id}`)
    removed(name, id)
  }
  await gone('role', '/admin/roles', { name: 'Gone', permissions: [] })
  await gone('message', '/admin/messages', { template: 'empty' })
  const { id: bulkAction } = await p.admin('POST', '/admin/servers/actions/label', { filter: {}, add: ['batch'] })
  p.db.$client.run('DELETE FROM bulk_actions WHERE id = ?', [bulkAction])
  removed('bulk action', bulkAction)
  await gone('announcement', '/admin/announcements', { text: 'Gone', audience: 'everybody' })
  await gone('address pool', '/admin/ip-pools', { name: 'gone', network: '198.51.100.0/29', gateway: '198.51.100.1' })
  const disk = { name: 'Gone', address: '/srv/gone' }
  await gone('backup target', '/admin/backup-targets/local', disk, '/admin/backup-targets')
  const brake = newId('brk')
  p.db.$client.run("INSERT INTO brake_cases (id, actor_id, actor_name, opened_at) VALUES (?, ?, 'Ada', 1)", [
    brake,
    people.direct.id,
  ])
  add('brake', { label: 'a case', id: brake })
  const weakening = newId('wkn')
  p.db.$client.run(
    `INSERT INTO weakenings (id, kind, name, title, from_words, to_words, asked_by, asked_by_name, asked_at,
       takes_effect_at) VALUES (?, 'setting', 'brake.limit', 'Brake', '25', '26', ?, 'Ada', 1, 4000000000000)`,
    [weakening, people.direct.id],
  )
  add('weakening', { label: 'a change', id: weakening })
  const image = p.addImage('Gone')
  await p.admin('DELETE', `/admin/images/${image}`)
  removed('image', image)
}

/** The things of the added features, by their fixtures: one of each customer, and one that was removed. */
async function thingsOfAdded(add: (name: string, thing: Thing) => void) {
  const called = async (who: { id: string }, method: string, path: string, body?: unknown) =>
    (await p.call(people[cast.find((name) => people[name].id === who.id)!], method, path, body)).body
  for (const { fixture, operations: ops = [] } of added)
    for (const of of customers)
      for (const removed of of === 'customer' ? [true, false] : [false]) {
        const made = await fixture?.({ customer: people[of], call: called, admin: p.admin })
        for (const [name, id] of Object.entries(made ?? {})) {
          addedThings.add(name)
          add(
            name,
            removed ? { label: 'one that was removed', id, never: true, removed } : { label: `one of ${of}`, id, of },
          )
          const remove = ops.find((op) => op.on?.name === name && op.method === 'DELETE')!
          if (removed) await p.call(people[of], 'DELETE', remove.path.replace(/\{\w+\}/, id))
        }
      }
}
const customers = ['customer', 'sibling', 'foreign', 'direct'] as const
const addedThings = new Set<string>()

async function tokenOf(who: Name): Promise<string> {
  return (await p.call(people[who], 'POST', '/account/tokens', { name: 'T', scopes: ['servers:read'] })).body.id
}

// ---------------------------------------------------------------- the rule
const personal = new Set([
  'webhook',
  'delivery',
  'token',
  'team member',
  'membership',
  'session',
  'passkey',
  'identity',
  'saved filter',
])
const ofServers = new Set(['server', 'job', 'alert', 'GPU instance'])
/** A provider does with those of its customers what it does with its own. */
const wholly = new Set(['event', 'floating address', 'volume', 'private network', 'placement group', 'ISO', 'backup'])
const GROUP = 'placement group'
const ofAccounts = new Set(['customer', 'SSH key', 'script', 'own image', 'firewall'])
type By = 'session' | 'token'

function sees(who: Name, name: string, { of, gone, never, label }: Thing): boolean {
  if (never) return false
  if (personal.has(name)) return of === who
  if (kindOf(who) === 'staff') return true // for the record: also what is gone
  if (gone || !of) return false
  if (of === who || resellerOf[of] === who) return true
  const share = (ofServers.has(name) || name === GROUP) && of === 'customer' ? shared[who] : undefined
  // A group names all servers of its owner: whoever may operate these sees it.
  if (name === GROUP) return !!share && !share.only && share.does.includes('servers:power')
  return !!share && (!share.only || label.endsWith(share.only))
}

/** Which of their rights count on it. No scope of a token changes a reseller, whatever its maker may do. */
function counts(who: Name, name: string, { of }: Thing, right: string, by: By): boolean {
  if (kindOf(who) === 'staff' && by === 'token' && of && kindOf(of) === 'reseller' && ofAccounts.has(name))
    return right !== 'customers:write'
  const isTheirs = of === who || resellerOf[of!] === who
  if (name === GROUP && kindOf(who) !== 'staff' && !isTheirs) return shared[who]!.does.includes(right as Scope)
  if (kindOf(who) === 'staff' || !of || personal.has(name) || wholly.has(name)) return true
  if (ofServers.has(name)) return of === who || resellerOf[of] === who || shared[who]!.does.includes(right as Scope)
  if (kindOf(who) !== 'reseller') return true
  return of === who ? ['account:read', 'account:write', 'reseller:read'].includes(right) : right.startsWith('reseller:')
}

/** `scopes`: those of a token that has fewer than its maker. */
function expected(op: Operation, who: Name, thing: Thing, by: By, scopes?: ReadonlySet<string>): string {
  const access = op.access as Exclude<Operation['access'], 'anyone'>
  const accepted = access[kindOf(who)]
  if (op.requiresSession && by === 'token') return '403 token_not_allowed'
  if (!accepted) return '403 forbidden'
  // No token can have what is no scope.
  if (by === 'token' && !accepted.some((right) => right.includes(':'))) return '403 token_not_allowed'
  const usable = accepted.filter(
    (right) => held(who).has(right) && (by === 'session' || right.includes(':')) && (scopes?.has(right) ?? true),
  )
  if (!usable.length) return by === 'token' ? '403 missing_scope' : '403 forbidden'
  // Jobs are seen as a list is: by those who read servers.
  const reads = op.on!.name !== 'job' || (scopes?.has('servers:read') ?? true)
  if (!reads || !sees(who, op.on!.name, thing)) return `404 ${op.on!.notFound}`
  if (!usable.some((right) => counts(who, op.on!.name, thing, right, by))) return '403 forbidden'
  // A body that no call takes: what comes this far was allowed, and still nothing happens.
  return op.method === 'GET' ? (ofNodes[op.id] ?? '200') : '422 validation_failed'
}

/** Reads of what nobody put on a node or beyond it in this world, or of what has not happened in it. */
const ofNodes: Readonly<Record<string, string>> = {
  'backups.list-files': '409 backup_files_unavailable',
  'backups.download-file': '409 backup_files_unavailable',
  'import-servers.roll-back-preview': '409 import_server_not_moved',
}

// ---------------------------------------------------------------- the matrix
const onThings = operations.filter((op) => op.on && op.access !== 'anyone')

/** Kinds of which there is never one that was taken away, and why. */
const neverRemoved: Readonly<Record<string, string>> = {
  'backup plan': 'is archived, and stays on its servers',
  customer: 'an account stays for the record',
  reseller: 'an account stays for the record',
  'member of staff': 'is disabled, and stays for the record',
  package: 'is archived, and stays on its servers',
  'GPU image': 'is archived, and stays on its instances',
  'GPU offer': 'is archived, and stays on its instances',
  location: 'is closed, and stays',
  node: 'stays for the record of its servers',
  import: 'is finished or cancelled, and stays for the record',
  'import server': 'stays with its import',
  event: 'stays until it is too old to be replayed',
  address: 'is there as long as its pool',
  enrollment: 'is used or over, and stays for the record',
  brake: 'is decided, and stays for the record',
  weakening: 'is decided, and stays for the record',
}
const asOwners = ['customer', 'sibling', 'foreign', 'reseller'] as const

test(
  'everything that an operation is on has things to be tested with: own, a sibling’s, another reseller’s, and ' +
    'one that was removed',
  () => {
    const lacking: string[] = []
    for (const name of new Set(onThings.map((op) => op.on!.name))) {
      const all = things[name] ?? []
      if (!all.some((t) => !t.never)) lacking.push(`${name}: any`)
      if (!(name in neverRemoved) && !all.some((t) => t.removed || t.gone))
        lacking.push(`${name}: one that was removed`)
      if (name === 'reseller') continue // there are two, and nobody else's
      // Of memberships, those of the members: another's is a sibling's too.
      const owners =
        name === 'membership'
          ? (['reseller', 'viewer', 'manager', 'rival'] as const)
          : addedThings.has(name)
            ? customers
            : asOwners
      if (all.some((t) => t.of))
        for (const of of owners) if (!all.some((t) => t.of === of && !t.removed)) lacking.push(`${name}: of ${of}`)
    }
    expect(lacking).toEqual([])
  },
)

for (const by of ['session', 'token'] as const)
  describe(`everybody, by ${by}`, () => {
    const credentials = new Map<Name, Who>()
    beforeAll(() => {
      for (const who of cast) credentials.set(who, by === 'session' ? people[who] : p.token(people[who].id))
    })
    // A quick run asks half of the operations by session, and the other half by token.
    for (const op of quickly(onThings, 2, by === 'session' ? 0 : 1))
      test(`${op.id}: yes, no, and not there, for each of ${cast.length} people and each ${op.on!.name}`, async () => {
        const before = p.fingerprint()
        const [wanted, got]: string[][] = [[], []]
        for (const who of cast) {
          const absent = new Set<string>()
          for (const thing of things[op.on!.name]!) {
            const path = op.path.replace(/\{\w+\}/, thing.id)
            const { status, body, headers } = await p.call(
              credentials.get(who),
              op.method,
              path,
              op.method === 'GET' ? undefined : { surprise: 1 },
            )
            const line = `${who} with ${thing.label}: `
            wanted!.push(line + expected(op, who, thing, by))
            got!.push(`${line}${status}${body.error ? ` ${body.error.code}` : ''}`)
            headers.delete('X-Request-Id')
            if (status === 404) absent.add(JSON.stringify([body, [...headers]]))
          }
          // S25: what is another's, what is gone and what never was are one answer, byte for byte.
          expect(`${who}: ${absent.size || 1} kind of "not there"`).toBe(`${who}: 1 kind of "not there"`)
        }
        expect(got!).toEqual(wanted!)
        expect(p.fingerprint()).toBe(before)
      })
  })

describe('S51: a token with one scope', () => {
  for (const who of cast)
    test(`of ${who} does with each thing what that scope alone opens, whatever ${who} may do`, async () => {
      const before = p.fingerprint()
      const [wanted, got]: string[][] = [[], []]
      for (const scope of [...held(who)].filter((right) => right.includes(':')) as Scope[]) {
        const token = p.token(people[who].id, [scope])
        for (const op of onThings.filter(({ access, requiresSession }) =>
          requiresSession ? false : (access as Exclude<Operation['access'], 'anyone'>)[kindOf(who)]?.includes(scope),
        ))
          for (const thing of things[op.on!.name]!) {
            const path = op.path.replace(/\{\w+\}/, thing.id)
            const { status, body } = await p.call(
              token,
              op.method,
              path,
              op.method === 'GET' ? undefined : { surprise: 1 },
            )
            const line = `${scope}: ${op.id} of ${thing.label}: `
            wanted!.push(line + expected(op, who, thing, 'token', new Set([scope])))
            got!.push(`${line}${status}${body.error ? ` ${body.error.code}` : ''}`)
          }
      }
      expect(wanted!.length).toBeGreaterThan(50)
      expect(got!).toEqual(wanted!)
      expect(p.fingerprint(['tokens'])).toBe(before.replace(/^tokens .*\n/m, ''))
    })
})

describe('nobody in particular', () => {
  test('is told nothing about any thing', async () => {
    const before = p.fingerprint()
    for (const op of onThings)
      for (const thing of things[op.on!.name]!) {
        const { status, body } = await p.call(
          undefined,
          op.method,
          op.path.replace(/\{\w+\}/, thing.id),
          op.method === 'GET' ? undefined : {},
        )
        expect(`${op.id} ${thing.label}: ${status} ${body.error.code}`).toBe(
          `${op.id} ${thing.label}: 401 not_authenticated`,
        )
      }
    expect(p.fingerprint()).toBe(before)
  })
})

type List = {
  of: string
  only?: (who: Name, thing: Thing) => boolean
  /** Of the installation, and for everybody to read. */
  toAll?: true
  ownOf?: string
}
/** For each list, the things that it holds of those that are visible one by one. */
const lists: Readonly<Record<string, List>> = {
  'servers.list': { of: 'server', only: (_, t) => !t.gone },
  'servers.list-all': { of: 'server', only: (_, t) => !t.gone },
  'gpu-instances.list': { of: 'GPU instance', only: (_, t) => !t.gone },
  'gpu-instances.list-all': { of: 'GPU instance', only: (_, t) => !t.gone },
  'jobs.list': { of: 'job' },
  'customers.list': { of: 'customer' },
  'reseller.customers': { of: 'customer', only: (who, t) => t.of !== who },
  'resellers.list': { of: 'reseller' },
  'staff.list': { of: 'member of staff' },
  'roles.list': { of: 'role' },
  'packages.list': { of: 'package' },
  'locations.list': { of: 'location' },
  'nodes.list': { of: 'node' },
  'pools.list': { of: 'address pool' },
  'gpu-images.list': { of: 'GPU image' },
  'gpu-offers.list': { of: 'GPU offer' },
  'images.list': { of: 'image' },
  'images.offered': { of: 'image', toAll: true, ownOf: 'own image' },
  'announcements.list': { of: 'announcement', toAll: true },
  'announcements.list-all': { of: 'announcement' },
  'messages.list': { of: 'message' },
  'bulk-actions.list': { of: 'bulk action' },
  'webhooks.list': { of: 'webhook' },
  'tokens.list': { of: 'token' },
  'sessions.list': { of: 'session' },
  'identities.list': { of: 'identity' },
  'saved-filters.list': { of: 'saved filter' },
  'team.list': { of: 'team member' },
  'team.memberships': { of: 'membership' },
  'floating-ips.list': { of: 'floating address' },
  'volumes.list': { of: 'volume' },
  'networks.list': { of: 'private network' },
  'placement-groups.list': { of: 'placement group' },
  'isos.list': { of: 'ISO' },
  'backup-targets.list': { of: 'backup target' },
  'backups.list-all': { of: 'backup' },
  'backup-plans.list': { of: 'backup plan' },
  'lamps.list': { of: 'lamp' },
  'brakes.list': { of: 'brake' },
  'weakenings.list': { of: 'weakening' },
  'transfers.list': { of: 'transfer' },
  'drains.list': { of: 'drain' },
  'rolling.list': { of: 'rolling maintenance' },
  'roll-outs.list': { of: 'roll-out' },
  'imports.list': { of: 'import' },
}
/** Lists of what has no operation by its id. */
const ofNoThing = [
  'events.list',
  'audit.list',
  'account.activity',
  'usage.report',
  'usage.accounts',
  'usage.intervals',
  'usage.volumes',
  'usage.addresses',
  'usage.gpu-report',
  'usage.gpu-instances',
  'notices.list',
  'backup-repositories.list',
  'gpus.list',
  'gpu-instances.offers',
]

describe('lists and counts', () => {
  const all = operations.filter((op) => op.pages && !op.path.includes('{') && op.access !== 'anyone')
  test('are here, each', () =>
    expect(all.map((op) => op.id).sort()).toEqual([...Object.keys(lists), ...ofNoThing].sort()))
  for (const op of all.filter(({ id }) => id in lists))
    test(`S24: ${op.id} holds exactly what one by one can be seen, and says how many`, async () => {
      const { of, only = () => true, toAll, ownOf } = lists[op.id]!
      const access = op.access as Exclude<Operation['access'], 'anyone'>
      let asked = 0
      for (const who of cast) {
        const { status, body } = await p.call(people[who], 'GET', `${op.path}?limit=${op.pages!.most}`)
        const may = !!access[kindOf(who)]?.some((right) => held(who).has(right))
        expect(`${who}: ${status}`).toBe(`${who}: ${may ? 200 : 403}`)
        if (!may) continue
        asked++
        const known = new Map(things[of]!.map((t) => [t.id, t.label]))
        const seen = things[of]!.filter((t) => (sees(who, of, t) || (toAll && !t.never)) && only(who, t)).map(
          (t) => t.label,
        )
        const listed = body.data.map((row: any) => known.get(row.id)).filter(Boolean)
        expect([who, listed.sort()]).toEqual([who, seen.sort()])
        // Staff also see what is no part of this, like the panel's first customer; and everybody has the token that
        // they call with here.
        const own = (ownOf ? things[ownOf]! : []).filter((t) => t.of === who).map(({ id }) => id)
        expect([who, own.filter((id) => !body.data.some((row: any) => row.id === id))]).toEqual([who, []])
        const others = body.data.filter((row: any) => !known.has(row.id) && !own.includes(row.id))
        if (kindOf(who) !== 'staff' && of !== 'token') expect([who, others.map(({ id }: any) => id)]).toEqual([who, []])
        expect([who, body.data.length]).toEqual([who, Math.min(op.pages!.most, body.total)])
      }
      expect(asked).toBeGreaterThan(0)
    })
})
