// The plan of an installation: every value that its commands send to the node, worked out once from the row, so that a
// repeated step sends the same values.
import {
  type ImageSource,
  type PortRules,
  type Seed,
  TAP_PREFIX,
  type Vm,
  type Volume,
} from '../../../../agent/protocol/wire.ts'
import { bridgeAndPoolOf } from '../../../fleet/nodes/queries.ts'
import { takeDiskGeneration } from '../../../fleet/workloads/queries.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { addressesOf } from '../../../network/ip-pools/allocate.ts'
import type { Server } from '../model.ts'
import { type Access, seedFor } from './seed.ts'

export const GIB = 1024 ** 3
/** Seconds a guest may take until it answers. Real images take half a minute, emulated ones several minutes. */
export const BOOT_LIMIT_SECONDS = 300

/** The input of the jobs that install a system. */
export type Installing = { serverId: string; nodeId: string; image: ImageSource; access: Access }

export type Plan = {
  volume: Volume
  sizeBytes: number
  portRules: PortRules
  vm: Vm
  seed: Seed
  address: string | null
}

/** The server's volume of this generation. */
export const volumeOf = (server: Server, generation: number): Volume => ({
  workload: server.id,
  generation,
  pool: server.pool,
  format: server.format,
})

/** The vm of a server on this volume. `seeded`: its first boot is ahead. */
export function vmOf(tx: Tx, server: Server, volume: Volume, seeded: boolean): Vm {
  const { bridge } = bridgeAndPoolOf(tx, server.nodeId)!
  return {
    workload: server.id,
    hostname: server.hostname,
    vcpus: server.vcpus,
    memoryMb: server.memoryMb,
    volume,
    seeded,
    restartPolicy: server.restartPolicy,
    network: { bridge, tap: tapOf(server), mac: server.mac, portMbps: server.portMbps },
  }
}

const tapOf = (server: Server) => `${TAP_PREFIX}${server.number}`

/**
 * Plans an installation on a new disk, whose generation it takes from the workload. `instance` identifies the
 * installation to the guest, so that each one runs the first-boot work.
 */
export function planInstallation(tx: Tx, server: Server, access: Access, instance: string): Plan {
  const held = addressesOf(tx, server.id)
  const volume = volumeOf(server, takeDiskGeneration(tx, server.id))
  return {
    volume,
    sizeBytes: server.diskGb * GIB,
    portRules: {
      workload: server.id,
      tap: tapOf(server),
      mac: server.mac,
      ipv4: held.filter((a) => a.version === 4).map((a) => a.address),
      ipv6: held.filter((a) => a.version === 6).map((a) => `${a.address}/${a.prefixLength}`),
    },
    vm: vmOf(tx, server, volume, true),
    seed: seedFor(server, held, access, instance),
    address: held.find((a) => a.version === 4)?.address ?? null,
  }
}

/** The line for the log of a job whose guest did not answer. */
export const NO_ANSWER =
  `It runs but did not answer within ${BOOT_LIMIT_SECONDS} s, neither by guest agent nor by SSH. ` +
  'Check its console.'
