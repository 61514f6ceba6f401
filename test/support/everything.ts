// A panel that has something of everything, for promises about every operation: what a call can be made of is found, not listed.
import { type AccountKind, accountKinds, allPermissions, allScopes } from '../../src/kernel/api/access.ts'
import type { Actor } from '../../src/kernel/api/actor.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { operations } from '../../src/operations.ts'
import { type Who, world } from './panel.ts'

/** A panel with something of everything, and people who own some of it. */
export async function everything() {
  const p = await world()
  const reseller = p.account('reseller', 'Rex')
  await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const resold = p.account('customer', 'Rita', reseller.id)
  const people: Record<AccountKind, { id: string } & Who> = { staff: p.owner, reseller, customer: p.customer }
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'db01' })
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: reseller.id, imageId: undefined, hostname: undefined, access: undefined })
  await p.settle()
  for (const { id } of [p.customer, reseller, resold])
    await p.admin('POST', `/customers/${id}/ssh-keys`, {
      publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
    })
  await p.admin('POST', '/admin/node-enrollments', { locationId: p.location })
  for (const kind of accountKinds) p.token(people[kind].id)
  return Object.assign(p, { people, resold, serverId })
}
export type Everything = Awaited<ReturnType<typeof everything>>

/** Every id in the database, of whatever it is. */
export function everyId(p: Everything): string[] {
  const tables = p.db.$client
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'id' WHERE m.type = 'table'",
    )
    .all()
  return tables.flatMap(({ name }) =>
    p.db.$client
      .query<{ id: unknown }, []>(`SELECT id FROM "${name}" LIMIT 4`)
      .all()
      .map(({ id }) => String(id)),
  )
}

const actorOf = (p: Everything, kind: AccountKind, accountId = p.people[kind].id): Actor => ({
  accountId,
  kind,
  name: kind,
  scopes: allScopes,
  permissions: new Set(kind === 'staff' ? allPermissions : []),
  via: { type: 'session', sessionId: '', confirmedAt: p.now() },
})
/** Those that at least one of the three can see. */
export const targetsOf = (p: Everything, op: Operation, ids: readonly string[]) =>
  ids.filter((id) => accountKinds.some((kind) => op.on?.find(p.db, actorOf(p, kind), id) !== undefined))

/** A kind of account that may call it. */
export const callerOf = ({ access }: Operation): AccountKind => accountKinds.find((kind) => access === 'anyone' || access[kind])!

/** The example of the reference, with ids of things that are there where it says `<package_id>`: the customer's own, or what the caller sees. */
export function exampleOf(p: Everything, op: Operation, ids: readonly string[]): object | undefined {
  if (!op.example) return undefined
  const kind = callerOf(op)
  const customer = kind === 'reseller' ? p.resold : p.customer
  const known = new Map(operations.flatMap(({ on }) => (on ? [[on.name.toLowerCase().replaceAll(' ', '_'), on] as const] : [])))
  const seenBy = (name: string, actor: Actor) => ids.find((id) => known.get(name)?.find(p.db, actor, id))
  const text = JSON.stringify(op.example).replace(/<(\w+)_id>/g, (all, name) =>
    name === 'customer' ? customer.id : (seenBy(name, actorOf(p, 'customer', customer.id)) ?? seenBy(name, actorOf(p, kind)) ?? all),
  )
  return JSON.parse(text)
}
