import { Type as t } from 'typebox'
import { drillProofs } from '../backup.ts'
import { RestartPolicy, workloadId } from '../bounds.ts'
import { isoId, Volume } from '../values/disks.ts'
import { GuestLook, GuestSeen } from '../values/guests.ts'
import { address, mac, tap } from '../values/ports.ts'
import { Hardware, osFamilies, Power, Speed, Vm } from '../values/vms.ts'
import { act, look } from './declare.ts'
import { loadsRules } from './firewall.ts'

const nothing = t.Object({})
/** Failures of a definition. `no_firmware`: the node cannot run the hardware. */
export const definesVm = [
  'hypervisor_silent',
  'no_bridge',
  'no_firmware',
  'no_iso',
  'no_pool',
  'no_seed',
  'no_virtualisation',
  'pool_silent',
] as const

/** Of a vm that is started. */
export const startsVm = [
  ...loadsRules,
  'no_port_rules',
  'no_vm',
  'no_pool',
  'pool_silent',
  'no_virtualisation',
  'not_owned',
  'disk_in_use',
  'hypervisor_silent',
] as const

export const hypervisorCommands = {
  /** Creates the definition or replaces it for the next start; a running vm is not touched. */
  'vm.define': act({ input: Vm, output: nothing, failures: definesVm }),
  /** From now on the node does this when the vm ends by itself. */
  'vm.set-restart-policy': act({
    input: t.Object({ workload: workloadId, restartPolicy: RestartPolicy }),
    output: nothing,
    failures: ['no_vm', 'hypervisor_silent'],
  }),
  /**
   * Puts the ISO into the CD drive or, with null, empties it, in the definition and at once in a running vm.
   */
  'vm.set-iso': act({
    input: t.Object({ workload: workloadId, iso: t.Union([isoId, t.Null()]) }),
    output: nothing,
    failures: ['no_vm', 'no_iso', 'hypervisor_silent'],
  }),
  /** Limits the vm from now on: at once when it runs, without a gap in its traffic. */
  'vm.set-speed': act({
    input: t.Object({ workload: workloadId, speed: Speed }),
    output: nothing,
    failures: ['no_vm', 'hypervisor_silent'],
  }),
  /** The vm's power. */
  'vm.look': look({
    input: t.Object({ workload: workloadId }),
    output: t.Object({ power: Power }),
    failures: ['hypervisor_silent'],
  }),
  /**
   * Starts the vm, now and after reboots of the host. From then on the node starts it again when it ends by itself, as
   * its `restartPolicy` says. `no_port_rules`: `firewall.allow` comes first. `not_owned`: by a transfer that has not
   * ended the vm is another node's. `disk_in_use`: another host has a disk of it open.
   */
  'vm.start': act({
    input: t.Object({ workload: workloadId }),
    output: nothing,
    failures: startsVm,
  }),
  /**
   * Asks the guest to shut down, waits up to `graceSeconds`, then switches the vm off; 0: at once. The definition
   * stays.
   */
  'vm.stop': act({
    input: t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    output: nothing,
    failures: ['does_not_stop', 'hypervisor_silent'],
  }),
  /** Switches the vm off and deletes definition and seed; the disk stays. Without a vm it does nothing. */
  'vm.remove': act({
    input: t.Object({ workload: workloadId }),
    output: nothing,
    failures: ['does_not_stop', 'hypervisor_silent'],
  }),
  /**
   * Waits until the guest answers by its agent or by SSH at `address`, at most `limitSeconds`. `off`: the vm is no
   * longer running, so it will not answer.
   */
  'vm.await': look({
    input: t.Object({
      workload: workloadId,
      address: t.Union([address, t.Null()]),
      limitSeconds: t.Integer({ minimum: 1, maximum: 900 }),
      /** Once it answered, looks at what it has, until that is all or for so long. */
      look: t.Optional(GuestLook),
    }),
    output: t.Object({ answered: t.Enum(['agent', 'ssh', 'no', 'off']), seen: t.Optional(GuestSeen) }),
    failures: ['hypervisor_silent'],
  }),
  /**
   * How a vm is reached from this node now. `pinged`: an echo came back by the host's routes. `answering`: its card
   * answers for the address, by ARP or neighbour discovery, so its system has it. `ports`: those of the input that
   * accept a TCP connection. `inside` and `os` are what its guest agent says, null where none answers.
   */
  'reach.look': look({
    input: t.Object({
      workload: workloadId,
      tap,
      mac,
      addresses: t.Array(address, { minItems: 1, maxItems: 8 }),
      ports: t.Array(t.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 4 }),
    }),
    output: t.Object({
      power: Power,
      addresses: t.Array(
        t.Object({
          address,
          pinged: t.Boolean(),
          answering: t.Boolean(),
          ports: t.Array(t.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 4 }),
        }),
        { maxItems: 8 },
      ),
      inside: t.Union([t.Array(address, { maxItems: 100 }), t.Null()]),
      os: t.Union([t.Enum(osFamilies), t.Null()]),
    }),
    failures: ['hypervisor_silent', 'ping_failed'],
  }),
  /**
   * Defines a vm without any network card on a disk that was restored, and starts it. It is not started again when it
   * ends.
   */
  'drill.start': act({
    input: t.Object({
      workload: workloadId,
      vcpus: t.Integer({ minimum: 1, maximum: 64 }),
      memoryMb: t.Integer({ minimum: 32, maximum: 65_536 }),
      volume: Volume,
      hardware: Hardware,
    }),
    output: nothing,
    failures: [
      'no_volume',
      'image_refused',
      'no_vm',
      'no_pool',
      'pool_silent',
      'no_firmware',
      'no_virtualisation',
      'hypervisor_silent',
    ],
  }),
  /** Waits for a proof that the system of that vm works, at most `limitSeconds`. */
  'drill.await': look({
    input: t.Object({ workload: workloadId, limitSeconds: t.Integer({ minimum: 1, maximum: 900 }) }),
    output: t.Object({ proof: t.Enum([...drillProofs]) }),
    failures: ['drill_no_answer', 'drill_off', 'drill_panic', 'hypervisor_silent'],
  }),
}
