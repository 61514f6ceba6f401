// The plan of an installation: every value that its commands send to the node, worked out once from the row, so that a
// repeated step sends the same values.
import {
  type ConfigDrive,
  type GuestLook,
  type Hardware,
  type ImageSource,
  type PortRules,
  type Seed,
  TAP_PREFIX,
  type Vm,
  type Volume,
} from '../../../../agent/protocol/wire.ts'
import type { SystemHardware } from '../../../catalog/images/hardware.ts'
import { bridgeOf } from '../../../fleet/node-records/queries.ts'
import { takeDiskGeneration } from '../../../fleet/workloads/queries.ts'
import { noteRules } from '../../../fleet/workloads/stays/stays.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { policyOf } from '../../../network/firewall-records/policy.ts'
import { addressesOf, type HeldAddress, isOwn } from '../../../network/ip-pools/allocate.ts'
import type { Server } from '../model.ts'
import { speedOf } from '../speed/limits.ts'
import { withPrivateCards } from './private-cards.ts'
import { type Access, type FirstBoot, guestCidr, seedFor } from './seed.ts'

export const GIB = 1024 ** 3
/** Seconds a guest may take until it answers. Real images take half a minute, emulated ones several minutes. */
export const BOOT_LIMIT_SECONDS = 300

/** Seconds after its first answer in which a guest is to have its network and name. */
const LOOK_LIMIT_SECONDS = 60
const MOST_LOOKED_AT = 100

/** The input of the jobs that install a system. */
export type Installing = {
  serverId: string
  nodeId: string
  image: ImageSource
  hardware: SystemHardware
  access: Access
  firstBoot?: FirstBoot
}

export type Plan = {
  volume: Volume
  sizeBytes: number
  portRules: PortRules
  vm: Vm
  seed: Seed | ConfigDrive
  address: string | null
  /** The network and name for its guest; not of Windows, which is set up long after its agent answers. */
  look?: GuestLook
}

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
 * is ahead. A seed that waits for the next start stays attached.
 */
export function vmOf(tx: Tx, server: Server, volume: Volume, seeded: boolean): Vm {
  const rescue = volume.generation === server.diskGeneration ? server.rescue : null
  const bridge = bridgeOf(tx, server.nodeId)!
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
    bootFirst: server.bootFirst,
    iso: server.isoId,
    rescue: rescue && volumeOf(server, rescue.generation),
    network: { bridge, tap: tapOf(server), mac: server.mac },
    speed: speedOf(server),
  }
}

/** The part of it that the node needs. */
const machineOf = ({ machine, firmware, tpm, os }: Hardware): Hardware => ({ machine, firmware, tpm, os })

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

const tapOf = (server: Server) => `${TAP_PREFIX}${server.number}`

/**
 * Plans an installation on a new disk, whose generation it takes from the workload. `instance` identifies the
 * installation to the guest, so that each one runs the first-boot work.
 */
export function planInstallation(
  tx: Tx,
  server: Server,
  chosen: Pick<Installing, 'access' | 'firstBoot'>,
  instance: string,
): Plan {
  const held = addressesOf(tx, server.id)
  const volume = volumeOf(server, takeDiskGeneration(tx, server.id))
  return {
    volume,
    sizeBytes: server.diskGb * GIB,
    // The installation puts the policy into force.
    portRules: { ...portRulesOf(server, held), policy: policyInstalled(tx, server) },
    // The new system, not an installer that an ISO of the old one may hold.
    vm: vmOf(tx, { ...server, bootFirst: 'disk' }, volume, true),
    seed: withPrivateCards(tx, seedFor(server, held, chosen.access, instance, chosen.firstBoot)),
    address: held.find((a) => a.version === 4)?.address ?? null,
    ...(server.os !== 'windows' && { look: lookOf(server, held) }),
  }
}

const lookOf = (server: Server, held: readonly HeldAddress[]): GuestLook => ({
  tap: tapOf(server),
  mac: server.mac,
  addresses: held.slice(0, MOST_LOOKED_AT).map((a) => guestCidr(a).split('/')[0]!),
  names: [...new Set([server.hostname, server.hostname.split('.')[0]!])],
  limitSeconds: LOOK_LIMIT_SECONDS,
})

/** The startup script of an installation, for the record of what it leaves. */
export const startupScriptIn = ({ firstBoot }: Installing, jobId: string, now: number) =>
  firstBoot?.script && { jobId, ...firstBoot.script, startedAt: now }

function policyInstalled(tx: Tx, server: Server) {
  const policy = policyOf(tx, server)
  noteRules(tx, server.id, server.nodeId, policy.revision)
  return policy
}

/** The line for the log of a job whose guest did not answer. */
export const NO_ANSWER =
  `It runs but did not answer within ${BOOT_LIMIT_SECONDS} s, neither by guest agent nor by SSH. ` +
  'Check its console.'
