// The plan of an installation: every value that its commands send to the node, worked out once from the row, so that a
// repeated step sends the same values.
import type { ConfigDrive, GuestLook, ImageSource, PortRules, Seed, Vm, Volume } from '../../../agent/protocol/wire.ts'
import type { SystemHardware } from '../../catalog/images/hardware.ts'
import { takeDiskGeneration } from '../../fleet/workloads/queries.ts'
import { noteRules } from '../../fleet/workloads/stays/stays.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { policyOf } from '../../network/firewall-records/policy.ts'
import { addressesOf, type HeldAddress } from '../../network/ip-pools/allocate.ts'
import type { Server } from '../server-records/model.ts'
import { GIB, portRulesOf, tapOf, vmOf, volumeOf } from '../server-vm/definition.ts'
import { withPrivateCards } from '../server-vm/private-cards.ts'
import { type Access, type FirstBoot, guestCidr, seedFor } from '../server-vm/seed.ts'

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

/** The hash of the password, which the plan has in the data of the first boot as well. */
export const secretsIn = ({ access }: Installing) => [access.passwordHash]

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
