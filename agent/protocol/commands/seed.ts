import { Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import { ConfigDrive, Seed } from '../values/guests.ts'
import { act } from './declare.ts'

const nothing = t.Object({})

export const seedCommands = {
  /** Writes the seed of a vm and replaces an earlier one. */
  'seed.write': act({ input: t.Union([ConfigDrive, Seed]), output: nothing, failures: ['encrypted_for_another'] }),
  /** Ejects the seed from the vm and deletes it. Without vm or seed it does nothing. */
  'seed.remove': act({ input: t.Object({ workload: workloadId }), output: nothing, failures: ['hypervisor_silent'] }),
}
