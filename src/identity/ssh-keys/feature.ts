import { feature } from '../../kernel/feature.ts'
import { hasSshKeys } from './queries.ts'
import { addSshKey, listSshKeys, removeSshKey, renameSshKey } from './ssh-keys.ts'
import { sshKeys } from './tables.ts'

const errors = {
  ssh_key_not_found: { status: 404, when: 'There is no such SSH key, or it is not yours.', remedy: 'Check the id.' },
} as const

const ids = {
  sshKey: { prefix: 'key', also: ['SSHKey'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'ssh-keys': { ids: typeof ids; errors: typeof errors }
  }
}

export const sshKeysFeature = feature({
  name: 'ssh-keys',
  ids,
  samples: {
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…',
  },
  errors,
  tables: [sshKeys],
  operations: [addSshKey, listSshKeys, renameSshKey, removeSshKey],
  checklist: [
    {
      kinds: ['customer'],
      position: 20,
      by: addSshKey,
      title: 'SSH key',
      words: 'Sign in to servers without a password: add the public half of your key.',
      done: ({ tx, actor }) => hasSshKeys(tx, actor.accountId),
      href: () => '/account/ssh-keys',
    },
  ],
  nav: [
    {
      kinds: ['reseller', 'customer'],
      group: 'Account',
      position: 410,
      name: 'keys',
      menu: true,
      title: 'SSH keys',
      href: '/account/ssh-keys',
      icon: 'key',
      sees: listSshKeys,
    },
  ],
  actions: [
    {
      kinds: ['reseller', 'customer'],
      position: 210,
      title: 'Add SSH key',
      page: '/account/ssh-keys',
      does: addSshKey,
    },
  ],
  async fixture({ admin, customer }) {
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl fixture'
    return { 'SSH key': (await admin('POST', `/customers/${customer.id}/ssh-keys`, { publicKey })).id }
  },
})
