// Further columns of the spreadsheet of all servers: the mail of the owner, every address, the traffic of the month.
import { monthOf, wholeMonth } from '../../billing/usage/period.ts'
import { trafficByOwner } from '../../fleet/traffic-records/queries.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { day as DAY_MS } from '../../kernel/db/clock.ts'

type Listed = { id: string; owner: { email: string | null }; addresses: readonly { address: string }[] }

/** The e-mail address is for those who may read customers. */
export const besideServers = {
  headings: ['ownerEmail', 'addresses', 'trafficInBytes', 'trafficOutBytes'],
  cells({ tx, actor, clock }: ReadContext, rows: readonly Listed[]) {
    const { from, to } = wholeMonth(monthOf(clock()))
    const traffic = Map.groupBy(
      trafficByOwner(
        tx,
        rows.map(({ id }) => id),
        from / DAY_MS,
        to / DAY_MS,
      ),
      ({ workloadId }) => workloadId,
    )
    const mayReadCustomers = actor.scopes.has('customers:read')
    return rows.map(({ id, owner, addresses }) => {
      const used = traffic.get(id) ?? []
      return [
        mayReadCustomers ? owner.email : null,
        addresses.map(({ address }) => address).join(' '),
        used.reduce((sum, { rxBytes }) => sum + rxBytes, 0),
        used.reduce((sum, { txBytes }) => sum + txBytes, 0),
      ]
    })
  },
}
