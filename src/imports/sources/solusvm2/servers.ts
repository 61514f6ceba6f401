// Servers of SolusVM 2. Most versions do not say on which hypervisor a server is: only a list for each hypervisor does.
import { optional } from '../client/reader.ts'
import { SourceFailure } from '../failure.ts'
import type { SourceOptions, SourceServer } from '../source.ts'
import { field, id, isObject } from '../values/scalars.ts'
import { type SolusClient, solusList } from './client.ts'
import { hypervisorIn, isWhole, serverOf, windowsNamesOf } from './records.ts'

export async function servers(
  client: SolusClient,
  hypervisorIds: readonly string[],
  { onProgress }: SourceOptions,
): Promise<readonly SourceServer[]> {
  const windows = await windowsNames(client)
  const known = new Set(hypervisorIds)
  const found = await solusList(client, 'servers', {
    record: (row) => {
      const own = hypervisorIn(row)
      const hypervisorId = own !== null && known.has(own) ? own : null
      const server = serverOf(row, hypervisorId, windows)
      return server && { id: server.id, value: { server: server.value, isWhole: isWhole(row) } }
    },
    onProgress: (read, total) => onProgress?.({ list: 'servers', read, total }),
  })
  const isTold = [...found.values()].every(({ server }) => server.hypervisorId !== null)
  const places = isTold ? new Map<string, string | null>() : await hypervisorOfEach(client, hypervisorIds)
  const all: SourceServer[] = []
  for (const { server, isWhole } of found.values()) {
    const whole = isWhole ? server : await wholeServer(client, server, windows)
    all.push({ ...whole, hypervisorId: server.hypervisorId ?? places.get(server.id) ?? null })
  }
  return all
}

/** The hypervisor of each server, by a list for each; null where more than one has the server. */
async function hypervisorOfEach(client: SolusClient, hypervisorIds: readonly string[]) {
  const places = new Map<string, string | null>()
  for (const hypervisorId of hypervisorIds) {
    const there = await solusList(
      client,
      'servers',
      {
        record: (row) => {
          const own = id(field(row, 'id'))
          return own === null ? null : { id: own, value: own }
        },
      },
      { parameters: { 'filter[compute_resource_id]': hypervisorId } },
    )
    for (const serverId of there.keys()) places.set(serverId, places.has(serverId) ? null : hypervisorId)
  }
  return places
}

/** A server whose row in the list was short. */
async function wholeServer(client: SolusClient, short: SourceServer, windows: ReadonlySet<string>) {
  const row = field(await client.read('server', { id: short.id }), 'data')
  const server = isObject(row) ? serverOf(row, short.hypervisorId, windows) : null
  if (server?.id !== short.id) throw new SourceFailure('unusable_record', 'servers')
  return server.value
}

/** The names of the templates for Windows; none where the token's owner may not read the list. */
const windowsNames = (client: SolusClient): Promise<ReadonlySet<string>> =>
  optional(
    async () => {
      const images = await solusList(client, 'images', { record: windowsNamesOf })
      return new Set([...images.values()].flat())
    },
    () => new Set(),
  )
