import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { refusals } from '../import-records/refusals.ts'
import { checkAccess, listAccess } from './access.ts'
import { addingKeys, addKeys } from './add-keys.ts'
import { SourceLogins } from './logins.ts'

const errors = {
  hypervisor_without_address: {
    status: 409,
    when: 'The name of the hypervisor leads to no address, so no node can reach it.',
    remedy: 'Correct it in the other panel or in your DNS, and discover again.',
  },
  no_copying_node: {
    status: 409,
    when: 'No node that copies from the hypervisor is connected and has made its key.',
    remedy: 'Look at the nodes of the location, and update their agents.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    'source-access': { errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  source_unreachable: 'The hypervisor of the other panel does not answer over SSH, or the connection broke.',
  source_host_key_changed: 'The SSH server of the hypervisor shows another key than before.',
  source_ssh_too_old: 'The SSH server of the hypervisor speaks nothing that the node still accepts.',
  source_invalid: 'The hypervisor answered with something that is no answer to what was asked.',
  source_password_refused: capital(refusals.password_refused),
  source_password_disabled: capital(refusals.password_refused),
  source_keys_not_written: 'The list of root’s keys on the hypervisor could not be changed.',
  source_login_refused: capital(refusals.no_login),
  source_no_libvirt: 'libvirt on the hypervisor does not answer.',
} as const
function capital(words: string) {
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`
}

export const sourceAccessFeature = feature({
  name: 'source-access',
  errors,
  failures,
  operations: [listAccess, checkAccess, addKeys],
  jobs: [addingKeys],
  services: () => ({ sourceLogins: new SourceLogins() }),
  schedule: [
    {
      everyMs: second,
      words: 'asking nodes about source hypervisors',
      work: ({ hub, db, app }) => app.sourceLogins.turn(hub, db, app),
      atStop: ({ app }) => app.sourceLogins.stop(),
    },
  ],
})
