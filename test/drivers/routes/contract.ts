// The promises of `Network.route`, for every driver: which prefixes are routed to which guest.
import { expect, test } from 'bun:test'
import type { Network } from '../../../agent/drivers/network/network.ts'

export const own = { prefix: '2001:db8:77:1::/64', nextHop: '2001:db8:77:1::1' }
export const other = { prefix: '2001:db8:77:2::/64', nextHop: '2001:db8:77:2::1' }

/** `routed` answers the prefixes in force with their next hops, in any order. */
export function routesContract(make: () => { network: Network; routed(): Promise<string[]> }) {
  const lines = async (routed: () => Promise<string[]>) => (await routed()).toSorted()
  test('routes the given prefixes and no others', async () => {
    const { network, routed } = make()
    await network.route([own, other])
    expect(await lines(routed)).toEqual([`${own.prefix} ${own.nextHop}`, `${other.prefix} ${other.nextHop}`])
    await network.route([own, other])
    await network.route([other])
    expect(await lines(routed)).toEqual([`${other.prefix} ${other.nextHop}`])
    await network.route([])
    expect(await lines(routed)).toEqual([])
  })
}
