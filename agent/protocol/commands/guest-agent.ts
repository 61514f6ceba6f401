import { Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import {
  encryptedPassword,
  GuestFileSystem,
  GuestNetwork,
  GuestSystem,
  MOST_FILE_SYSTEMS,
  StartupResult,
} from '../values/guests.ts'
import { cidr, MANY, mac } from '../values/ports.ts'
import { osFamilies } from '../values/vms.ts'
import { act, look } from './declare.ts'

export const guestAgentCommands = {
  /**
   * Adds addresses to the running guest's interface with this MAC address and removes others, by its guest agent, until
   * its next boot. `silent`: no agent answers or it refuses; `off`: the vm does not run.
   */
  'guest.addresses': act({
    input: t.Object({
      workload: workloadId,
      mac,
      add: t.Array(cidr, MANY),
      remove: t.Array(cidr, MANY),
      /** Left out: Linux. Windows keeps the change over its boots. */
      os: t.Optional(t.Enum(osFamilies)),
    }),
    output: t.Object({ guest: t.Enum(['applied', 'silent', 'off']) }),
    failures: ['hypervisor_silent'],
  }),
  /**
   * Gives an interface of the running guest other addresses for good, by its guest agent, which is asked afterwards
   * whether it has them. `silent`: no agent answers; `off`: the vm does not run; `refused`: it has them not. `os`: the
   * guest's claim.
   */
  'guest.readdress': act({
    input: t.Object({ workload: workloadId, ...GuestNetwork.properties }),
    output: t.Object({
      guest: t.Enum(['applied', 'refused', 'silent', 'off']),
      os: t.Union([t.Enum(osFamilies), t.Null()]),
    }),
    failures: ['hypervisor_silent'],
  }),
  /**
   * Sets the password of a user of the running guest, from its crypt(3) hash or, for Windows, from the password that is
   * encrypted for the node. `set` is false where no guest agent does it: none answers, it is frozen or refuses.
   */
  'guest.set-password': act({
    input: t.Object({
      workload: workloadId,
      user: t.String({ pattern: '^[A-Za-z_][a-z0-9_-]{0,31}$' }),
      hash: t.Union([t.String({ pattern: '^\\$[0-9a-zA-Z]{1,16}\\$[^:\\s]{1,200}$' }), encryptedPassword]),
    }),
    output: t.Object({ set: t.Boolean() }),
    failures: ['encrypted_for_another', 'hypervisor_silent'],
  }),
  /**
   * Asks the running guest for its system and how full its disks are, and with `script` for the result of its startup
   * script. All of it is the guest's claim. `answers` is false where no guest agent does; `script` is null until the
   * script has ended.
   */
  'guest.look': look({
    input: t.Object({ workload: workloadId, script: t.Boolean() }),
    output: t.Object({
      answers: t.Boolean(),
      system: t.Union([GuestSystem, t.Null()]),
      /** Left out where its guest agent does not tell. */
      fileSystems: t.Optional(t.Array(GuestFileSystem, { maxItems: MOST_FILE_SYSTEMS })),
      script: t.Union([StartupResult, t.Null()]),
    }),
    failures: ['hypervisor_silent'],
  }),
}
