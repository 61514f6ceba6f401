// An import that ends leaves kept definitions and the keys of nodes on source hypervisors. From here on nodes remove
// them; it outlives the import, and a crash.
import type { Db, Tx } from '../../kernel/db/open.ts'
import {
  adopterOf,
  type ImportCleanUp,
  keptDomains,
  nodesWithKeys,
  putCleanUp,
  usedByAnother,
} from '../import-records/clean-ups/queries.ts'
import { everyRow } from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/queries.ts'
import { titleOf } from '../import-records/states.ts'
import { sourceHost } from '../source-access/hosts.ts'

type Left = Pick<ImportCleanUp, 'hypervisorId' | 'name' | 'host' | 'nodeIds' | 'domains' | 'hasKeys' | 'words'>

/** The definitions and keys that the import has left on each hypervisor, as far as anybody knows. */
export function leftBehind(tx: Db, { id }: Pick<ImportRecord, 'id'>): Left[] {
  return [...everyRow(tx, 'hypervisors', id)].flatMap((row): Left[] => {
    const domains = keptDomains(tx, id, row.sourceId)
    const adopter = adopterOf(tx, id, row.sourceId)
    const about = { hypervisorId: row.sourceId, name: row.name, domains }
    if (adopter !== undefined)
      return domains.length ? [{ ...about, host: null, nodeIds: [adopter], hasKeys: false, words: null }] : []
    const host = sourceHost(tx, row)
    const nodes = nodesWithKeys(tx, id, row.sourceId)
    const worked = nodes.some(({ works }) => works)
    if (!host || (!worked && !domains.length)) return []
    const other = usedByAnother(tx, host.address, id)
    const nodeIds = nodes.map(({ nodeId }) => nodeId)
    const words = other === undefined ? null : `The keys stay there: the import ${other} still needs them.`
    const hasKeys = worked && other === undefined
    return hasKeys || domains.length ? [{ ...about, host, nodeIds, hasKeys, words }] : []
  })
}

/** Nodes remove all of it, beginning within seconds. Answers from how many hypervisors. */
export function wantCleanUps(tx: Tx, target: ImportRecord, now: number): number {
  const left = leftBehind(tx, target)
  for (const one of left)
    putCleanUp(tx, { ...one, importId: target.id, title: titleOf(target), state: 'waiting', since: now, nextAt: now })
  return left.length
}
