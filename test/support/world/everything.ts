// A panel that has something of everything, for promises about every operation: what a call can be made of is found,
// not listed.

import { createBackupPlan } from '../../../src/compute/backups/plans/plans.ts'
import { addOwnImage } from '../../../src/compute/own-images/own-images.ts'
import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import type { AccountKind, Permission, Scope } from '../../../src/kernel/api/access.ts'
import type { Actor } from '../../../src/kernel/api/actor.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import type { Feature } from '../../../src/kernel/feature.ts'
import { added, operations, registry } from '../../every/toy-feature/every-feature.ts'
import { addImport } from '../../imports/record.ts'
import { addDrain, addRolling } from '../nodes/drains.ts'
import { addGpuHost, addGpuOffer, reportCards } from '../nodes/gpus.ts'
import { addRelease, addRollOut } from '../releases/roll-outs.ts'
import { givePassword, person, withApp } from '../second-factor.ts'
import { panel, releaseKey, type Who, world } from './panel.ts'
import { invite, share } from './team.ts'

type Person = { id: string } & Who
/** Made once in a process for each list of added features; every panel begins with it. */
const made = new Map<string, ReturnType<typeof make>>()

/**
 * A panel with something of everything, in every state, and people who own some of it; the toy feature is there too.
 * With `from` it begins as a snapshot of such a panel.
 */
export async function everything(options: Parameters<typeof panel>[0] = {}) {
  const features = options.features ?? added
  const names = features.map(({ name }) => name).join(' ')
  if (!made.has(names)) made.set(names, make(features))
  const { snapshot, known } = await made.get(names)!
  const p = await panel({ from: snapshot, ...options, features })
  const { nodeId, ...rest } = structuredClone(known)
  return Object.assign(p, rest, { node: { id: nodeId, agent: p.agents.get(nodeId)! } })
}
export type Everything = Awaited<ReturnType<typeof everything>>

async function make(features: readonly Feature[]) {
  const p = await world({ features })
  const { customer, owner: staff } = p
  const reseller = p.account('reseller', 'Rex')
  await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const resold = p.account('customer', 'Rita', reseller.id)
  const people: Record<AccountKind, Person> = { staff, reseller, customer }
  for (const { id } of Object.values(people)) givePassword(p, id)

  const call = async (who: { id: string }, method: string, path: string, body?: unknown) => {
    const reply = await p.call(who as Who, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  // Webhooks come first, so that every later event is queued for them.
  for (const who of Object.values(people)) {
    const webhook = { url: `https://hooks.example.com/${who.id}`, events: ['*'] }
    const { id } = await call(who, 'POST', '/webhooks', webhook)
    await call(who, 'POST', `/webhooks/${id}/actions/test`)
    const paused = await call(who, 'POST', '/webhooks', webhook)
    await call(who, 'POST', `/webhooks/${paused.id}/actions/pause`)
  }

  // Servers: at work, off, suspended, in rescue, terminated, waiting for their owners.
  await p.admin('PATCH', `/admin/images/${p.addImage('Rescue')}`, { isRescue: true, published: false })
  const order = async (body: object) =>
    (await p.admin('POST', '/admin/servers', { ...p.order, ...body })).serverId as string
  const bare = { imageId: undefined, hostname: undefined, access: undefined }
  const serverId = await order({ hostname: 'db01' })
  for (const owner of [customer, reseller, resold]) await order({ ...bare, ownerId: owner.id })
  const [stopped, suspended] = [await order({ hostname: 'off01' }), await order({ hostname: 'held01' })]
  const [rescued, ended] = [await order({ hostname: 'help01' }), await order({ hostname: 'gone01' })]
  await order({ hostname: 'rex01', ownerId: reseller.id })
  await p.settle()
  await p.admin('POST', `/servers/${stopped}/actions/power`, { action: 'off' })
  await p.admin('POST', `/servers/${suspended}/actions/suspend`, { reason: 'overdue' })
  await call(customer, 'POST', `/servers/${rescued}/actions/rescue`)
  await p.admin('DELETE', `/servers/${ended}`)
  await p.settle()
  await p.admin('POST', `/servers/${serverId}/ips`, { version: 4 })
  await p.settle()
  for (const { id } of [customer, customer, reseller])
    await p.admin('POST', `/customers/${id}/floating-ips`, { locationId: p.location })
  const floating = (await p.admin('GET', `/floating-ips?ownerId=${customer.id}`)).data
  await p.admin('POST', `/floating-ips/${floating[0].id}/actions/assign`, { serverId })
  await p.settle()
  await p.admin('POST', `/servers/${serverId}/snapshots`, { name: 'before-update' })
  await p.settle()
  // A volume that the server has, and one that none has.
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 100 })
  for (const name of ['data', 'spare']) {
    await p.admin('POST', `/servers/${serverId}/volumes`, { name, sizeGb: 5 })
    await p.settle()
  }
  const spare = (await p.admin('GET', '/volumes')).data.find((v: { name: string }) => v.name === 'spare')
  await p.admin('POST', `/volumes/${spare.id}/actions/detach`)
  await p.settle()
  // One network in which the second server is, which anybody may join, and one of the reseller.
  for (const [owner, name] of [
    [customer, 'backend'],
    [reseller, 'inner'],
  ] as const) {
    const range = { name, locationId: p.location, ipv4: '10.30.0.0/24' }
    const { id } = await p.admin('POST', `/customers/${owner.id}/networks`, range)
    if (owner === customer) await p.admin('POST', `/networks/${id}/servers`, { serverId: stopped })
  }
  // Likewise groups.
  for (const owner of [customer, reseller]) {
    const { id } = await p.admin('POST', `/customers/${owner.id}/placement-groups`, {
      name: 'apart',
      policy: 'anti_affinity',
    })
    if (owner === customer) await p.admin('POST', `/placement-groups/${id}/servers`, { serverId: stopped })
  }
  const rule = { direction: 'in', action: 'accept', protocol: 'tcp', ports: ['22'] }
  for (const { id } of [customer, reseller])
    await p.admin('POST', `/customers/${id}/firewalls`, { name: 'Kept', rules: [rule] })
  await p.admin('POST', `/servers/${serverId}/firewall/rules`, rule)
  await p.admin('POST', `/servers/${serverId}/alerts`, { kind: 'cpu' })
  await p.settle()
  for (const { fixture } of features) await fixture?.({ customer, call, admin: p.admin })

  // Destructions that wait for a second person.
  const held = p.staff(['servers.terminate'], 'Hal')
  // Things of a person.
  const sql = (text: string, ...values: (string | number)[]) => p.db.$client.run(text, values)
  sql("INSERT INTO brake_cases (id, actor_id, actor_name, opened_at) VALUES (?, ?, 'Hal', 1)", newId('brk'), held.id)
  for (const { id } of [customer, reseller, resold]) {
    const { url, checksum } = addOwnImage.example!
    await p.admin('POST', `/customers/${id}/scripts`, { name: 'Kept', content: '#!/bin/sh\n' })
    await p.admin('POST', `/customers/${id}/images`, { name: 'Kept', url, checksum })
  }
  for (const { id } of [customer, reseller, resold])
    await p.admin('POST', `/customers/${id}/ssh-keys`, {
      publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
    })
  const tokens = {} as Record<AccountKind, string>
  for (const kind of accountKinds) {
    const { id } = people[kind]
    tokens[kind] = p.token(id).token!
    for (const n of [1, 2]) {
      sql(
        'INSERT INTO account_identities VALUES (?, ?, ?, ?, 1, 1)',
        newId('idn'),
        id,
        `https://id${n}.example.com`,
        kind,
      )
      sql(
        "INSERT INTO passkeys VALUES (?, ?, ?, 'AA', 0, '[]', 'Key', 1, NULL, NULL)",
        newId('pky'),
        id,
        `${kind}-${n}`,
      )
      sql("INSERT INTO saved_filters VALUES (?, ?, 'servers', ?, 'status=running', 1)", newId('flt'), id, `Kept ${n}`)
    }
  }
  const friend = p.account('customer', 'Fay')
  for (const owner of [customer, reseller]) {
    await invite(p, owner, `waits.${owner.id.slice(-4)}@customer.test`)
    await share(p, owner, friend, 'view')
    await share(p, friend, owner, 'view')
  }
  // Somebody with an app, who is not signed in.
  const secured = person(p)
  const { secret, recoveryCodes } = await withApp(p, secured)

  // Things that are not in use, have ended, or wait.
  const helper = p.staff(['servers.power'])
  sql("INSERT INTO passkeys VALUES (?, ?, 'helper', 'AA', 0, '[]', 'Key', 1, NULL, NULL)", newId('pky'), helper.id)
  const left = p.staff(['servers.power'])
  sql('UPDATE accounts SET disabled_at = 1 WHERE id = ?', left.id)
  await p.admin('POST', '/admin/roles', { name: 'Nobody', permissions: ['servers.power'] })
  const locked = p.account('customer', 'Lock', reseller.id)
  await p.admin('POST', `/customers/${locked.id}/actions/lock`, { reason: 'overdue' })
  const idle = p.account('reseller', 'Idle')
  await p.admin('POST', `/resellers/${idle.id}/actions/suspend`, { reason: 'overdue' })
  for (const text of ['Works tonight', 'Works tomorrow'])
    await p.admin('POST', '/admin/announcements', { text, audience: 'everybody' })
  await p.admin('POST', '/admin/messages', {
    template: 'maintenance',
    workStartsAt: '2027-01-31T03:00:00Z',
    workEndsAt: '2027-01-31T05:00:00Z',
  })
  await p.admin('POST', '/admin/node-enrollments', { locationId: p.location })
  await p.admin('POST', '/admin/ip-pools', { name: 'spare', network: '198.51.100.0/29', gateway: '198.51.100.1' })
  const spareNode = p.addNode(p.location, 'spare-01').id
  // A server that moved there and back, so that nothing is on it.
  const waiting = await order({ ...bare, ownerId: customer.id })
  const route = (nodeIds: string[]) => p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds })
  await route([p.node.id, spareNode])
  for (const nodeId of [spareNode, p.node.id])
    await p.admin('POST', `/admin/servers/${waiting}/actions/move`, { nodeId })
  await route([p.node.id])
  await p.admin('DELETE', `/servers/${waiting}?immediately=true`)
  // Cards of which one was taken out.
  const { id: gpuHost, cards } = addGpuHost(p, p.location, 3, { name: 'gpu-01' })
  reportCards(p, gpuHost, { cards: cards.slice(1) })
  addGpuHost(p, p.location, 8, { name: 'gpu-02' })
  const offerId = await addGpuOffer(p, { selfService: true })
  for (const { id } of [customer, resold]) await p.admin('PUT', `/customers/${id}/gpu-limit`, { gpuLimit: 100 })
  const instances: string[] = []
  for (const owner of [customer, customer, customer, customer, reseller, resold])
    instances.push(
      (await p.admin('POST', '/admin/gpu-instances', { ownerId: owner.id, offerId, nodeGroupId: p.location }))
        .instanceId,
    )
  await p.settle()
  const [, off, kept, deleted] = instances
  await p.admin('POST', `/gpu-instances/${off}/actions/power`, { action: 'stop' })
  await p.admin('POST', `/admin/gpu-instances/${kept}/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/admin/gpu-instances/${deleted}`)
  await p.settle()
  p.addImage('Spare 1')
  p.addIso('Tools', customer.id)
  for (const name of ['Oslo', 'Bergen'])
    await p.admin('POST', '/admin/backup-targets/local', { name, address: `/srv/${name}` })
  const { data: places } = await p.admin('GET', '/admin/backup-targets')
  const oslo = places.find(({ name }: { name: string }) => name === 'Oslo').id
  await p.admin('POST', `/admin/backup-targets/${oslo}/actions/make-default`)
  for (const id of [serverId, stopped]) await p.admin('POST', `/servers/${id}/backups`, {})
  // Nothing lies in Bergen, so it can be removed.
  for (const name of ['Nights', 'Sundays'])
    await p.admin('POST', '/admin/backup-plans', { ...createBackupPlan.example, name, targetId: oslo })
  await p.settle()

  // Changes that weaken protections and wait; the caller asked for none of them.
  for (const name of ['brake.limit', 'servers.undelete_hours'])
    sql(
      `INSERT INTO weakenings (id, kind, name, title, from_words, to_words, asked_by, asked_by_name, asked_at,
         takes_effect_at) VALUES (?, 'setting', ?, ?, '1', '2', ?, 'Hal', 1, ?)`,
      newId('wkn'),
      name,
      name,
      held.id,
      4_000_000_000_000,
    )
  const { owner, location, node, pool, pack, image, order: wanted } = p
  const ours = {
    owner,
    location,
    pool,
    pack,
    image,
    customer,
    order: wanted,
    people,
    tokens,
    resold,
    serverId,
    helper,
    secured,
    secret,
    recoveryCodes,
  }
  addRolling(p, node.id, addDrain(p, node.id, serverId))
  addRollOut(p, node.id)
  addRelease(p, releaseKey)
  addImport(p)
  const snapshot = p.snapshot()
  p.close()
  return { snapshot, known: { ...ours, nodeId: node.id } }
}

/** Rows of the tables that have many kinds of them. */
const LIMITS: Readonly<Record<string, number>> = {
  accounts: 12,
  servers: 16,
  deliveries: 12,
  images: 12,
  addresses: 24,
}

/** Ids of whatever is in the database: some of each table. */
export function everyId(p: Everything): string[] {
  const tables = p.db.$client
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'id' WHERE m.type = 'table'",
    )
    .all()
  return tables.flatMap(({ name }) =>
    p.db.$client
      .query<{ id: unknown }, []>(`SELECT id FROM "${name}" LIMIT ${LIMITS[name] ?? 6}`)
      .all()
      .map(({ id }) => String(id)),
  )
}

export const actorOf = (p: Everything, kind: AccountKind, accountId = p.people[kind].id): Actor => ({
  accountId,
  kind,
  name: kind,
  scopes: new Set(Object.keys(registry.scopes) as Scope[]),
  permissions: new Set(kind === 'staff' ? (Object.keys(registry.permissions) as Permission[]) : []),
  via: { type: 'session', sessionId: '', confirmedAt: p.now() },
})
/** How ids begin of what a resource finds: looking for all the others every time would be most of the time. */
const beginnings = new Map<string, Set<string>>()
const beginning = (id: string) => id.slice(0, id.indexOf('_') + 1)
/** Those that at least one of the three can see. */
export function targetsOf(p: Everything, { on }: Operation, ids: readonly string[]): string[] {
  if (!on) return []
  const known = beginnings.get(on.name)
  const actors = accountKinds.map((kind) => actorOf(p, kind))
  const found = ids.filter(
    (id) => (!known || known.has(beginning(id))) && actors.some((actor) => on.find(p.db, actor, id) !== undefined),
  )
  if (!known && found.length) beginnings.set(on.name, new Set(found.map(beginning)))
  return found
}

/** A kind of account that may call it. */
export const callerOf = ({ access }: Operation): AccountKind =>
  accountKinds.find((kind) => access === 'anyone' || access[kind])!

/**
 * The example of the reference, with ids of things that are there where it says `<package_id>`: the customer's own, or
 * what the caller sees.
 */
export function exampleOf(p: Everything, op: Operation, ids: readonly string[]): object | undefined {
  if (!op.example) return undefined
  const kind = callerOf(op)
  const customer = kind === 'reseller' ? p.resold : p.customer
  const known = new Map(
    operations.flatMap(({ on }) => (on ? [[on.name.toLowerCase().replaceAll(' ', '_'), on] as const] : [])),
  )
  const visibleTo = (name: string, actor: Actor) => ids.find((id) => known.get(name)?.find(p.db, actor, id))
  const text = JSON.stringify(op.example).replace(/<(\w+)_id>/g, (all, name) =>
    name === 'customer'
      ? customer.id
      : (visibleTo(name, actorOf(p, 'customer', customer.id)) ??
        visibleTo(name, actorOf(p, kind)) ??
        // A customer knows locations by the offers alone.
        visibleTo(name, actorOf(p, 'staff')) ??
        all),
  )
  return JSON.parse(text)
}
