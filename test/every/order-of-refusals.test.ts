// A call that is wrong in itself is refused for that before the state of things matters: a call that is both says what
// to correct.
import { expect, test } from 'bun:test'
import { fits } from '../../src/kernel/api/validate.ts'
import { shop } from '../identity/resellers/shop.ts'
import { added, operations } from './toy-feature/every-feature.ts'

/** Identifiers that other systems have given. */
const theirOwn = new Set(['externalId', 'billingProductId', 'billingServiceId', 'clientId'])
type Shape = { properties?: Record<string, Shape>; items?: Shape; type?: string }
/** The body with one id in it that is of nothing, for each place where an id stands. */
function withoutThing(schema: Shape, body: Record<string, any>): Record<string, any>[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (/Id$/.test(name) && !theirOwn.has(name)) return [{ ...body, [name]: 'img_00000000000000000000000000' }]
    if (/Ids$/.test(name)) return [{ ...body, [name]: ['key_00000000000000000000000000'] }]
    // It has the form that the schema asks for, so that the operation itself refuses it.
    if (name === 'email') return [{ ...body, [name]: 'nobody@-nowhere' }]
    return property.properties && body[name]
      ? withoutThing(property, body[name]).map((inner) => ({ ...body, [name]: inner }))
      : []
  })
}

test('422 comes before 409, for every body that names a thing or an address', async () => {
  using p = await shop({}, added)
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: p.client.id })
  await p.settle()
  // Everything is in a state in which it takes no such call.
  p.db.$client.run("UPDATE workloads SET suspended_at = 1, suspend_reason = 'overdue' WHERE id = ?", [serverId])
  p.db.$client.run('UPDATE servers SET protected = 1 WHERE id = ?', [serverId])
  await p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'unpaid' })
  for (const id of [p.customer.id, p.client.id]) await p.admin('POST', `/customers/${id}/actions/lock`, { reason: 'x' })
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
  // Names that a new thing takes from its example are taken.
  for (const op of added
    .flatMap((feature) => feature.operations ?? [])
    .filter((op) => op.refuses?.includes('name_taken')))
    await p.call(p.owner, op.method, op.path, op.example)
  const ids: Record<string, string> = {
    server: serverId,
    customer: p.client.id,
    reseller: p.rita.id,
    'address pool': p.pool,
    'storage pool': p.storagePool(),
    package: p.pack,
    image: p.image,
    ISO: p.addIso('Tools'),
    location: p.location,
    node: p.node.id,
  }
  const real = {
    ownerId: p.client.id,
    packageId: p.pack,
    nodeGroupId: p.location,
    imageId: p.image,
    sshKeyIds: [],
    nodeIds: [p.node.id],
  }
  const filled = (body: any): any =>
    Object.fromEntries(
      Object.entries(body ?? {}).map(([name, value]) => [
        name,
        name in real
          ? real[name as keyof typeof real]
          : value && typeof value === 'object' && !Array.isArray(value)
            ? filled(value)
            : value,
      ]),
    )
  const tried: string[] = []
  for (const op of operations) {
    const kinds = op.access === 'anyone' ? {} : op.access
    const who = kinds.staff ? p.owner : kinds.reseller ? p.rita : p.customer
    if (!op.body || op.access === 'anyone' || !op.refuses?.length) continue
    const id = ids[op.on?.name ?? '']
    if (op.on && !id) continue
    const good = {
      ...filled(op.example),
      ...('packageIds' in (op.body.properties ?? {}) && { packageIds: [], locationIds: [] }),
    }
    for (const body of withoutThing(op.body as Shape, good)) {
      if (!fits(op.body, body)) continue
      const before = p.fingerprint()
      const { status } = await p.call(who, op.method, op.path.replace(/\{\w+\}/, id ?? ''), body)
      expect([op.id, body, status]).toEqual([op.id, body, 422])
      expect(p.fingerprint()).toBe(before)
      tried.push(op.id)
    }
  }
  for (const id of [
    'servers.create',
    'reseller.create-server',
    'servers.setup',
    'servers.reinstall',
    'reseller.create-customer',
    'lamps.create',
  ])
    expect(tried).toContain(id)
})
