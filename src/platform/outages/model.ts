// An outage: a node is away for longer than the delay, and staff are told.
import { type Static, Type as t } from 'typebox'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { kindsOn } from '../../fleet/workloads/queries.ts'
import { described, nullable, time } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { list } from '../../kernel/words.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Is this node away because staff want it so? Then nobody is told. Asked for nodes that are away. */
    expectsAway?(tx: Db, nodeId: string): boolean
  }
}

const affected = {
  node: t.Object({ id: t.String(), name: t.String() }),
  location: locationReferred,
  servers: described(t.Integer(), 'On the node, without terminated ones.'),
  gpuInstances: described(t.Integer(), 'On the node, without deleted ones.'),
}
const awayData = t.Object({ ...affected, since: described(time, 'The node was heard of last then.') })
const backData = t.Object({
  ...affected,
  since: described(time, 'The node was heard of last then.'),
  backAt: time,
  seconds: described(t.Integer(), 'How long it was away.'),
})
const storageData = t.Object({
  ...affected,
  storagePool: t.Object({ id: t.String(), name: t.String() }),
  totalBytes: t.Integer(),
  freeBytes: t.Integer(),
  usedPercent: described(t.Integer(), 'Of its space for data.'),
  metadataPercent: described(nullable(t.Integer()), 'Of its space for metadata; null where it has none of its own.'),
})
export type StorageData = Static<typeof storageData>

export const outageEvents = {
  'node.away': event('staff only', 'A node has not answered for longer than the delay before staff are told', awayData),
  'node.back': event('staff only', 'A node of which `node.away` told answers again', backData),
  'storage.nearly_full': event('staff only', 'Storage of a node is nearly full', storageData),
  'storage.has_room': event('staff only', 'Storage of which `storage.nearly_full` told has space again', storageData),
}

export type NodeOf = { id: string; name: string; locationId: string }
/** A node, its location, and how much is on it, as events carry them. */
export function affectedBy(tx: Db, { id, name, locationId }: NodeOf): Omit<Static<typeof awayData>, 'since'> {
  const { server = 0, gpu_instance: gpuInstances = 0 } = kindsOn(tx, id)
  return { node: { id, name }, location: locationOf(tx, { locationId }), servers: server, gpuInstances }
}

/** The subject of events about a node, which concern staff alone. */
export const aboutNode = (id: string) => ({ subject: { type: 'node', id }, customerId: null, resellerId: null })

/** `52 s`, `4 min`, `2 h 5 min`, `3 d 4 h` */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const [hours, days] = [Math.floor(minutes / 60), Math.floor(minutes / 1440)]
  const both = (n: number, unit: string, rest: number, of: string) => `${n} ${unit}${rest ? ` ${rest} ${of}` : ''}`
  if (!minutes) return `${Math.max(1, Math.floor(ms / 1000))} s`
  if (!hours) return `${minutes} min`
  return days ? both(days, 'd', hours % 24, 'h') : both(hours, 'h', minutes % 60, 'min')
}

/** `fra-07 and fra-08`, or the first `most` and how many more there are. */
export const namesOf = (names: readonly string[], most: number): string =>
  names.length <= most ? list(names) : `${names.slice(0, most).join(', ')} and ${names.length - most} more`
