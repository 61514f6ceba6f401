// S27: an id in a body is looked up as one in a path is. Every field of every body that names a thing × everybody who
// may send it × every id there is: what may be named is written out here, from who owns what; anything else is refused
// as one that never was.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations } from '../../src/app/features.ts'
import { createGpuOffer } from '../../src/catalog/gpu-offers/offers.ts'
import { createBackupPlan } from '../../src/compute/backups/plans/plans.ts'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import { newId } from '../../src/kernel/db/ids.ts'
import { addImport } from '../imports/record.ts'
import { addDrain } from '../support/nodes/drains.ts'
import { addGpuHost, addGpuImage, addGpuOffer } from '../support/nodes/gpus.ts'
import { type Who, type World, world } from '../support/world/panel.ts'
import { share } from '../support/world/team.ts'

type Person = { id: string } & Who
let p: World
/** Several, in turn: a test that runs keeps others out. */
const backupTargets: string[] = []
/** One of them, which takes backups of servers only. */
let restTarget = ''
const backupPlans: string[] = []
const nextBackupTarget = () => {
  backupTargets.push(backupTargets.shift()!)
  return backupTargets[0]
}
let of: Record<
  'staff' | 'helper' | 'reseller' | 'customer' | 'sibling' | 'rival' | 'foreign' | 'direct' | 'friend',
  Person
>
let key: Record<keyof typeof of, string>
let server: Record<'customer' | 'waiting' | 'sibling' | 'foreign' | 'reseller' | 'friend' | 'gone', string>
/** The customer's floating address, and its extra volume, which the server `waiting` has. */
let floating: string
let volume: string
/** The customer's script, shared firewall and ISO. */
const own = { script: '', firewall: '', iso: '' }
/** A backup of the customer's server. */
let backup: string
/** Destructions that wait for a second person, and their servers. */
const held = { release: { brake: '', server: '' }, refuse: { brake: '', server: '' } }
/** A paused drain of the node `near`, with the customer's server. */
let drain = ''
/** The record of an import from another panel. */
let importId = ''
/** The customer's private networks, one for each who puts servers into it. */
/** The customer's placement group. */
let placementGroup = ''
const networks = { staff: '', reseller: '', customer: '' }
let there: {
  packs: string[]
  archived: string
  unsold: string
  locations: string[]
  elsewhere: string
  unpublished: string
  nodes: string[]
  near: string
}
/** An instance of the customer, its offer, and an image of that. */
const gpu = { instance: '', offer: '', image: '' }
/** Every id of everything, and two that are none. */
let everyId: string[]
const NEVER = `key_${'0'.repeat(26)}`

beforeAll(async () => {
  p = await world()
  const [reseller, rival] = [p.account('reseller', 'Reseller'), p.account('reseller', 'Rival')]
  of = {
    staff: p.owner as Person,
    helper: p.staff(),
    reseller,
    customer: p.account('customer', 'Customer', reseller.id),
    sibling: p.account('customer', 'Sibling', reseller.id),
    rival,
    foreign: p.account('customer', 'Foreign', rival.id),
    direct: p.customer,
    friend: p.account('customer', 'Friend'),
  }
  for (const { id } of [reseller, rival])
    await p.admin('PATCH', `/resellers/${id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const pack = (name: string) =>
    p.admin('POST', '/admin/packages', { name, vcpus: 1, memoryMb: 512, diskGb: 5 }).then(({ id }) => id)
  const [archived, unsold] = [await pack('Archived'), await pack('Unsold')]
  await p.admin('PATCH', `/admin/packages/${archived}`, { archived: true })
  importId = addImport(p).id
  p.db.$client.run(
    `INSERT INTO import_owners (import_id, source_id, read, kind, is_suspended, billing_id)
     VALUES (?, 'unknown', 1, 'customer', 0, '')`,
    [importId],
  )
  // Every package is large enough for its server.
  for (const table of ['import_packages', 'import_servers'])
    p.db.$client.run(`UPDATE ${table} SET vcpus = 1, memory_mb = 64, disk_gb = 1`)
  const elsewhere = (await p.admin('POST', '/admin/node-groups', { name: 'Elsewhere' })).id
  const far = p.addNode(elsewhere, 'far-01')
  const near = p.addNode(p.location, 'near-01')
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, near.id] })
  const removed = p.addNode(p.location, 'removed-01')
  p.db.$client.run('UPDATE nodes SET removed_at = 1 WHERE id = ?', [removed.id])
  const unpublished = p.addImage('Unpublished')
  p.db.$client.run('UPDATE images SET published = 0 WHERE id = ?', [unpublished])
  p.db.$client.run('UPDATE images SET removed_at = 1 WHERE id = ?', [p.addImage('Removed')])
  there = {
    packs: [p.pack, unsold],
    archived,
    unsold,
    locations: [p.location, elsewhere],
    elsewhere,
    unpublished,
    nodes: [p.node.id, far.id, near.id],
    near: near.id,
  }

  key = {} as typeof key
  for (const [n, who] of (Object.keys(of) as (keyof typeof of)[]).entries()) {
    key[who] = newId('key')
    p.db.$client.run('INSERT INTO ssh_keys VALUES (?, ?, ?, ?, ?, 1)', [
      key[who],
      of[who].id,
      who,
      `ssh-ed25519 ${who}`,
      `SHA256:${n}`,
    ])
  }
  server = {
    customer: await order(of.customer, 'own'),
    waiting: await order(of.customer),
    sibling: await order(of.sibling, 'siblings'),
    foreign: await order(of.foreign, 'foreign'),
    reseller: await order(of.reseller, 'resellers'),
    friend: await order(of.friend, 'friends'),
    gone: await order(of.customer, 'gone'),
  }
  await p.settle()
  await p.admin('DELETE', `/servers/${server.gone}?immediately=true`)
  await p.settle()
  await share(p, of.customer, of.friend, 'manage')
  floating = (await p.admin('POST', `/customers/${of.customer.id}/floating-ips`, { locationId: p.location })).id
  volume = p.addVolume(of.customer.id, p.node.id, server.waiting)
  for (const [n, who] of (['staff', 'reseller', 'customer'] as const).entries()) {
    const range = { name: who, locationId: p.location, ipv4: `10.20.${n}.0/24` }
    networks[who] = (await p.admin('POST', `/customers/${of.customer.id}/networks`, range)).id
  }
  drain = addDrain(p, there.near, server.customer)
  p.db.$client.run("UPDATE drains SET state = 'paused', paused_by = 'person', paused_at = 1, finished_at = NULL")
  const apart = { name: 'apart', policy: 'anti_affinity', hard: false }
  placementGroup = (await p.admin('POST', `/customers/${of.customer.id}/placement-groups`, apart)).id
  const of1 = `/customers/${of.customer.id}`
  own.script = (await p.admin('POST', `${of1}/scripts`, { name: 'own', content: '#!/bin/sh\n' })).id
  own.firewall = (await p.admin('POST', `${of1}/firewalls`, { name: 'own' })).id
  own.iso = `iso_${'1'.repeat(26)}`
  for (const [id, owner] of [
    [own.iso, of.customer],
    [`iso_${'2'.repeat(26)}`, of.sibling],
  ] as const)
    p.db.$client.run("INSERT INTO isos VALUES (?, ?, ?, 'iso', 'https://a.example/a.iso', 'sha256:0', 1, 1, NULL)", [
      id,
      owner.id,
      reseller.id,
    ])
  for (const name of ['a', 'b', 'c', 'd'])
    backupTargets.push((await p.admin('POST', '/admin/backup-targets/local', { name, address: `/srv/${name}` })).id)
  const nightly = { ...createBackupPlan.example, targetId: backupTargets[0] }
  backupPlans.push((await p.admin('POST', '/admin/backup-plans', nightly)).id)
  const rest = { name: 'e', address: 'https://backups.example.com/e/' }
  const { id: place } = await p.admin('POST', '/admin/backup-targets/rest', rest)
  backupTargets.push(place)
  restTarget = place
  await p.admin('POST', `/admin/backup-targets/${place}/actions/make-default`)
  backup = (await p.admin('POST', `/servers/${server.customer}/backups`, {})).backupId
  await p.settle()
  for (const name of ['gpu-01', 'gpu-02']) addGpuHost(p, p.location, 40, { name })
  gpu.image = await addGpuImage(p)
  gpu.offer = await addGpuOffer(p, { imageIds: [gpu.image], selfService: true })
  await p.admin('PUT', `/customers/${of.customer.id}/gpu-limit`, { gpuLimit: 40 })
  gpu.instance = (await p.admin('POST', '/admin/gpu-instances', gpuOrder(of.customer))).instanceId
  await p.settle()
  held.release = await brake(of.helper)
  held.refuse = await brake(p.staff())
  const tables = p.db.$client
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'id' WHERE m.type = " +
        "'table' AND c.type = 'TEXT'",
    )
    .all()
  everyId = tables.flatMap(({ name }) =>
    p.db.$client
      // A few rows of the large tables: no field refers to them.
      .query<{ id: string }, []>(
        `SELECT id FROM "${name}" LIMIT ${/^(accounts|servers|ssh_keys)$/.test(name) ? 100 : 3}`,
      )
      .all()
      .map(({ id }) => id),
  )
}, 60_000)
afterAll(() => p.close())

/** A second termination by one person within the hour. */
async function brake(person: Person): Promise<{ brake: string; server: string }> {
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
  const servers = [await order(of.direct, `a${person.id.slice(-9)}`), await order(of.direct, `b${person.id.slice(-9)}`)]
  await p.settle()
  for (const id of servers) await p.call(person, 'DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: null })
  const { id } = p.db.$client.query('SELECT id FROM brake_cases WHERE actor_id = ?').get(person.id) as { id: string }
  return { brake: id, server: servers[1]! }
}

const gpuOrder = ({ id }: Person) => ({ ownerId: id, offerId: gpu.offer, nodeGroupId: p.location })

/** With a hostname it is installed, without one it waits for that. */
async function order(owner: Person, hostname?: string): Promise<string> {
  const { imageId: _, hostname: __, access: ___, ...waiting } = { ...p.order, ownerId: owner.id }
  return (await p.admin('POST', '/admin/servers', hostname ? { ...p.order, ownerId: owner.id, hostname } : waiting))
    .serverId
}

// ---------------------------------------------------------------- what may be named
/** Ends in `Id` and names nothing of ours. */
const names = new Set([
  'externalId',
  'ownerExternalId',
  'billingProductId',
  'billingServiceId',
  'clientId',
  // True or false: whether a server has one.
  'hasBillingId',
  'catalogueId',
])
/** Lists that are only compared with what the caller sees: an id of another is one that is not there. */
const compared = new Set([
  'usage.reconcile services.serverId',
  'usage.reconcile services.instanceId',
  'balance.apply moves.serverId',
  'balance.apply moves.nodeId',
  'cpu-baseline.adopt serverIds',
  'placement-groups.mend serverId',
  'placement-groups.mend nodeId',
  'servers.adopt nodeId',
  'import-servers.retry nodeId',
  ...['choose', 'run', 'restore'].map((action) => `source-removal.${action} nodeId`),
  // Ids of another panel, which only the rows of one import have.
  ...['hypervisors', 'owners', 'packages', 'ranges'].map((part) => `imports.change-mapping ${part}.sourceId`),
  ...['hypervisors', 'owners', 'packages', 'ranges'].map((part) => `imports.apply-to-${part} where.sourceIds`),
  ...['add-keys', 'check-access'].map((action) => `imports.${action} hypervisorId`),
  'imports.apply-to-hypervisors where.exceptIds',
  ...['hypervisorId', 'ownerId', 'packageId', 'rangeId'].map((field) => `imports.leave-out where.${field}`),
  // Nodes of one roll-out, which needs a release: test/platform/roll-outs.
  'roll-outs.leave-out nodeId',
  'roll-outs.retry nodeId',
  ...['firstNodeId', 'leftOutNodeIds', 'windows.locationIds'].map((field) => `roll-outs.start ${field}`),
])
/** Filters of lists: what fits none of what the caller sees selects nothing. */
const isFilter = (field: string) => /-many filter\.|^messages\.(?:create|change) audience\./.test(field)

type Way = {
  /** `operation field` */
  field: string
  who: () => Person
  path?: () => string
  /** Right in everything. */
  body: () => object
  /** Other ids that the field accepts, beside the one in the body. */
  may?: () => readonly string[]
  /** Existing ids that are refused with another message, by id. */
  otherwise?: () => Readonly<Record<string, string>>
}
const everybody = () => Object.values(of).map(({ id }) => id)
const staffOnly = () => [of.staff.id, of.helper.id]
const ordered = (owner: () => Person, keys: () => string[]) => () => ({
  ...p.order,
  ownerId: owner().id,
  hostname: `h${Bun.randomUUIDv7()}`,
  access: { mode: 'ssh_keys', sshKeyIds: keys() },
})
const byStaff = {
  who: () => of.staff,
  body: ordered(
    () => of.customer,
    () => [key.customer],
  ),
}
const byReseller = { ...byStaff, who: () => of.reseller }
const again = (keys: () => string[]) => () => ({ imageId: p.image, access: { mode: 'ssh_keys', sshKeyIds: keys() } })
const setup = (keys: () => string[]) => () => ({ ...again(keys)(), hostname: `h${Bun.randomUUIDv7()}` })
const onOwn = () => `/servers/${server.customer}/actions/reinstall`
const onWaiting = () => `/servers/${server.waiting}/actions/setup`
const unpublished = () => ({ [there.unpublished]: 'validation_failed' })

/** An owner's keys are not another's: without an image, and so without any. */
const bare = (owner: () => Person) => () => ({ ownerId: owner().id, packageId: p.pack, nodeGroupId: p.location })
const changed = {
  field: 'servers.change-package packageId',
  path: () => `/servers/${server.customer}/actions/change-package`,
  body: () => ({ packageId: p.pack }),
  // Their disks are smaller than that of the server.
  otherwise: () => ({ [there.archived]: 'validation_failed', [there.unsold]: 'validation_failed' }),
}
const ways: readonly Way[] = [
  { ...changed, who: () => of.staff },
  { ...changed, who: () => of.reseller },
  {
    ...byStaff,
    field: 'servers.create ownerId',
    body: bare(() => of.customer),
    may: () => everybody().filter((id) => !staffOnly().includes(id)),
  },
  {
    ...byStaff,
    field: 'servers.create packageId',
    otherwise: () => ({ [there.archived]: 'validation_failed', [there.unsold]: 'package_not_allowed' }),
  },
  { ...byStaff, field: 'servers.create nodeGroupId', otherwise: () => ({ [there.elsewhere]: 'location_not_allowed' }) },
  { ...byStaff, field: 'servers.create imageId', otherwise: unpublished },
  { ...byStaff, field: 'servers.create access.sshKeyIds' },
  {
    ...byStaff,
    field: 'servers.create access.sshKeyIds',
    body: ordered(
      () => of.direct,
      () => [key.direct],
    ),
  },
  {
    ...byStaff,
    field: 'servers.create nodeId',
    body: () => ({ ...byStaff.body(), nodeId: p.node.id }),
    may: () => [there.near],
  },
  {
    who: () => of.staff,
    field: 'gpu-instances.create ownerId',
    body: () => gpuOrder(of.customer),
    may: () => everybody().filter((id) => !staffOnly().includes(id)),
  },
  {
    who: () => of.staff,
    field: 'gpu-instances.create nodeGroupId',
    body: () => gpuOrder(of.customer),
    otherwise: () => ({ [there.elsewhere]: 'location_not_allowed' }),
  },
  ...(['offerId', 'imageId', 'sshKeyIds'] as const).map(
    (field): Way => ({
      who: () => of.staff,
      field: `gpu-instances.create ${field}`,
      body: () => ({ ...gpuOrder(of.customer), imageId: gpu.image, sshKeyIds: [key.customer] }),
    }),
  ),
  {
    who: () => of.reseller,
    field: 'gpu-instances.create-for-reseller ownerId',
    path: () => '/reseller/gpu-instances',
    body: () => gpuOrder(of.customer),
    may: () => [of.reseller.id, of.customer.id, of.sibling.id],
  },
  ...(['nodeGroupId', 'offerId', 'imageId', 'sshKeyIds'] as const).flatMap((field): Way[] => {
    const body = () => ({ ...gpuOrder(of.customer), imageId: gpu.image, sshKeyIds: [key.customer] })
    const otherwise = () => (field === 'nodeGroupId' ? { [there.elsewhere]: 'location_not_allowed' } : {})
    return [
      { who: () => of.reseller, field: `gpu-instances.create-for-reseller ${field}`, body, otherwise },
      {
        who: () => of.customer,
        field: `gpu-instances.order ${field}`,
        body: () => Object.fromEntries(Object.entries(body()).filter(([name]) => name !== 'ownerId')),
        otherwise,
      },
    ]
  }),
  ...(['staff', 'reseller', 'customer'] as const).flatMap((who): Way[] => [
    {
      who: () => of[who],
      field: 'gpu-instances.rebuild imageId',
      path: () => `/gpu-instances/${gpu.instance}/actions/rebuild`,
      body: () => ({ imageId: gpu.image }),
    },
    {
      who: () => of[who],
      field: 'gpu-instances.set-ssh-keys sshKeyIds',
      path: () => `/gpu-instances/${gpu.instance}/ssh-keys`,
      body: () => ({ sshKeyIds: [key.customer] }),
    },
  ]),
  {
    who: () => of.staff,
    field: 'gpu-offers.create imageIds',
    body: () => ({ ...createGpuOffer.example!, name: Bun.randomUUIDv7(), imageIds: [gpu.image] }),
  },
  {
    who: () => of.staff,
    field: 'gpu-offers.update imageIds',
    path: () => `/admin/gpu-offers/${gpu.offer}`,
    body: () => ({ imageIds: [gpu.image] }),
  },
  {
    who: () => p.owner,
    field: 'announcements.create nodeId',
    body: () => ({ text: 'Fault', audience: 'customers', nodeId: p.node.id }),
    may: () => there.nodes,
  },
  ...['set', 'remove'].map((deed) => ({
    who: () => p.owner,
    field: `backup-targets.${deed}-node-login nodeId`,
    path: () => `/admin/backup-targets/${restTarget}/actions/${deed}-node-login`,
    body() {
      if (deed === 'set') return { nodeId: p.node.id, login: newId('nod'), secret: 'hidden-2' }
      // Each node has one to remove.
      for (const id of there.nodes)
        p.db.$client.run("INSERT OR IGNORE INTO backup_target_logins VALUES (?, ?, ?, ?, 'x', 1)", [
          ...[`${restTarget} ${id}`, restTarget, id, id],
        ])
      return { nodeId: p.node.id }
    },
    may: () => there.nodes,
  })),
  {
    who: () => p.owner,
    field: 'backup-targets.test nodeId',
    path: () => `/admin/backup-targets/${nextBackupTarget()}/actions/test`,
    body: () => ({ nodeId: p.node.id }),
    may: () => there.nodes,
  },
  ...(['staff', 'reseller'] as const).flatMap((who): Way[] => {
    const way = {
      who: () => of[who],
      path: () => `/backups/${backup}/actions/restore-to-new-server`,
      body: () => ({ packageId: p.pack, nodeGroupId: p.location, hostname: `h${Bun.randomUUIDv7()}` }),
    }
    return [
      {
        ...way,
        field: 'backups.restore-to-new-server nodeGroupId',
        otherwise: () => ({ [there.elsewhere]: 'location_not_allowed' }),
      },
      {
        ...way,
        field: 'backups.restore-to-new-server placementGroupId',
        body: () => ({ ...way.body(), placementGroupId: placementGroup }),
      },
      {
        ...way,
        field: 'backups.restore-to-new-server packageId',
        otherwise: () => ({ [there.archived]: 'validation_failed', [there.unsold]: 'package_not_allowed' }),
      },
    ]
  }),
  {
    who: () => p.owner,
    field: 'backup-plans.create targetId',
    path: () => '/admin/backup-plans',
    body: () => ({ ...createBackupPlan.example, name: newId('bpl'), targetId: nextBackupTarget() }),
    may: () => backupTargets,
  },
  {
    who: () => p.owner,
    field: 'backup-plans.update targetId',
    path: () => `/admin/backup-plans/${backupPlans[0]}`,
    body: () => ({ targetId: nextBackupTarget() }),
    may: () => backupTargets,
  },
  {
    who: () => p.owner,
    field: 'controller-backups.configure targetIds',
    path: () => '/admin/controller-backups',
    body: () => ({ targetIds: [backupTargets.find((id) => id !== restTarget)], hour: 3, keepDays: 30 }),
    may: () => backupTargets.filter((id) => id !== restTarget),
    otherwise: () => ({ [restTarget]: 'validation_failed' }),
  },
  {
    who: () => p.owner,
    field: 'backups.set-plan planId',
    path: () => `/servers/${server.customer}/backups/plan`,
    body: () => ({ planId: backupPlans[0] }),
    may: () => backupPlans,
  },
  {
    ...byReseller,
    field: 'reseller.create-server ownerId',
    body: bare(() => of.customer),
    may: () => [of.reseller.id, of.sibling.id],
  },
  {
    ...byReseller,
    field: 'reseller.create-server packageId',
    otherwise: () => ({ [there.archived]: 'validation_failed', [there.unsold]: 'package_not_allowed' }),
  },
  {
    ...byReseller,
    field: 'reseller.create-server nodeGroupId',
    otherwise: () => ({ [there.elsewhere]: 'location_not_allowed' }),
  },
  { ...byReseller, field: 'reseller.create-server imageId' },
  // A key in an order opens root on the server: a reseller may not even use its own.
  { ...byReseller, field: 'reseller.create-server access.sshKeyIds' },
  {
    ...byReseller,
    field: 'reseller.create-server access.sshKeyIds',
    body: ordered(
      () => of.reseller,
      () => [key.reseller],
    ),
  },
  ...(['staff', 'reseller', 'customer', 'friend'] as const).flatMap((who): Way[] => [
    {
      field: 'servers.reinstall imageId',
      who: () => of[who],
      path: onOwn,
      body: again(() => [key.customer]),
      ...(who === 'staff' && { otherwise: unpublished }),
    },
    // The person who sets a server up signs in to it: the owner's keys and their own are accepted.
    {
      field: 'servers.reinstall access.sshKeyIds',
      who: () => of[who],
      path: onOwn,
      body: again(() => [key.customer]),
      may: () => [key[who]],
    },
    {
      field: 'servers.setup imageId',
      who: () => of[who],
      path: onWaiting,
      body: setup(() => [key.customer]),
      ...(who === 'staff' && { otherwise: unpublished }),
    },
    {
      field: 'servers.setup access.sshKeyIds',
      who: () => of[who],
      path: onWaiting,
      body: setup(() => [key.customer]),
      may: () => [key[who]],
    },
  ]),
  ...(['staff', 'reseller', 'customer'] as const).flatMap((who): Way[] => [
    {
      field: 'servers.reinstall scriptId',
      who: () => of[who],
      path: onOwn,
      body: () => ({ ...again(() => [key.customer])(), scriptId: own.script }),
    },
    {
      field: 'servers.setup scriptId',
      who: () => of[who],
      path: onWaiting,
      body: () => ({ ...setup(() => [key.customer])(), scriptId: own.script }),
    },
    {
      field: 'servers.change-firewall firewallIds',
      who: () => of[who],
      path: () => `/servers/${server.customer}/firewall`,
      body: () => ({ firewallIds: [own.firewall] }),
    },
    {
      field: 'servers.set-iso isoId',
      who: () => of[who],
      path: () => `/servers/${server.customer}/iso`,
      body: () => ({ isoId: own.iso }),
    },
  ]),
  {
    ...byStaff,
    field: 'servers.create placementGroupId',
    body: () => ({ ...byStaff.body(), placementGroupId: placementGroup }),
  },
  {
    ...byReseller,
    field: 'reseller.create-server placementGroupId',
    body: () => ({ ...byStaff.body(), access: { mode: 'password' }, placementGroupId: placementGroup }),
  },
  { ...byStaff, field: 'servers.create scriptId', body: () => ({ ...byStaff.body(), scriptId: own.script }) },
  {
    ...byReseller,
    field: 'reseller.create-server scriptId',
    body: () => ({ ...byStaff.body(), access: { mode: 'password' }, scriptId: own.script }),
  },
  {
    field: 'servers.change-owner-many ownerId',
    who: () => of.staff,
    path: () => '/admin/servers/actions/change-owner?dryRun=true',
    body: () => ({ ids: [server.customer], ownerId: of.direct.id }),
    may: () => everybody().filter((id) => !staffOnly().includes(id)),
    otherwise: () => Object.fromEntries(staffOnly().map((id) => [id, 'validation_failed'])),
  },
  {
    field: 'servers.change-owner ownerId',
    who: () => of.staff,
    path: () => `/servers/${server.customer}/actions/change-owner`,
    body: () => ({ ownerId: of.customer.id }),
    may: () => everybody().filter((id) => !staffOnly().includes(id)),
  },
  ...(['release', 'refuse'] as const).map((what) => ({
    field: `brakes.${what} heldIds`,
    who: () => of.staff,
    path: () => `/admin/brakes/${held[what].brake}/actions/${what}`,
    body: () => ({ heldIds: [held[what].server] }),
  })),
  // A person cannot pass on what was shared with them or is in their care.
  ...(['customer', 'friend', 'reseller'] as const).map((who) => ({
    field: 'team.invite serverId',
    who: () => of[who],
    body: () => ({ email: `m${Bun.randomUUIDv7()}@team.test`, role: 'view', serverId: server[who] }),
    // A GPU instance is shared as a server is.
    may: () => (who === 'customer' ? [server.waiting, gpu.instance] : []),
  })),
  ...(['staff', 'reseller', 'customer'] as const).flatMap((who): Way[] => [
    {
      field: 'floating-ips.create locationId',
      who: () => of[who],
      path: () => `/customers/${of.customer.id}/floating-ips`,
      body: () => ({ locationId: p.location }),
    },
    {
      field: 'floating-ips.assign serverId',
      who: () => of[who],
      path: () => `/floating-ips/${floating}/actions/assign`,
      body: () => ({ serverId: server.customer }),
      otherwise: () => ({ [server.waiting]: 'not_set_up' }),
    },
    ...(who === 'customer'
      ? []
      : [
          {
            field: 'servers.swap-primary-addresses serverId',
            who: () => of[who],
            path: () => `/servers/${server.customer}/actions/swap-primary-addresses?dryRun=true`,
            body: () => ({ serverId: server.waiting, version: 4 }),
            otherwise: () =>
              Object.fromEntries(
                everyId
                  .filter((id) => id.startsWith('srv_') && id !== server.waiting)
                  .map((id) => [id, 'validation_failed']),
              ),
          },
        ]),
    {
      field: 'volumes.attach serverId',
      who: () => of[who],
      path: () => `/volumes/${volume}/actions/attach`,
      body: () => ({ serverId: server.waiting }),
      otherwise: () => ({ [server.customer]: 'not_set_up' }),
    },
    {
      field: 'networks.create locationId',
      who: () => of[who],
      path: () => `/customers/${of.customer.id}/networks`,
      body: () => ({ name: Bun.randomUUIDv7(), locationId: p.location, ipv4: '10.40.0.0/24' }),
    },
    {
      field: 'placement-groups.add-server serverId',
      who: () => of[who],
      path: () => `/placement-groups/${placementGroup}/servers`,
      body() {
        // A server is in one group at most.
        p.db.$client.run('DELETE FROM placement_group_members')
        return { serverId: server.customer }
      },
      may: () => [server.waiting],
    },
    {
      field: 'placement-groups.add-instance instanceId',
      who: () => of[who],
      path: () => `/placement-groups/${placementGroup}/gpu-instances`,
      body() {
        p.db.$client.run('DELETE FROM placement_group_members')
        return { instanceId: gpu.instance }
      },
    },
    {
      field: 'networks.attach serverId',
      who: () => of[who],
      path: () => `/networks/${networks[who]}/servers`,
      body: () => ({ serverId: server.customer }),
      may: () => [server.waiting],
    },
  ]),
  {
    field: 'resellers.create packageIds',
    who: () => of.staff,
    body: () => ({ name: 'New', email: `m${Bun.randomUUIDv7()}@new.test`, packageIds: [p.pack] }),
    may: () => [...there.packs, there.archived],
  },
  {
    field: 'resellers.create locationIds',
    who: () => of.staff,
    body: () => ({ name: 'New', email: `m${Bun.randomUUIDv7()}@new.test`, locationIds: [p.location] }),
    may: () => there.locations,
  },
  {
    field: 'resellers.update packageIds',
    who: () => of.staff,
    path: () => `/resellers/${of.rival.id}`,
    body: () => ({ packageIds: [p.pack] }),
    may: () => [...there.packs, there.archived],
  },
  {
    field: 'resellers.update locationIds',
    who: () => of.staff,
    path: () => `/resellers/${of.rival.id}`,
    body: () => ({ locationIds: [p.location] }),
    may: () => there.locations,
  },
  {
    field: 'notices.choose-locations locationIds',
    who: () => of.staff,
    body: () => ({ kind: 'node_away', locationIds: [p.location] }),
    may: () => there.locations,
  },
  {
    field: 'nodes.enroll locationId',
    who: () => of.staff,
    body: () => ({ locationId: p.location }),
    may: () => there.locations,
  },
  {
    field: 'servers.move nodeId',
    who: () => of.staff,
    path: () => `/admin/servers/${server.customer}/actions/move?dryRun=true`,
    body: () => ({ nodeId: there.near }),
    otherwise: () => ({ [p.node.id]: 'already_done', [there.nodes[1]!]: 'no_capacity' }),
  },
  {
    field: 'pools.create nodeIds',
    who: () => of.staff,
    body: () => ({
      name: `p${Bun.randomUUIDv7().slice(-8)}`,
      network: '198.51.100.0/24',
      gateway: '198.51.100.1',
      nodeIds: [p.node.id],
    }),
    may: () => there.nodes,
  },
  {
    field: 'pools.attach nodeIds',
    who: () => of.staff,
    path: () => `/admin/ip-pools/${p.pool}/nodes`,
    body: () => ({ nodeIds: [p.node.id, there.near] }),
    may: () => there.nodes,
  },
  {
    field: 'locations.allow-moves locationIds',
    who: () => of.staff,
    path: () => `/admin/node-groups/${p.location}/moves`,
    body: () => ({ locationIds: [] }),
    may: () => [there.elsewhere],
    otherwise: () => ({ [p.location]: 'validation_failed' }),
  },
  {
    field: 'locations.allow-moves offeredIds',
    who: () => of.staff,
    path: () => `/admin/node-groups/${p.location}/moves`,
    body: () => ({ locationIds: [there.elsewhere], offeredIds: [] }),
    may: () => [there.elsewhere],
  },
  {
    field: 'nodes.choose-in-drain-plan nodeId',
    who: () => of.staff,
    path: () => `/admin/nodes/${p.node.id}/drain-plan/servers/${server.customer}`,
    body: () => ({ mode: 'live', nodeId: there.near }),
    may: () => there.nodes.filter((id) => id !== p.node.id),
    otherwise: () => ({ [p.node.id]: 'validation_failed' }),
  },
  {
    field: 'drains.retry serverId',
    who: () => of.staff,
    path: () => `/admin/drains/${drain}/actions/retry`,
    body() {
      p.db.$client.run("UPDATE drain_servers SET state = 'failed'")
      return { serverId: server.customer }
    },
  },
  {
    field: 'drains.send serverId',
    who: () => of.staff,
    path: () => `/admin/drains/${drain}/actions/send`,
    body() {
      p.db.$client.run("UPDATE drain_servers SET state = 'failed'")
      return { serverId: server.customer, nodeId: null }
    },
  },
  {
    field: 'drains.send nodeId',
    who: () => of.staff,
    path: () => `/admin/drains/${drain}/actions/send`,
    body() {
      p.db.$client.run("UPDATE drain_servers SET state = 'failed'")
      return { serverId: server.customer, nodeId: there.nodes[0] }
    },
    may: () => there.nodes.filter((id) => id !== there.near),
    otherwise: () => ({ [there.near]: 'validation_failed' }),
  },
  {
    field: 'drains.leave serverId',
    who: () => of.staff,
    path: () => `/admin/drains/${drain}/actions/leave`,
    body() {
      p.db.$client.run("UPDATE drain_servers SET state = 'failed'")
      return { serverId: server.customer }
    },
  },
  {
    field: 'rolling.start nodeIds',
    who: () => of.staff,
    body: () => ({ nodeIds: [there.nodes[1]] }),
    may: () => [p.node.id, there.near],
  },
  ...['change-mapping packages.packageId', 'apply-to-packages packageId'].map((name) => ({
    field: `imports.${name}`,
    who: () => of.staff,
    ...ofMapping('packages', name, { sourceId: '7', choice: 'own', packageId: () => p.pack }),
    may: () => there.packs,
  })),
  ...['change-mapping hypervisors.locationId', 'apply-to-hypervisors locationId'].map((name) => ({
    field: `imports.${name}`,
    who: () => of.staff,
    ...ofMapping('hypervisors', name, { sourceId: '3', choice: 'copy', locationId: () => p.location }),
    may: () => there.locations,
  })),
  ...['change-mapping owners.resellerId', 'apply-to-owners resellerId'].map((name) => ({
    field: `imports.${name}`,
    who: () => of.staff,
    ...ofMapping('owners', name, { sourceId: '12', choice: 'create', resellerId: () => of.reseller.id }),
    may: () => [of.rival.id],
  })),
  {
    field: 'imports.change-mapping owners.accountId',
    who: () => of.staff,
    ...ofMapping('owners', 'change-mapping', {
      ...{ sourceId: 'unknown', choice: 'existing', accountId: () => of.customer.id },
    }),
    may: () => Object.values(of).flatMap(({ id }) => ([of.staff.id, of.helper.id].includes(id) ? [] : [id])),
  },
  ...(['customer', 'reseller'] as const).map((who) => ({
    field: 'servers.relocate locationId',
    who: () => of[who],
    path: () => `/servers/${who === 'customer' ? server.customer : server.sibling}/actions/relocate`,
    body() {
      p.db.$client.run('INSERT OR REPLACE INTO location_moves (from_id, to_id, offered) VALUES (?, ?, 1)', [
        p.location,
        there.elsewhere,
      ])
      p.db.$client.run('INSERT OR IGNORE INTO reseller_locations (reseller_id, location_id) VALUES (?, ?)', [
        of.reseller.id,
        there.elsewhere,
      ])
      p.db.$client.run('INSERT OR IGNORE INTO pool_nodes (pool_id, node_id) VALUES (?, ?)', [p.pool, there.nodes[1]!])
      // Earlier cases have closed the node, and given the server a floating address and a private network.
      p.db.$client.run('UPDATE nodes SET open = 1 WHERE id = ?', [there.nodes[1]!])
      p.db.$client.run('UPDATE addresses SET workload_id = NULL WHERE holder_id IS NOT NULL')
      p.db.$client.run('DELETE FROM private_network_members')
      return { locationId: there.elsewhere }
    },
  })),
]

/** The path and the body of a decision about one part of an import, by itself or by a rule. */
function ofMapping(part: string, name: string, decision: Record<string, string | (() => string)>): PathAndBody {
  const at = () => `/admin/migrations/${importId}/mapping`
  const said = () =>
    Object.fromEntries(
      Object.entries(decision).map(([key, value]) => [key, typeof value === 'string' ? value : value()]),
    )
  if (!isRule(name)) return { path: at, body: () => ({ [part]: [said()] }) }
  return {
    path: () => `${at()}/actions/apply-to-${part}`,
    body() {
      const { sourceId: _, ...choice } = said()
      return { where: {}, ...choice }
    },
  }
}
type PathAndBody = Required<Pick<Way, 'path' | 'body'>>
function isRule(name: string): boolean {
  return name.startsWith('apply-to-')
}

// ---------------------------------------------------------------- the fields
type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }
const references = (schema: Schema, path = ''): string[] => [
  ...(/Ids?$/.test(path) && !names.has(path.split('.').at(-1)!) ? [path] : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    references(inner, path ? `${path}.${name}` : name),
  ),
  ...(schema.items ? references(schema.items, path) : []),
  ...(schema.anyOf ?? []).flatMap((one) => references(one, path)),
]
/** The body with `id` at the field; a list has it beside what it had. */
function naming(body: any, field: string, id: string) {
  const copy = structuredClone(body)
  const path = field.split('.')
  const at = path.slice(0, -1).reduce((inner, part) => first(inner[part]), copy)
  const last = path.at(-1)!
  at[last] = Array.isArray(at[last]) ? [...at[last], id] : id
  return copy
}
const idsAt = (body: any, field: string): string[] =>
  [field.split('.').reduce((inner, part) => first(inner)[part], body)].flat()
/** The field as a refusal names it: with the number of the object in a list. */
function saidOf(body: any, field: string): string {
  const [list, ...rest] = field.split('.')
  return first(body[list!]) === body[list!] ? field : [list, 0, ...rest].join('/')
}
/** Of a list of objects the first one. */
const first = (value: any) => (Array.isArray(value) && typeof value[0] === 'object' ? value[0] : value)

test('S27: every field that names a thing is here, for each kind of account that may send it', () => {
  const found = operations.flatMap((op) =>
    op.body && op.access !== 'anyone'
      ? [...new Set(references(op.body as Schema))]
          .filter((field) => !compared.has(`${op.id} ${field}`) && !isFilter(`${op.id} ${field}`))
          .flatMap((field) =>
            accountKinds.filter((kind) => (op.access as any)[kind]).map((kind) => `${op.id} ${field} ${kind}`),
          )
      : [],
  )
  const kindOf = ({ id }: Person) =>
    p.db.$client.query<{ kind: string }, [string]>('SELECT kind FROM accounts WHERE id = ?').get(id)!.kind
  expect([...new Set(ways.map(({ field, who }) => `${field} ${kindOf(who())}`))].sort()).toEqual(found.sort())
})

describe(
  'S27: what is another’s, is gone or never was is refused as a field, in the same bytes, and nothing ' + 'happens',
  () => {
    for (const [n, way] of ways.entries())
      test(`${way.field} ${n}`, async () => {
        const [id, field] = way.field.split(' ') as [string, string]
        const op = operations.find((o) => o.id === id)!
        const send = (body: object) => p.call(way.who(), op.method, way.path?.() ?? op.path, body)
        const body = way.body()
        const right = new Set([...idsAt(body, field), ...(way.may?.() ?? [])])
        const otherwise = way.otherwise?.() ?? {}
        const before = p.fingerprint()
        const never = await send(naming(body, field, NEVER))
        expect([never.status, never.body.error?.details.fields[0].field]).toEqual([422, saidOf(body, field)])
        const bytes = JSON.stringify(never.body)
        for (const value of [...everyId, 'xyz']) {
          if (right.has(value)) continue
          const reply = await send(naming(body, field, value))
          if (value in otherwise) expect([value, reply.body.error?.code]).toEqual([value, otherwise[value]])
          else expect([value, reply.status, JSON.stringify(reply.body)]).toEqual([value, 422, bytes])
        }
        expect(p.fingerprint()).toBe(before)
      }, 60_000)
  },
)

describe('S27: and what may be named is taken', () => {
  for (const [n, way] of ways.entries())
    test(`${way.field} ${n}`, async () => {
      const [id, field] = way.field.split(' ') as [string, string]
      const op = operations.find((o) => o.id === id)!
      // Time goes by between the calls, and some want a recent sign-in.
      const who = way.who()
      Object.assign(who, p.signIn(who.id))
      for (const value of new Set([...(way.may?.() ?? []), undefined])) {
        const body = way.body()
        const { status, body: answer } = await p.call(
          way.who(),
          op.method,
          way.path?.() ?? op.path,
          value ? naming(body, field, value) : body,
        )
        expect([value, status < 300 || answer]).toEqual([value, true])
        await p.settle()
        // There are twenty addresses, and ten invitations a minute.
        if ((answer.ipv4 && answer.serverId) || id === 'servers.setup')
          await p.admin('DELETE', `/servers/${answer.serverId}?immediately=true`)
        if (id === 'servers.setup') {
          server.waiting = await order(of.customer)
          p.db.$client.run('UPDATE volumes SET server_id = ? WHERE id = ?', [server.waiting, volume])
        }
        if (id === 'rolling.start') {
          // Its first node is emptied: nothing is there to move.
          await p.admin('POST', `/admin/rolling-maintenance/${answer.id}/actions/cancel`)
          await p.admin('POST', `/admin/drains/${answer.drainId}/actions/cancel`, {})
        }
        if (id === 'pools.create') await p.admin('DELETE', `/admin/ip-pools/${answer.id}`)
        await p.settle()
        p.turnClock(10_000)
      }
    }, 60_000)
})

describe('S27: an id in a query', () => {
  const lists = operations.filter(
    (op) => op.method === 'GET' && !op.path.includes('{') && op.access !== 'anyone' && op.pages,
  )
  for (const op of lists)
    for (const name of Object.keys(op.query ?? {}).filter((n) => /Id$/.test(n) && !names.has(n)))
      test(`${op.id} ${name}: picks from what is listed, and is answered for another’s as for none`, async () => {
        for (const who of Object.values(of)) {
          const ask = (query: string) => p.call(who, 'GET', `${op.path}?limit=${op.pages!.most}${query}`)
          const all = await ask('')
          if (all.status === 403) continue
          const listed = new Set(all.body.data.map(({ id }: any) => id))
          let answered = 0
          for (const id of everyId) {
            const { status, body } = await ask(`&${name}=${id}`)
            const none = await ask(`&${name}=${id.replace(/[^_]+$/, '0'.repeat(26))}`)
            // An id of another kind is no value for it: that is decided by its prefix.
            expect([id, status]).toEqual([id, none.status])
            if (status === 200) answered++
            expect([id, (body.data ?? []).filter((row: any) => !listed.has(row.id))]).toEqual([id, []])
            if (!body.data?.length) expect([id, JSON.stringify(body)]).toEqual([id, JSON.stringify(none.body)])
          }
          expect(answered).toBeGreaterThan(0)
        }
      })
})
