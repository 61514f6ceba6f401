// The one place that opens, changes and closes a stay, in the transaction of the change that needs it.
//
// A workload has a home until that is given back. A second node gets an `arriving` stay before anything of the
// workload is brought there, and its role is switched with the home once it runs there: the former home is `leaving`,
// and closed when nothing is left there. A node to which it does not come after all is `leaving`, too. Either way
// round a node holds what it has to hold, from before it comes until after it is gone. A workload that ends meanwhile
// gives back its home alone: the job that opened the other stay closes it.
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { lackingRoute } from '../../../network/ip-pools/given.ts'
import { changePlace, workloadById } from '../queries.ts'
import type { Workload } from '../tables.ts'
import {
  countChange,
  deleteStay,
  homeOf,
  insertStay,
  insertStayVolume,
  passingOn,
  rememberStay,
  setHeld,
  setRole,
  setRules,
  stayOn,
} from './queries.ts'
import type { Stay } from './tables.ts'

/** GiB and MiB that a workload holds of a node. */
export type Size = Pick<Workload, 'vcpus' | 'memoryMb' | 'diskGb'>

/** For a workload that was just inserted. `now`: in ms. */
export const openHome = (
  tx: Tx,
  { id, nodeId, pool, vcpus, memoryMb, diskGb }: Place & { id: string } & Size,
  now: number,
) => insertStay(tx, { workloadId: id, nodeId, role: 'home', pool, vcpus, memoryMb, diskGb, since: now })

type Place = Pick<Workload, 'nodeId' | 'pool'>
/** Where an extra volume will stand on the second node; GiB. */
export type ArrivingVolume = { volumeId: string; pool: string; diskGb: number }

type Arrival = Place & { spareDiskGb: number; volumes?: ArrivingVolume[]; readdressed?: boolean }
/**
 * Holds on a second node what the workload holds at home, its size in memory even where that is given back.
 * `spareDiskGb`: what comes along beside its disk, such as its snapshots; a disk that waits at home for its deletion
 * does not. `readdressed`: it will have other addresses there. Throws `no_addresses` where the node does not route
 * its own, and a unique violation where it has a stay there.
 * Whether the node has capacity the caller asks before: `second-node.ts`.
 */
export function openArriving(
  tx: Tx,
  id: string,
  { nodeId, pool, spareDiskGb, volumes = [], readdressed = false }: Arrival,
  now: number,
) {
  const { vcpus, diskGb } = mustHaveHome(tx, id)
  const lacking = readdressed ? undefined : lackingRoute(tx, id, nodeId)
  if (lacking)
    throw new ApiError('no_addresses', `The node has ${lacking.words}. Attach the pool to it, or choose another node.`)
  const { memoryMb } = workloadById(tx, id)!
  insertStay(tx, { workloadId: id, nodeId, role: 'arriving', pool, vcpus, memoryMb, diskGb, spareDiskGb, since: now })
  countChange(tx, id)
  for (const { volumeId, pool: at, diskGb: gb } of volumes)
    insertStayVolume(tx, { workloadId: id, nodeId, volumeId, pool: at, diskGb: gb })
}

/**
 * The workload is at home where it arrived, and leaves its former home. There already: nothing happens. Throws where it
 * does not arrive.
 */
export function switchHome(tx: Tx, id: string, { nodeId, locationId }: Pick<Workload, 'nodeId' | 'locationId'>) {
  const home = mustHaveHome(tx, id)
  if (home.nodeId === nodeId) return
  const arriving = stayOn(tx, id, nodeId)
  if (arriving?.role !== 'arriving') throw new Error(`${id} does not arrive on ${nodeId}`)
  setRole(tx, id, home.nodeId, 'leaving')
  setRole(tx, id, nodeId, 'home')
  countChange(tx, id)
  changePlace(tx, id, { nodeId, locationId, pool: arriving.pool })
}

/**
 * The workload is at home again where it leaves from, because its new home was lost before it ran there. At home there
 * already: nothing happens. `now`: in ms.
 */
export function returnHome(
  tx: Tx,
  id: string,
  { nodeId, locationId }: Pick<Workload, 'nodeId' | 'locationId'>,
  now: number,
) {
  const home = mustHaveHome(tx, id)
  if (home.nodeId === nodeId) return
  const leaving = stayOn(tx, id, nodeId)
  if (leaving?.role !== 'leaving') throw new Error(`${id} does not leave ${nodeId}`)
  deleteStay(tx, id, home.nodeId)
  rememberStay(tx, home, now)
  setRole(tx, id, nodeId, 'home')
  countChange(tx, id)
  changePlace(tx, id, { nodeId, locationId, pool: leaving.pool })
}

/** The workload does not come: what was brought there already has to be deleted. Anything else: nothing happens. */
export function turnBack(tx: Tx, id: string, nodeId: string) {
  if (stayOn(tx, id, nodeId)?.role !== 'arriving') return
  setRole(tx, id, nodeId, 'leaving')
  countChange(tx, id)
}

/** Gives back what a stay held that is no home; where there is none, nothing happens. `now`: in ms. */
export function closeStay(tx: Tx, id: string, nodeId: string, now: number) {
  const stay = stayOn(tx, id, nodeId)
  if (!stay) return
  if (stay.role === 'home') throw new Error(`${id} is at home on ${nodeId}`)
  deleteStay(tx, id, nodeId)
  countChange(tx, id)
  rememberStay(tx, stay, now)
}

/** For a node that is lost or removed: nothing arrives there, and nothing has to be deleted. Homes stay as they are. */
export function closePassingOn(tx: Tx, nodeId: string, now: number) {
  for (const { workloadId } of passingOn(tx, nodeId)) closeStay(tx, workloadId, nodeId, now)
}

/** Gives back the home of a terminated workload, from which its disk is gone. */
export function releaseHome(tx: Tx, id: string, now: number) {
  const home = homeOf(tx, id)
  if (home) {
    deleteStay(tx, id, home.nodeId)
    rememberStay(tx, home, now)
  }
  changePlace(tx, id, { releasedAt: now })
}

/** Changes the size of a workload, and what it holds at home; memory that is given back stays so. */
export function resize(tx: Tx, id: string, { vcpus, memoryMb, diskGb }: Size) {
  changePlace(tx, id, { vcpus, memoryMb, diskGb })
  const home = homeOf(tx, id)
  if (home) setHeld(tx, { ...home, vcpus, memoryMb: home.memoryMb && memoryMb, diskGb })
}

/**
 * Changes the space in GiB that a workload holds beside that of its disk: on its home, where no other node is named. No
 * stay there: nothing happens.
 */
export function changeSpare(tx: Tx, id: string, byGb: number, nodeId?: string) {
  const stay = nodeId === undefined ? homeOf(tx, id) : stayOn(tx, id, nodeId)
  if (stay && byGb) setHeld(tx, { ...stay, spareDiskGb: stay.spareDiskGb + byGb })
}

/** The memory at home is for others while a terminated workload is stopped. */
export function giveBackMemory(tx: Tx, id: string) {
  const home = homeOf(tx, id)
  if (home) setHeld(tx, { ...home, memoryMb: 0 })
}
/** Does its node hold memory for it, at home? */
export const holdsMemory = (tx: Tx, id: string): boolean => (homeOf(tx, id)?.memoryMb ?? 0) > 0
/** Holds its memory again, as far as it was given back. */
export function takeMemoryAgain(tx: Tx, { id, memoryMb }: Pick<Workload, 'id' | 'memoryMb'>) {
  const home = homeOf(tx, id)
  if (home) setHeld(tx, { ...home, memoryMb })
}

/** This revision of the firewall is in force on a node. No stay there, or a newer one: nothing happens. */
export const noteRules = (tx: Tx, id: string, nodeId: string, revision: number) => setRules(tx, id, nodeId, revision)

function mustHaveHome(tx: Tx, id: string): Stay {
  const home = homeOf(tx, id)
  if (!home) throw new Error(`${id} has no home`)
  return home
}
