// The own packages, pools, locations and nodes, which decide what choices are offered. Each is read once.

import type { Package } from '../../catalog/packages/model.ts'
import { allPackages } from '../../catalog/packages/queries.ts'
import { allLocations } from '../../fleet/locations/queries.ts'
import { nodesWithAddresses } from '../../fleet/node-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { allPools } from '../../network/ip-pools/queries.ts'
import { everyRow, hypervisorsOfRange, type ImportHypervisor } from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/model.ts'

export type OwnPool = ReturnType<typeof allPools>[number]

/** A choice of a part: whether it can be made now, and its effect, or why it cannot. */
export type Offer<C extends string = string> = { choice: C; isOffered: boolean; words: string }
export const offer = <C extends string>(choice: C, words: string): Offer<C> => ({ choice, isOffered: true, words })
export const withheld = <C extends string>(choice: C, words: string): Offer<C> => ({ choice, isOffered: false, words })

export class Facts {
  readonly #read = new Map<string, unknown>()
  constructor(
    readonly tx: Db,
    readonly target: ImportRecord,
  ) {}

  #once<T>(name: string, read: () => T): T {
    if (!this.#read.has(name)) this.#read.set(name, read())
    return this.#read.get(name) as T
  }
  /** Own packages that can be ordered, by name. */
  get packages(): readonly Package[] {
    return this.#once('packages', () => allPackages(this.tx).filter(({ archived }) => !archived))
  }
  get pools() {
    return this.#once('pools', () => allPools(this.tx))
  }
  get locations() {
    return this.#once('locations', () => allLocations(this.tx))
  }
  get nodes() {
    return this.#once('nodes', () => nodesWithAddresses(this.tx))
  }
  get hypervisors(): readonly ImportHypervisor[] {
    return this.#once('hypervisors', () => [...everyRow(this.tx, 'hypervisors', this.target.id)])
  }
  /** The hypervisors on which servers with an address of the range are: of a large range that takes 20 ms to read. */
  hypervisorIdsOf(rangeId: string): ReadonlySet<string> {
    return this.#once(`range ${rangeId}`, () => new Set(hypervisorsOfRange(this.tx, this.target.id, rangeId)))
  }
  /** Hypervisors may have changed. */
  forgetHypervisors() {
    this.#read.delete('hypervisors')
  }
}
