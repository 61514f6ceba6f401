// Where the servers of each hypervisor go: copied to a location, or adopted where the hypervisor is a node.
import { count } from '../../kernel/words.ts'
import { countsOf, type ImportHypervisor } from '../import-records/inventory/queries.ts'
import { UNNAMED } from '../import-records/model.ts'
import { type Facts, type Offer, offer, withheld } from './facts.ts'

export type HypervisorChoice = NonNullable<ImportHypervisor['choice']>

type Match = { node: { id: string; name: string; locationId: string } } | { words: string }

/**
 * The node that this hypervisor is: one whose management address or other address the panel gives it. Names never
 * count. Two nodes with such an address, or two hypervisors with the address of one node, are refused as ambiguous.
 */
export function nodeOf(
  facts: Facts,
  row: Pick<ImportHypervisor, 'sourceId' | 'name' | 'address' | 'addresses'>,
): Match {
  const shared = (a: readonly string[], b: readonly string[]) => a.some((one) => b.includes(one))
  if (!row.addresses.length)
    return { words: `The address ${row.address || 'that the panel has'} leads nowhere, so no node can be recognised.` }
  const found = facts.nodes.filter((node) => shared(node.addresses, row.addresses))
  const [node] = found
  if (!node)
    return {
      words:
        `No node has the address ${row.address}. Install the agent there and enrol it as a node, and it is ` +
        'recognised.',
    }
  if (found.length > 1)
    return { words: `${found.map(({ name }) => name).join(' and ')} have an address of this hypervisor: ambiguous.` }
  const others = facts.hypervisors.filter(
    (one) => one.sourceId !== row.sourceId && shared(one.addresses, node.addresses),
  )
  if (others.length)
    return { words: `${others.map(({ name }) => name).join(' and ')} has an address of ${node.name} too: ambiguous.` }
  return { node }
}

/** The choices of a hypervisor. */
export function offersOfHypervisor(facts: Facts, row: ImportHypervisor): Offer<HypervisorChoice>[] {
  const leave = offer('leave_out', 'Nothing happens to its servers. A later import can take them.')
  if (row.sourceId === UNNAMED) {
    const words = 'The other panel does not say on which hypervisor these servers are.'
    return [withheld('copy', words), withheld('adopt', words), leave]
  }
  const match = nodeOf(facts, row)
  return [
    facts.locations.length
      ? offer('copy', 'Copied to the nodes of a location, one after another by its placement rule.')
      : withheld('copy', 'There is no location yet.'),
    'node' in match
      ? offer('adopt', `Recognised as node ${match.node.name} by its address; one restart each.`)
      : withheld('adopt', match.words),
    leave,
  ]
}

/**
 * Adopted where it is a node; copied where there is one location, or one of the name that the panel uses. Left out
 * where no server can come. Null: a person has to decide.
 */
export function proposalOfHypervisor(
  facts: Facts,
  row: ImportHypervisor,
): { choice: HypervisorChoice; locationId: string | null } | null {
  const { importable } = countsOf(facts.tx, 'hypervisors', facts.target.id, [row.sourceId])(row.sourceId)
  if (!importable || row.sourceId === UNNAMED) return { choice: 'leave_out', locationId: null }
  if ('node' in nodeOf(facts, row)) return { choice: 'adopt', locationId: null }
  const named = facts.locations.find(({ name }) => name.toLowerCase() === row.location?.toLowerCase())
  const location = named ?? (facts.locations.length === 1 ? facts.locations[0] : undefined)
  return location ? { choice: 'copy', locationId: location.id } : null
}

/** The location whose addresses the servers of a hypervisor get or keep; undefined: none is known yet. */
export function locationFor(facts: Facts, row: ImportHypervisor): string | undefined {
  if (row.choice === 'copy') return row.locationId ?? undefined
  if (row.choice !== 'adopt') return undefined
  const match = nodeOf(facts, row)
  return 'node' in match ? match.node.locationId : undefined
}

export const serversWords = (n: number) => count(n, 'server')
