import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { head } from '../../html/head.ts'
import { keysCard } from './card.ts'

export const ownKeysPage = page({
  path: '/account/ssh-keys',
  reads: { keys: reading(listSshKeys, ({ actor }) => ({ params: { id: actor.accountId } })) },
  title: 'SSH keys',
  nav: 'keys',
  view: ({ keys, at }) => html`
    ${head({ title: 'SSH keys', sub: 'Add the public half of a key here, then choose it when you set up or reinstall a server. Keys already on a server are changed on that server.' })}
    ${keysCard(at, at.actor.accountId, keys)}`,
})
