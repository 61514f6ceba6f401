import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { done, fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { isUniqueViolation } from '../../kernel/db/open.ts'
import { customer } from '../account-records/model.ts'
import { changesLibrary, readsLibrary } from '../account-records/owned.ts'
import { KEYS_PER_ACCOUNT, keyResponse, readPublicKey, showKey, sshKey } from './model.ts'
import { countSshKeys, deleteSshKey, insertSshKey, pageOfSshKeys, updateSshKey } from './queries.ts'

export const addSshKey = operation({
  id: 'ssh-keys.create',
  method: 'POST',
  path: '/customers/{id}/ssh-keys',
  summary: "Add a public key to a customer's account",
  past: 'Added an SSH key',
  access: changesLibrary,
  on: customer,
  body: fields({ name: t.Optional(line(100, 0)), publicKey: t.String({ maxLength: 12_000 }) }),
  response: keyResponse,
  status: 201,
  refuses: ['limit_reached', 'already_done'],
  example: { name: 'laptop', publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI… ada@laptop' },
  run({ tx, target, body, clock }) {
    const { publicKey, fingerprint, comment } = readPublicKey(body.publicKey)
    const held = countSshKeys(tx, target.id)
    if (held >= KEYS_PER_ACCOUNT)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${KEYS_PER_ACCOUNT} SSH keys. Remove one that is not used.`,
      )
    try {
      return showKey(
        insertSshKey(tx, {
          id: newId('key'),
          ownerId: target.id,
          name: body.name || comment || fingerprint.slice(0, 20),
          publicKey,
          fingerprint,
          createdAt: clock(),
        }),
      )
    } catch (error) {
      if (isUniqueViolation(error)) throw new ApiError('already_done', 'The account already has this key.')
      throw error
    }
  },
})

export const listSshKeys = operation({
  id: 'ssh-keys.list',
  method: 'GET',
  path: '/customers/{id}/ssh-keys',
  summary: "A customer's public keys",
  access: readsLibrary,
  on: customer,
  pages: { usual: 100, most: 100 },
  response: page(keyResponse),
  run: (call) => pageOfSshKeys(call, call.target.id, showKey),
})

export const renameSshKey = operation({
  id: 'ssh-keys.update',
  method: 'PATCH',
  path: '/ssh-keys/{id}',
  summary: 'Rename a public key',
  past: 'Renamed an SSH key',
  access: changesLibrary,
  on: sshKey,
  body: fields({ name: line(100) }),
  response: keyResponse,
  example: { name: 'laptop' },
  run: ({ tx, target, body }) => showKey(updateSshKey(tx, target, body)),
})

export const removeSshKey = operation({
  id: 'ssh-keys.remove',
  destroys: ['keys'],
  method: 'DELETE',
  path: '/ssh-keys/{id}',
  summary: 'Remove a public key; servers that have it keep it',
  past: 'Removed an SSH key',
  access: changesLibrary,
  on: sshKey,
  response: done,
  run({ tx, target }) {
    deleteSshKey(tx, target.id)
    return {}
  },
})
