// A Berth with capacity for the servers of a month, and what its staff does meanwhile.
import { berth } from '../berth.ts'

export const products = ['S', 'M', 'L'] as const
export type Product = (typeof products)[number]

export async function hostingCompany(servers: number) {
  const p = await berth()
  const nodes = [p.node.id]
  for (let n = 1; n <= Math.ceil(servers / 150); n++)
    nodes.push(p.addNode(p.location, `fra-1${n}`, { memoryMb: 1_000_000 }).id)
  await p.admin('POST', '/admin/ip-pools', {
    name: 'month',
    network: '10.50.0.0/16',
    gateway: '10.50.0.1',
    first: '10.50.1.0',
    last: '10.50.250.255',
    nodeIds: nodes,
  })
  const packages = {} as Record<Product, string>
  for (const [n, product] of products.entries()) {
    const size = { vcpus: 1, memoryMb: 256 * (n + 1), diskGb: 1 + n, billingProductId: product }
    packages[product] = (await p.admin('POST', '/admin/packages', { name: `KVM ${product}`, ...size })).id
  }
  const passwords = new Map<string, Set<string>>()
  p.watch(({ method, path }, answer) => {
    if (method !== 'POST' || !/^\/admin\/servers$/.test(path)) return
    const { serverId, rootPassword } = JSON.parse(answer)
    if (serverId) passwords.set(serverId, (passwords.get(serverId) ?? new Set()).add(rootPassword))
  })
  return Object.assign(p, {
    packages,
    /** The root passwords that each server was ordered with; a replay answers the same one. */
    passwords,
    living: () =>
      p.db.$client
        .query(
          `SELECT w.id, w.owner_id AS ownerId, a.external_id AS client, w.billing_service_id AS service, p.name AS pack
           FROM workloads w JOIN servers s ON s.id = w.id JOIN accounts a ON a.id = w.owner_id
           JOIN packages p ON p.id = s.package_id WHERE w.terminated_at IS NULL ORDER BY w.id`,
        )
        .all() as { id: string; ownerId: string; client: string; service: string; pack: string }[],
  })
}
export type Company = Awaited<ReturnType<typeof hostingCompany>>
