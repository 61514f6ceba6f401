// Hypervisors of SolusVM 2 with all their addresses: their own, and those of their networks.
import { optional } from '../client/reader.ts'
import type { SourceHypervisor, SourceOptions } from '../source.ts'
import { resolvedAddresses } from '../values/addresses.ts'
import { entriesOf, field, id, type JsonObject, rowsOf, text } from '../values/scalars.ts'
import { countOf } from '../values/size.ts'
import { type SolusClient, solusList } from './client.ts'
import { virtualization } from './records.ts'

type Draft = Omit<SourceHypervisor, 'addresses' | 'isPanel'>

function draftOf(row: JsonObject): { id: string; value: Draft } | null {
  const own = id(field(row, 'id'))
  if (own === null) return null
  const networkType = text(field(row, 'settings', 'network', 'type'))
  const status = text(field(row, 'status'))
  return {
    id: own,
    value: {
      id: own,
      name: text(field(row, 'name')) ?? own,
      address: text(field(row, 'host')) ?? '',
      virtualizations: entriesOf(field(row, 'settings', 'virtualization_types')).map(([, one]) => virtualization(one)),
      network: networkType === 'bridged' || networkType === 'routed' ? networkType : null,
      bridges: rowsOf(field(row, 'settings', 'network', 'bridges')).flatMap((one) => text(field(one, 'name')) ?? []),
      location: text(field(rowsOf(field(row, 'locations'))[0], 'name')),
      isReachable: status === null ? null : status === 'active',
      servers: countOf(field(row, 'vms_count')),
    },
  }
}

/** The addresses of the networks; none where the token's owner may not read them. */
const networkAddresses = (client: SolusClient, id: string): Promise<readonly (string | null)[]> =>
  optional(
    async () =>
      rowsOf(field(await client.read('hypervisorNetworks', { id }), 'data')).map((row) => text(field(row, 'ip'))),
    () => [],
  )

export async function hypervisors(
  client: SolusClient,
  panelAddresses: readonly string[],
  { lookUp, onProgress }: SourceOptions,
): Promise<readonly SourceHypervisor[]> {
  const drafts = await solusList(client, 'hypervisors', {
    record: draftOf,
    onProgress: (read, total) => onProgress?.({ list: 'hypervisors', read, total }),
  })
  const found: SourceHypervisor[] = []
  for (const draft of drafts.values()) {
    const addresses = await resolvedAddresses([draft.address, ...(await networkAddresses(client, draft.id))], lookUp)
    found.push({ ...draft, addresses, isPanel: addresses.some((one) => panelAddresses.includes(one)) })
  }
  return found
}
