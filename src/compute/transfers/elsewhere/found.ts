// A server that another node runs than its record says, after a restore of an older state: what both nodes say of it,
// and whether the record can follow it. Nothing is taken from a node's word alone that would harm another server.
import { nodeCommand, type Power, type Volume } from '../../../../agent/protocol/wire.ts'
import type { Node } from '../../../fleet/node-records/model.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { poolSpaceOf } from '../../../fleet/storage-pools/queries.ts'
import { volumesOf } from '../../../fleet/volume-records/queries.ts'
import { staysOf } from '../../../fleet/workloads/stays/queries.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { addressesOf, isOwn } from '../../../network/ip-pools/allocate.ts'
import { claimsOf } from '../../../network/ip-pools/claims.ts'
import { lackingRoute } from '../../../network/ip-pools/given.ts'
import { membershipsOf } from '../../../network/private-network-records/queries.ts'
import type { Server } from '../../server-records/model.ts'
import { GIB } from '../../server-vm/definition.ts'
import { isOn } from '../../server-vm/steps.ts'
import { floatingOn } from '../movable.ts'

type Nodes = AppContext['nodes']

/** The nodes that say they run the server, other than its home. */
export const nodesThatRun = (nodes: Nodes, serverId: string): string[] =>
  nodes.strays().flatMap(({ workloadId, nodeId }) => (workloadId === serverId ? [nodeId] : []))

/** The answers of the nodes. Undefined for what one did not answer. */
export type Told = {
  runsAtHome: boolean | undefined
  /** Of the first of the nodes that run it. */
  power: Power | undefined
  /** By the id of the disk in the inventory, in bytes. */
  sizes: ReadonlyMap<string, number>
}

/** Asks its home and the node that runs it. */
export async function ask(nodes: Nodes, db: Db, server: Server): Promise<Told> {
  const [there] = nodesThatRun(nodes, server.id)
  const powerOn = async (nodeId: string) => {
    try {
      return (await nodes.read(nodeCommand(nodeId, 'vm.look', { workload: server.id })))?.power
    } catch (error) {
      if (error instanceof CommandFailed) return undefined
      throw error
    }
  }
  const home = await powerOn(server.nodeId)
  const sizes = new Map<string, number>()
  if (there !== undefined)
    for (const volume of disksOf(nodes, db, server, there))
      try {
        const size = (await nodes.read(nodeCommand(there, 'volume.look', volume)))?.sizeBytes
        if (typeof size === 'number') sizes.set(volume.workload, size)
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error
      }
  return {
    runsAtHome: home === undefined ? undefined : isOn(home),
    power: there === undefined ? undefined : await powerOn(there),
    sizes,
  }
}

/** The disks of the server and of its extra volumes that the node has. */
function disksOf(nodes: Nodes, db: Db, server: Server, nodeId: string): Volume[] {
  const wanted = new Set([server.id, ...volumesOf(db, server.id).map(({ id }) => id)])
  return (nodes.disksOn(nodeId) ?? []).filter(({ workload }) => wanted.has(workload))
}

/** The new values of the record; GiB. */
export type Adoptable = {
  node: Node
  power: 'running' | 'paused'
  disk: Volume
  diskGb: number
  volumes: { volumeId: string; disk: Volume }[]
}

/**
 * Throws `not_elsewhere`, `runs_twice`, and `not_adoptable` with the difference that the record cannot follow, each
 * with the next step.
 */
export function mustBeAdoptable(tx: Db, nodes: Nodes, server: Server, told: Told): Adoptable {
  const node = theOnlyNode(tx, nodes, server, told)
  const refuse = (words: string) => new ApiError('not_adoptable', words)
  mustBeInstalled(server, refuse)
  if (staysOf(tx, server.id).length > 1)
    throw refuse(`A move of ${server.hostname} has not ended in the records. Wait until its jobs have ended.`)
  if (told.power !== 'running' && told.power !== 'paused')
    throw refuse(`${node.name} does not answer whether it runs ${server.hostname}. Try again when it does.`)
  mustHaveItsAddresses(tx, server, node, refuse)
  const disks = disksOf(nodes, tx, server, node.id)
  const { disk, diskGb } = itsDisk(tx, server, node, { disks, told, refuse })
  const volumes = volumesOf(tx, server.id).map(({ id, name, sizeGb }) => {
    const found = disks.find(({ workload }) => workload === id)
    if (!found || poolSpaceOf(tx, { nodeId: node.id, pool: found.pool }) === undefined)
      throw refuse(`Its extra volume ${name} is not on ${node.name}. Detach it in the panel first, or restore later.`)
    if (told.sizes.get(id) !== sizeGb * GIB)
      throw refuse(`The size of its extra volume ${name} on ${node.name} is not the one in the records. ${LATER}`)
    return { volumeId: id, disk: found }
  })
  return { node, power: told.power, disk, diskGb, volumes }
}

const LATER = 'Restore a later state, or bring its disk to the recorded node as docs/standby.md says.'
type Refuse = (words: string) => ApiError

function theOnlyNode(tx: Db, nodes: Nodes, { id, hostname, nodeId }: Server, { runsAtHome }: Told): Node {
  const found = nodesThatRun(nodes, id).map((one) => nodeById(tx, one)!)
  const [node] = found
  const home = nodeById(tx, nodeId)!
  if (!node)
    throw new ApiError(
      'not_elsewhere',
      `No other node than ${home.name} says that it runs ${hostname}. Nothing has to be done.`,
    )
  if (found.length > 1)
    throw new ApiError(
      'runs_twice',
      `${found.map(({ name }) => name).join(' and ')} run ${hostname}. Find out which of them is the right one, and ` +
        'shut it down on the others (virsh shutdown).',
    )
  if (runsAtHome)
    throw new ApiError(
      'runs_twice',
      `${home.name} runs ${hostname}, too. Find out which of the two is the right one, and shut the other one down.`,
    )
  if (runsAtHome === undefined && home.lostAt === null && home.removedAt === null)
    throw new ApiError(
      'runs_twice',
      `${home.name} does not answer, so nobody says whether it runs ${hostname}, too. Try again when it is there, ` +
        'or switch it off and declare it lost.',
    )
  return node
}

function mustBeInstalled({ hostname, terminatedAt, diskGeneration, rescue }: Server, refuse: Refuse) {
  if (terminatedAt !== null)
    throw refuse(`${hostname} is terminated in the records. Bring it back first, or shut it down there.`)
  if (diskGeneration === null) throw refuse(`${hostname} was not installed when the records were made. ${LATER}`)
  if (rescue) throw refuse(`${hostname} is in rescue in the records. ${LATER}`)
}

/** It answers for its own addresses there, and for no others. */
function mustHaveItsAddresses(tx: Db, server: Server, node: Node, refuse: Refuse) {
  const lacking = lackingRoute(tx, server.id, node.id)
  if (lacking) throw refuse(`${node.name} has ${lacking.words}. Attach the pool to it first.`)
  const claimed = claimsOf(tx, node.id).filter(({ workloadId }) => workloadId === server.id)
  const other = claimed.find(({ holder }) => holder !== server.id)
  if (other)
    throw refuse(
      `On ${node.name} it has the address ${other.address}, which the records do not give to it: it got others in ` +
        `the time that was lost. ${LATER}`,
    )
  const missing = addressesOf(tx, server.id).find(({ id }) => !claimed.some(({ addressId }) => addressId === id))
  if (missing && isOwn(missing))
    throw refuse(
      `${node.name} does not say that it has ${missing.address} there. It tells its addresses within five minutes; ` +
        `if that lasts, it got others in the time that was lost. ${LATER}`,
    )
  if (node.locationId === server.locationId) return
  if (floatingOn(tx, server.id).length || membershipsOf(tx, server.id).length)
    throw refuse(
      `${node.name} is in another location, and its floating addresses and private networks are not. Take it out of ` +
        'them first.',
    )
}

type Disks = { disks: readonly Volume[]; told: Told; refuse: Refuse }
function itsDisk(tx: Db, server: Server, node: Node, { disks, told, refuse }: Disks) {
  const { hostname } = server
  const own = disks.filter(({ workload }) => workload === server.id)
  const [disk] = own
  if (!disk) throw refuse(`${node.name} has not said where the disk of ${hostname} is. Try again in five minutes.`)
  if (own.length > 1) throw refuse(`${node.name} has ${own.length} disks of ${hostname}, and not which one is right.`)
  if (poolSpaceOf(tx, { nodeId: node.id, pool: disk.pool }) === undefined)
    throw refuse(`The disk of ${hostname} is in ${disk.pool} of ${node.name}, which is no storage pool any more.`)
  if (disk.layer)
    throw refuse(`Its disk on ${node.name} has snapshots of the time that was lost, which the records lack. ${LATER}`)
  const sizeBytes = told.sizes.get(server.id)
  if (sizeBytes === undefined)
    throw refuse(`${node.name} does not say how large the disk of ${hostname} is. Try again when its pool answers.`)
  const diskGb = Math.round(sizeBytes / GIB)
  if (diskGb * GIB !== sizeBytes || diskGb < server.diskGb)
    throw refuse(
      `Its disk on ${node.name} has ${sizeBytes} bytes, and the records say ${server.diskGb} GiB: it is another one. ` +
        LATER,
    )
  return { disk, diskGb }
}
