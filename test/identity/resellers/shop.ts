// A panel with a reseller who may sell everything in it, and a customer of his.
import type { Feature } from '../../../src/kernel/feature.ts'
import { type Reply, type Who, world } from '../../support/world/panel.ts'

export const code = ({ status, body }: Reply) => `${status} ${body.error?.code ?? ''}`.trim()

export type Shop = Awaited<ReturnType<typeof shop>>
/** `features`: those beside the product's. */
export async function shop(quotas: Record<string, number | null> = {}, features: readonly Feature[] = []) {
  const p = await world({ features })
  const rita = p.account('reseller', 'Rita')
  const client = p.account('customer', 'Clara', rita.id)
  const change = (body: object, id = rita.id) => p.admin('PATCH', `/resellers/${id}`, body)
  await change({ quotas, packageIds: [p.pack], locationIds: [p.location] })
  const bare = { ownerId: client.id, packageId: p.pack, nodeGroupId: p.location }
  const buy = (body: object = {}, who: Who = rita, key?: string) =>
    p.call(who, 'POST', '/reseller/servers', { ...bare, ...body }, key ? { 'Idempotency-Key': key } : {})
  const sell = (body: object = {}) => p.call(p.owner, 'POST', '/admin/servers', { ...bare, ...body })
  const join = (body: object = {}, who: Who = rita) =>
    p.call(who, 'POST', '/reseller/customers', { name: 'New', email: `${Bun.randomUUIDv7()}@client.test`, ...body })
  const terms = async (who: Who = rita) => (await p.call(who, 'GET', '/reseller/account')).body
  const number = (sql: string) => (p.db.$client.query(sql).get() as { n: number }).n
  return Object.assign(p, { rita, client, change, bare, buy, sell, join, terms, number })
}
