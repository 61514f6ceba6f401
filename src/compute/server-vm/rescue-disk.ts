// A server in rescue boots another system from a disk of its own; its own disk is the second one of the machine.

import type { Vm } from '../../../agent/protocol/wire.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { load, type Server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { vmOf, volumeOf } from './definition.ts'
import { removeDisk } from './remove-disk.ts'

/** The definition with which an installed server starts its own system. */
export const ownSystem = (tx: Tx, server: Server): Vm =>
  vmOf(tx, { ...server, rescue: null }, volumeOf(server, server.diskGeneration!), false)

/** The server is no longer in rescue, and a job deletes the disk of the rescue system; outside of rescue nothing. */
export function leaveRescue(tx: Tx, serverId: string, now: number) {
  const server = load(tx, serverId)
  if (!server.rescue) return
  const { generation, diskGb } = server.rescue
  updateServer(tx, serverId, { rescue: null })
  removeDisk(tx, { serverId, nodeId: server.nodeId, volume: volumeOf(server, generation), diskGb }, now)
}
