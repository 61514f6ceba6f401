// Adds the keys of the copying nodes on a source hypervisor: one of them signs in once with the root password. The
// password is encrypted for that node as soon as it arrives, and even so it is in the memory of this process alone.
import { Type as t } from 'typebox'
import { encryptFor } from '../../../agent/protocol/for-node.ts'
import { type ImportKey, type SourceHost, sourcePasswordPurpose } from '../../../agent/protocol/values/source-hosts.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation, secret } from '../../kernel/api/operation.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { count } from '../../kernel/words.ts'
import { noteHost } from '../import-records/checks/queries.ts'
import { hypervisorRows } from '../import-records/inventory/queries.ts'
import { importAccess, importRecord } from '../import-records/model.ts'
import { importById, noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { Facts } from '../mapping/facts.ts'
import { copiedHypervisor, hypervisorId, mustHaveAddress } from './access.ts'
import { copyingNodes, keysOf, sourceHost } from './hosts.ts'
import { askLogins } from './logins.ts'

export const addKeys = operation({
  id: 'imports.add-keys',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/add-keys',
  summary: 'Add the keys of all copying nodes on a hypervisor: one of them signs in there once with the root password',
  past: 'Added keys on a hypervisor',
  access: importAccess,
  on: importRecord,
  body: fields({
    hypervisorId,
    password: described(
      secret(t.String({ minLength: 1, maxLength: 500, pattern: '^[^\\r\\n\\0]+$' })),
      'Of root on that hypervisor. It is used for this one sign-in and stored nowhere.',
    ),
  }),
  response: namedSchema('ImportKeysAdded', {
    jobId: t.String(),
    node: described(t.Object({ id: t.String(), name: t.String() }), 'The node that signs in.'),
    keys: described(t.Integer(), 'Keys that are added; one that is there already stays as it is.'),
  }),
  status: 202,
  refuses: [
    'hypervisor_without_address',
    'no_copying_node',
    'in_use',
    'import_not_discovered',
    'import_busy',
    'import_ended',
  ],
  example: { hypervisorId: '3', password: '<root_password>' },
  run({ tx, target, body, actor, clock, nodes }) {
    const row = copiedHypervisor(tx, target, body.hypervisorId)
    mustAllow(target, 'access')
    mustHaveAddress(row)
    const copying = copyingNodes(new Facts(tx, target), row)
    const keys = keysOf(tx, copying)
    const first = copying.find(({ id }) => nodes.connected(id) && keys.some(({ nodeId }) => nodeId === id))
    if (!first)
      throw new ApiError(
        'no_copying_node',
        copying.length
          ? `Of the nodes that copy from ${row.name} none is connected and has made its key. Look at the nodes, and ` +
              'update their agents.'
          : `The location to which ${row.name} is copied has no node. Add one.`,
      )
    const host = sourceHost(tx, row)!
    const { publicKey } = nodeById(tx, first.id)!
    const password = encryptFor(publicKey, sourcePasswordPurpose(host.address), body.password)
    const lock = `keys on ${row.sourceId} of ${target.id}`
    const jobId = startJob(
      tx,
      addingKeys,
      {
        ...{ importId: target.id, hypervisorId: row.sourceId, nodeId: first.id, host, keys },
        unstored: { password },
      },
      {
        by: actor,
        title: `Add keys on ${row.name}`,
        holds: lock,
        nodeId: first.id,
        subject: { type: 'import', id: target.id },
        now: clock(),
        busy: () => new ApiError('in_use', `Keys are being added on ${row.name} now. Wait until that has ended.`),
      },
    )
    noteIn(tx, target.id, clock(), 'info', `${first.name} adds ${count(keys.length, 'key')} on ${row.name}.`)
    return { jobId, node: { id: first.id, name: first.name }, keys: keys.length }
  },
})

type Adding = {
  importId: string
  hypervisorId: string
  nodeId: string
  host: SourceHost
  keys: ImportKey[]
  unstored: { password: string }
}

/** Keys that were added stay, so that the next dry run needs no password; a person removes them by their mark. */
export const addingKeys = saga<Adding>('import_keys', {
  title: 'Import key setup',
  forStaff: true,
  cancelWith: 'imports:write',
})
  .command('add', 'Signing in once and adding the keys', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'source-host.add-keys', {
        host: input.host,
        password: input.unstored.password,
        keys: input.keys,
      }),
  })
  .record('note', 'Recording the host key', {
    do: (tx, { input, out, log, now }) => {
      const { importId, hypervisorId, host } = input
      const { added, present, hostKey } = out.add
      log(`${count(added, 'key')} added, ${present} there before.`)
      const target = importById(tx, importId)
      const row = hypervisorRows.find(tx, importId, hypervisorId)
      // The import was cancelled, or read anew, meanwhile.
      if (!target || !row) return
      noteHost(tx, { importId, hypervisorId, address: host.address, hostKey, facts: null, at: now })
      const nodes = input.keys.map(({ nodeId }) => ({ id: nodeId }))
      if (!['cancelled', 'finished'].includes(target.status)) askLogins(tx, { importId, hypervisorId }, nodes, now)
      noteIn(tx, importId, now, 'info', `${count(added, 'key')} added on ${row.name}, ${present} there before.`)
    },
  })
