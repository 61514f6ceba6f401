// The deliveries of one kind that are under way, counted by lane and by group.
import type { Db } from '../db/open.ts'
import type { DeliveryFailed, DeliveryKind } from './delivery-kind.ts'
import type { Claimed } from './queries.ts'

/** An attempt that was made: when it began, and the record of it. Without a failure the receiver took it. */
export type Attempt = { at: number; record?: object | undefined; failure?: DeliveryFailed }

type Active = Pick<Claimed, 'lane' | 'group' | 'orderedBy'> & { done: Promise<void> }

export class InFlight {
  private byId = new Map<string, Active>()
  /** By lane: the ids, each with the value that orders it. */
  private lanes = new Map<string, Map<string, string | null>>()
  private groups = new Map<string, number>()

  constructor(private kind: DeliveryKind) {}

  get size(): number {
    return this.byId.size
  }
  has = (id: string): boolean => this.byId.has(id)
  all = (): Promise<void>[] => [...this.byId.values()].map(({ done }) => done)
  inLane = (lane: string): number => this.lanes.get(lane)?.size ?? 0

  hasFreePlace(db: Db, lane: string, group: string | null): boolean {
    if (group !== null && this.kind.groups)
      if ((this.groups.get(group) ?? 0) >= this.kind.groups(group).inFlight) return false
    return this.inLane(lane) < this.mostInLane(db, group)
  }
  mostInLane(db: Db, group: string | null): number {
    const { perLane } = this.kind.inFlight
    return typeof perLane === 'number' ? perLane : perLane(db, group ?? '')
  }

  /** It is under way itself, or one of the same lane that must leave before it. */
  blocks(lane: string, { id, orderedBy }: Pick<Claimed, 'id' | 'orderedBy'>): boolean {
    if (this.byId.has(id)) return true
    if (orderedBy === null) return false
    for (const other of this.lanes.get(lane)?.values() ?? []) if (other === orderedBy) return true
    return false
  }

  add({ id, lane, group, orderedBy }: Claimed, done: Promise<void>) {
    this.byId.set(id, { lane, group, orderedBy, done })
    const inLane = this.lanes.get(lane)
    if (inLane) inLane.set(id, orderedBy)
    else this.lanes.set(lane, new Map([[id, orderedBy]]))
    if (group !== null) this.groups.set(group, (this.groups.get(group) ?? 0) + 1)
  }

  delete(id: string) {
    const found = this.byId.get(id)
    if (!found) return
    const { lane, group } = found
    this.byId.delete(id)
    const inLane = this.lanes.get(lane)!
    inLane.delete(id)
    if (!inLane.size) this.lanes.delete(lane)
    if (group === null) return
    const left = this.groups.get(group)! - 1
    if (left) this.groups.set(group, left)
    else this.groups.delete(group)
  }
}
