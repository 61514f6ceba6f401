import { Type as t } from 'typebox'
import { line, timestamp } from '../bounds.ts'
import { Volume } from '../values/disks.ts'
import { address } from '../values/ports.ts'
import {
  ArrivingDisk,
  Copied,
  DiskChecksum,
  MOST_DISKS,
  maxMbps,
  ofTransfer,
  SshTarget,
  sshPublicKey,
} from '../values/transfers.ts'
import { Power } from '../values/vms.ts'
import { act, look } from './declare.ts'
import { loadsRules } from './firewall.ts'
import { findsDisk, makesDisk } from './storage.ts'

const nothing = t.Object({})
/**
 * One volume for each disk that the target has made, without those that both nodes reach, in the order of
 * `transfer.receive`.
 */
const volumes = t.Array(Volume, { minItems: 1, maxItems: MOST_DISKS })

/**
 * Failures of a source that reaches its target by SSH. `no_transfer`: `transfer.key` comes first. `transfer_refused`:
 * the target's SSH server has another key, or does not let this key in. `transfer_unreachable`: it does not answer.
 * `transfer_cut`: the connection broke and did not come back. `transfer_ended`: `transfer.end` came meanwhile.
 */
const reachesTarget = [
  'no_transfer',
  'transfer_refused',
  'transfer_unreachable',
  'transfer_cut',
  'transfer_ended',
] as const

const migrating = t.Object({ ...ofTransfer, to: SshTarget, disks: t.Array(Volume, { maxItems: MOST_DISKS }), maxMbps })
const migrates = [
  ...reachesTarget,
  ...findsDisk,
  ...(['no_vm', 'no_volume', 'disk_differs', 'pool_full', 'not_running', 'does_not_converge'] as const),
  ...(['migration_failed', 'hypervisor_silent'] as const),
] as const

/**
 * A move of a workload from one node, the source, to another, the target. The source reaches the target by SSH alone,
 * with a key of this transfer; what it can do there is written to the transfer's disks, and give the vm over.
 */
export const transferCommands = {
  /** On the source: makes the key of the transfer, once. It never leaves the node, and ends with `transfer.end`. */
  'transfer.key': act({
    input: t.Object(ofTransfer),
    output: t.Object({ publicKey: sshPublicKey }),
    failures: [],
  }),
  /**
   * On the target: makes the disks, of exactly these sizes, and lets the key in from these addresses until `expiresAt`.
   * `by`: the way in which the disks are filled, by `transfer.copy` and `transfer.mirror`, or by a migration.
   * `transfer.renew` puts its end off. Sent again, it keeps the disks that it made; `volume_differs`: another disk has
   * the name, or one that both nodes were to reach is not here. The disks stay after `transfer.end`, unless that
   * discards them; `volume.remove` deletes them. From now on the node does not start the workload, until
   * `transfer.resume` or `transfer.end`. `no_ssh_server`: the node has no OpenSSH server that can let it in.
   */
  'transfer.receive': act({
    input: t.Object({
      ...ofTransfer,
      from: t.Array(address, { minItems: 1, maxItems: 10 }),
      publicKey: sshPublicKey,
      disks: t.Array(ArrivingDisk, { maxItems: MOST_DISKS }),
      by: t.Enum(['copy', 'migration']),
      expiresAt: timestamp,
      /** A copy brings what the firmware has stored, behind the disks. */
      firmware: t.Optional(t.Boolean()),
    }),
    output: t.Object({
      port: SshTarget.properties.port,
      user: SshTarget.properties.user,
      hostKeys: SshTarget.properties.hostKeys,
      /** Agents of earlier releases take no firmware, and leave it out. */
      firmware: t.Optional(t.Boolean()),
    }),
    failures: [...makesDisk, 'no_ssh_server'],
  }),
  /**
   * On the source, of a vm that is off: makes the target's disks the same as `disks`. What is the same already is not
   * sent: after a cut, after `transfer.mirror`, and when it is sent again. `vm_runs`: it is not off. `disk_differs`:
   * the target's disk has another size. `checksum_differs`: what was sent again is not what the target reads.
   * `pool_full`: of the target. `firmware`: the disk of the system, with which the variables of its firmware and the
   * state of its TPM are stored; they are sent behind the disks.
   */
  'transfer.copy': act({
    input: t.Object({
      ...{ ...ofTransfer, to: SshTarget, maxMbps },
      disks: t.Array(Volume, { maxItems: MOST_DISKS }),
      firmware: t.Optional(Volume),
    }),
    output: Copied,
    failures: [
      ...reachesTarget,
      ...findsDisk,
      'no_volume',
      'disk_differs',
      'checksum_differs',
      'pool_full',
      'vm_runs',
      'hypervisor_silent',
    ],
    outOfTurn: true,
  }),
  /**
   * On the source, of a vm that runs: copies its disks, and from then on writes there what the vm writes, before the vm
   * learns that it is written; so until the vm ends or `transfer.end`. The disks are compared before it answers, so
   * that after a vm that shut itself down `transfer.copy` compares what was written since. `not_running`: it does not
   * run.
   */
  'transfer.mirror': act({
    input: t.Object({ ...ofTransfer, to: SshTarget, disks: volumes, maxMbps }),
    output: Copied,
    failures: [
      ...reachesTarget,
      ...findsDisk,
      'no_volume',
      'disk_differs',
      'pool_full',
      'not_running',
      'hypervisor_silent',
    ],
    outOfTurn: true,
  }),
  /**
   * On both: reads the disks, which no vm has open, and answers the checksum of each. The controller compares those of
   * the two nodes. On the target while the transfer is open. `ahead`: begins to read, and answers at once with no disk;
   * who asks again without it gets what was read by then and the rest.
   */
  'transfer.checksum': look({
    input: t.Object({ ...ofTransfer, disks: volumes, ahead: t.Optional(t.Boolean()) }),
    output: t.Object({ disks: t.Array(DiskChecksum, { maxItems: MOST_DISKS }) }),
    failures: [...findsDisk, 'no_volume', 'vm_runs', 'hypervisor_silent', 'transfer_ended'],
  }),
  /**
   * On the source, of a vm that runs: begins its migration. Its disks, where `disks` names any, are copied, and follow
   * what the vm writes; its memory waits for `transfer.migrate`, and the vm runs on here until then. Answers when only
   * the memory is left. `transfer.end` ends it without a trace. `does_not_converge`: it writes faster than it is
   * copied.
   */
  'transfer.begin-migration': act({ input: migrating, output: Copied, failures: migrates, outOfTurn: true }),
  /**
   * On the source, after `transfer.begin-migration`: hands the vm over to the target with its memory. Afterwards it is
   * paused there, runs nowhere, and is defined no more here; a failure leaves it running here. A migration that has
   * ended with the agent is not begun again: `transfer_cut`, unless the vm has left. This node does not start the vm
   * from then on, until `transfer.end`. What a crash has left is decided by both nodes. `stoppedAt`: when the vm
   * stopped, by the clock of the target.
   */
  'transfer.migrate': act({
    input: migrating,
    output: t.Object({ ...Copied.properties, stoppedAt: timestamp }),
    failures: migrates,
    outOfTurn: true,
  }),
  /**
   * On the source: the limit of the copy, mirror or migration that is under way, and of those that begin later; one
   * that does not know the transfer does nothing.
   */
  'transfer.limit': act({
    input: t.Object({ ...ofTransfer, maxMbps }),
    output: nothing,
    failures: [],
    outOfTurn: true,
  }),
  /**
   * On the target: lets the key of the transfer in until then, instead of until the end that was said before. What the
   * transfer does goes on. `no_transfer`: it is not open here.
   */
  'transfer.renew': act({
    input: t.Object({ ...ofTransfer, expiresAt: timestamp }),
    output: nothing,
    failures: [...findsDisk, 'no_transfer', 'no_ssh_server', 'hypervisor_silent'],
    outOfTurn: true,
  }),
  /**
   * On the target, of a vm that is off: what `transfer.copy` has sent of its firmware is what it has at its next start.
   * `volume`: the disk of its system here. `checksum_differs`: that is not what was sent.
   */
  'transfer.place-firmware': act({
    input: t.Object({ ...ofTransfer, volume: Volume }),
    output: nothing,
    failures: ['no_transfer', 'vm_runs', 'hypervisor_silent', 'checksum_differs'],
  }),
  /**
   * On the source, of a vm that is off: it has given the workload up, and does not start it until `transfer.end`,
   * whoever asks. `given` false takes it back. `no_transfer`: `transfer.key` comes first. `vm_runs`: it is not off.
   */
  'transfer.give': act({
    input: t.Object({ ...ofTransfer, given: t.Boolean() }),
    output: nothing,
    failures: ['no_transfer', 'vm_runs', 'hypervisor_silent'],
  }),
  /**
   * On the target: the workload is this node's from now on. A vm that `transfer.migrate` brought runs on; one that is
   * off may be started. `resumedAt`: when it ran on, by the clock of this node; null where it did not. `no_transfer`:
   * `transfer.receive` comes first.
   */
  'transfer.resume': act({
    input: t.Object(ofTransfer),
    output: t.Object({ power: Power, resumedAt: t.Union([timestamp, t.Null()]) }),
    failures: [...loadsRules, 'no_transfer', 'migration_failed', 'hypervisor_silent'],
  }),
  /**
   * On both: what the hypervisor says of the vm, with its reason in the hypervisor's words; and whether the workload is
   * this node's, as far as the transfer decides it; null: the node does not know the transfer.
   */
  'transfer.look': look({
    input: t.Object(ofTransfer),
    output: t.Object({
      power: Power,
      reason: line(200),
      owns: t.Union([t.Boolean(), t.Null()]),
    }),
    failures: ['hypervisor_silent'],
  }),
  /**
   * On both: ends what the transfer does, and removes its key and all that it needed. The disks stay, and so does the
   * vm, wherever it is. `discard`: a target that was never given the workload deletes the disks that it made. Without
   * the transfer it does nothing. `shares`: a source that was left forgets what its firmware has stored for these
   * disks, which both nodes reach and which stay.
   */
  'transfer.end': act({
    input: t.Object({
      ...ofTransfer,
      discard: t.Optional(t.Boolean()),
      shares: t.Optional(t.Array(Volume, { maxItems: MOST_DISKS })),
    }),
    output: nothing,
    failures: [...findsDisk, 'hypervisor_silent'],
    outOfTurn: true,
  }),
}
