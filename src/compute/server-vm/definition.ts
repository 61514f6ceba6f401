// The vm of a server and the rules of its port, in the form that commands send to its node. They are worked out from
// the row, so that a repeated command sends the same values.
import { type Hardware, type PortRules, TAP_PREFIX, type Vm, type Volume } from '../../../agent/protocol/wire.ts'
import { bridgeOf } from '../../fleet/node-records/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { addressesOf, type HeldAddress, isOwn } from '../../network/ip-pools/allocate.ts'
import { vlanOfAddresses } from '../../network/ip-pools/vlan/carried.ts'
import { speedOf } from '../server-records/limits.ts'
import type { Server } from '../server-records/model.ts'

export const GIB = 1024 ** 3
/** The server's volume of this generation; of the one in use with the layer that it writes. */
export const volumeOf = (server: Server, generation: number): Volume => ({
  workload: server.id,
  generation,
  pool: server.pool,
  format: server.format,
  ...(generation === server.diskGeneration && server.diskLayer > 0 && { layer: server.diskLayer }),
})

/**
 * The vm of a server on this volume; on the volume in use it is in rescue when the server is. `seeded`: its first boot
 * is ahead. A seed that waits for the next start stays attached. `held`: its addresses there, by which its network card
 * is in a VLAN.
 */
export function vmOf(
  tx: Tx,
  server: Server,
  volume: Volume,
  seeded: boolean,
  held: readonly HeldAddress[] = addressesOf(tx, server.id),
): Vm {
  const rescue = volume.generation === server.diskGeneration ? server.rescue : null
  const bridge = bridgeOf(tx, server.nodeId)!
  const vlan = vlanOfAddresses(held)
  return {
    workload: server.id,
    hostname: server.hostname,
    vcpus: server.vcpus,
    memoryMb: server.memoryMb,
    volume,
    // A rescue system does not read it.
    seeded: seeded || (server.pendingSeed !== null && !rescue),
    restartPolicy: server.restartPolicy,
    hardware: machineOf(rescue?.hardware ?? server),
    ...(server.cpuModel !== null && { cpuModel: server.cpuModel }),
    bootFirst: server.bootFirst,
    iso: server.isoId,
    rescue: rescue && volumeOf(server, rescue.generation),
    network: { bridge, ...(vlan !== null && { vlan }), tap: tapOf(server), mac: server.mac },
    speed: speedOf(server),
  }
}

/** The part of it that the node needs. The usual devices are left out, which agents of earlier releases do not know. */
const machineOf = ({ machine, firmware, tpm, os, diskBus, nicModel }: Hardware): Hardware => ({
  ...{ machine, firmware, tpm, os },
  ...(diskBus !== 'virtio' && { diskBus }),
  ...(nicModel !== 'virtio' && { nicModel }),
})

/** The rules of its port for the addresses that belong to the server itself; floating ones have their own command. */
export function portRulesOf(server: Server, held: readonly HeldAddress[]): PortRules {
  const own = held.filter(isOwn)
  return {
    workload: server.id,
    tap: tapOf(server),
    mac: server.mac,
    ipv4: own.filter((a) => a.version === 4).map((a) => a.address),
    ipv6: own.filter((a) => a.version === 6).map((a) => `${a.address}/${a.prefixLength}`),
  }
}

/** The network device of its vm on the node. */
export const tapOf = (server: Server) => `${TAP_PREFIX}${server.number}`
