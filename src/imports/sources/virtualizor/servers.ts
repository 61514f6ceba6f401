// Servers of Virtualizor: their rows, with addresses and states from other answers.
import { optional } from '../client/reader.ts'
import type { SourceOptions, SourceServer, SourceState } from '../source.ts'
import { entriesOf, field, id, type JsonObject, rowsOf, text } from '../values/scalars.ts'
import type { AddressBook } from './addresses.ts'
import { type VirtualizorClient, virtualizorList } from './client.ts'
import { serverOf, stateOf, type Template, templateOf } from './records.ts'

export type KnownHypervisor = { id: string; servers?: number | null }

/** The panel asks each of its hosts for states, so not too many at a time. */
const STATES_AT_A_TIME = 250

export async function servers(
  client: VirtualizorClient,
  hypervisors: readonly KnownHypervisor[],
  book: AddressBook,
  { onProgress }: SourceOptions,
  warn: (warning: string) => void,
): Promise<readonly SourceServer[]> {
  const templates = new Map<string, Template>()
  const plans = new Map<string, string>()
  const known = new Set(hypervisors.map((one) => one.id))
  const beside = (answer: JsonObject) => {
    for (const row of rowsOf(field(answer, 'ostemplates'))) {
      const osId = id(field(row, 'osid'))
      if (osId !== null) templates.set(osId, templateOf(row))
    }
    for (const [planId, name] of entriesOf(field(answer, 'plans'))) plans.set(planId, text(name) ?? planId)
  }
  const found = await virtualizorList(
    client,
    'servers',
    {
      expected: countedOn(hypervisors),
      record: (row) => {
        const server = serverOf(row, templates, plans)
        if (!server) return null
        const { hypervisorId } = server.value
        const value: SourceServer = {
          ...server.value,
          hypervisorId: hypervisorId !== null && known.has(hypervisorId) ? hypervisorId : null,
          addresses: book.ofServer(server.id, field(row, 'ips')),
        }
        return { id: server.id, value }
      },
      onProgress: (read, total) => onProgress?.({ list: 'servers', read, total: total ?? countedOn(hypervisors) }),
    },
    beside,
  )
  const states = await optional(
    () => statesOf(client, [...found.keys()]),
    () => {
      warn('The panel does not tell which servers run.')
      return new Map<string, SourceState>()
    },
  )
  return [...found.values()].map((server) => ({ ...server, state: states.get(server.id) ?? 'unknown' }))
}

/** The servers that the panel counts on its hypervisors; null where one has no count. */
function countedOn(hypervisors: readonly KnownHypervisor[]): number | null {
  let sum = 0
  for (const { servers: count } of hypervisors) {
    if (count === null || count === undefined) return null
    sum += count
  }
  return sum
}

async function statesOf(client: VirtualizorClient, serverIds: readonly string[]): Promise<Map<string, SourceState>> {
  const states = new Map<string, SourceState>()
  for (let at = 0; at < serverIds.length; at += STATES_AT_A_TIME) {
    const some = serverIds.slice(at, at + STATES_AT_A_TIME)
    const answer = await client.read('states', { parameters: { vs_status: some.join(',') } })
    for (const [serverId, state] of entriesOf(field(answer, 'status'))) states.set(serverId, stateOf(state))
  }
  return states
}
