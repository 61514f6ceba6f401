// The SSH keys of one account, for its holder and for those who care for it.

import { addSshKey, type listSshKeys, removeSshKey, renameSshKey } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import type { Html } from '../../../src/kernel/web/html.ts'
import { html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { act } from '../../html/act.ts'
import { card, copyable, empty } from '../../html/card.ts'
import { area, field } from '../../html/field.ts'
import { pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'

type Keys = Answers<{ keys: typeof listSshKeys }>['keys']

/** `changes`: whether the reader may change them. */
export function keysCard(at: At, ownerId: string, keys: Keys, changes = true): Html {
  const add =
    changes &&
    act(at, addSshKey, { id: ownerId }, 'Add SSH key', {
      icon: 'plus',
      done: '{name} is added',
      wide: true,
      fields: html`${area('key', 'publicKey', { label: 'Public key', required: true, mono: true, fingerprint: true, hint: 'One line, as in a .pub file: ssh-ed25519 AAAA… name' })}${field('key', 'name', { label: 'Name', hint: 'Empty: the comment at the end of the key.' })}`,
    })
  return card(
    { id: 'keys', title: 'SSH keys', count: keys.total || undefined, actions: add },
    html`${
      keys.data.length
        ? table<Keys['data'][number]>(
            'SSH keys',
            keys.data,
            [
              { title: 'Name', main: true, cell: (k) => html`<strong>${k.name}</strong>` },
              { title: 'Fingerprint', cell: (k) => copyable(k.fingerprint, `fingerprint of ${k.name}`) },
              { title: 'Type', cell: (k) => html`<span class="mono">${k.publicKey.split(' ')[0]}</span>` },
              { title: 'Added', cell: (k) => time(k.createdAt, at) },
              {
                title: 'Actions',
                actions: true,
                cell: (k) =>
                  changes &&
                  html`<div class="bar">${act(at, renameSshKey, { id: k.id }, 'Rename', { of: k.name, title: `Rename ${k.name}`, submit: 'Save', done: 'Saved', fields: field(`key-${k.id}`, 'name', { label: 'Name', required: true, value: k.name }) })}${act(at, removeSshKey, { id: k.id }, 'Remove', { of: k.name, tone: 'bad', title: `Remove ${k.name}?`, done: 'Removed', confirm: { keep: 'Keep key', consequences: ['New installations can no longer use it.', 'Servers that have it keep it: remove it there too if it was lost.'] } })}</div>`,
              },
            ],
            (k) => k.id,
          )
        : empty('An SSH key lets its holder sign in to servers that are installed with it.')
    }${pager(at, keys)}`,
  )
}
