// Removes the software of the other panel from a node, and puts it back: a job each.
import { Type as t } from 'typebox'
import type { RemovalScope } from '../../../agent/protocol/values/source-removal.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { capacityRowOf } from '../../fleet/node-records/queries.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { count } from '../../kernel/words.ts'
import { importAccess, importRecord } from '../import-records/model.ts'
import { noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { nodeId } from './choose.ts'
import { adoptedNode, canRestore, mustBeRemovable, scopeOf } from './model.ts'
import { changeRemoval, removalOf } from './queries.ts'

const started = namedSchema('SourceRemovalJob', {
  jobId: t.String(),
  serverId: described(nullable(t.String()), 'Always null: the job is about a node.'),
  nodeId: t.String(),
})
const lockOf = (id: string) => `source software on ${id}`
const busy = (name: string) => () =>
  new ApiError('in_use', `The software of another panel on ${name} is being removed or put back now. Wait for its end.`)

export const runRemoval = operation({
  id: 'source-removal.run',
  method: 'POST',
  path: '/admin/migrations/{id}/source-removal/run',
  summary:
    'Let the agent of a node stop and move the other panel’s software; nothing is deleted, and all can be put back',
  past: 'Removed the other panel’s software',
  access: importAccess,
  on: importRecord,
  body: fields({ nodeId }),
  response: started,
  status: 202,
  refuses: [
    ...(['import_not_moved', 'import_ended', 'source_removal_not_chosen', 'source_removed'] as const),
    ...(['source_still_needed', 'source_unknown', 'in_use'] as const),
  ],
  example: { nodeId: '<node_id>' },
  run({ tx, target, body, actor, clock }) {
    mustAllow(target, 'remove-source')
    const adopted = adoptedNode(tx, target, body.nodeId)
    const row = removalOf(tx, target.id, body.nodeId)
    const name = capacityRowOf(tx, body.nodeId)?.name ?? body.nodeId
    if (row?.choice !== 'agent')
      throw new ApiError('source_removal_not_chosen', `Nobody has chosen that the agent of ${name} removes it.`)
    if (row.state === 'removed')
      throw new ApiError('source_removed', `The other panel’s software is removed from ${name} already.`)
    mustBeRemovable(tx, target, adopted)
    const input = { importId: target.id, nodeId: body.nodeId, name, scope: scopeOf(tx, target, body.nodeId) }
    const jobId = startJob(tx, removing, input, {
      ...{ by: actor, title: `Remove the other panel from ${name}`, nodeId: body.nodeId, now: clock() },
      ...{ holds: lockOf(body.nodeId), subject: { type: 'import', id: target.id }, busy: busy(name) },
    })
    changeRemoval(tx, input, { state: 'removing', jobId, removal: jobId, failure: null, failureWords: null })
    noteIn(tx, target.id, clock(), 'info', `The software of the other panel is being removed from ${name}.`)
    return { jobId, serverId: null, nodeId: body.nodeId }
  },
})

export const runRestore = operation({
  id: 'source-removal.restore',
  method: 'POST',
  path: '/admin/migrations/{id}/source-removal/restore',
  summary: 'Put back everything that a removal moved and stopped on a node',
  past: 'Restored the other panel’s software',
  access: importAccess,
  on: importRecord,
  body: fields({ nodeId }),
  response: started,
  status: 202,
  refuses: ['import_not_moved', 'import_ended', 'source_not_removed', 'in_use'],
  example: { nodeId: '<node_id>' },
  run({ tx, target, body, actor, clock }) {
    mustAllow(target, 'remove-source')
    adoptedNode(tx, target, body.nodeId)
    const row = removalOf(tx, target.id, body.nodeId)
    const name = capacityRowOf(tx, body.nodeId)?.name ?? body.nodeId
    if (row?.state === 'removing' || row?.state === 'restoring') throw busy(name)()
    if (!row?.removal || !canRestore(row))
      throw new ApiError('source_not_removed', `Nothing was removed from ${name} that could be put back.`)
    const input = { importId: target.id, nodeId: body.nodeId, name, removal: row.removal }
    const jobId = startJob(tx, restoring, input, {
      ...{ by: actor, title: `Put the other panel back on ${name}`, nodeId: body.nodeId, now: clock() },
      ...{ holds: lockOf(body.nodeId), subject: { type: 'import', id: target.id }, busy: busy(name) },
    })
    changeRemoval(tx, input, { state: 'restoring', jobId, failure: null, failureWords: null })
    noteIn(tx, target.id, clock(), 'info', `The software of the other panel is being put back on ${name}.`)
    return { jobId, serverId: null, nodeId: body.nodeId }
  },
})

type On = { importId: string; nodeId: string; name: string }
type Removing = On & { scope: RemovalScope }

/** The node verifies its servers itself, and puts everything back where one is gone. */
export const removing = saga<Removing>('import_removal', {
  title: 'Removal of the other panel',
  forStaff: true,
  cancelWith: 'imports:write',
  unbegun: (tx, input: Removing) => changeRemoval(tx, input, { state: 'idle', jobId: null, removal: null }),
})
  .record('begin', 'Noting what is removed', {
    do: (tx, { input }) => {
      changeRemoval(tx, input, { state: 'removing' })
    },
    undo: (tx, { input, error, now }) => {
      const words = error?.cause ?? error?.message ?? ''
      const isLeft = error?.code === 'removal_half_restored'
      changeRemoval(tx, input, { state: 'failed', failure: error?.code ?? 'cancelled', failureWords: words })
      if (!isLeft) changeRemoval(tx, input, { removal: null })
      noteIn(tx, input.importId, now, 'error', `The removal on ${input.name} failed. ${words}`)
    },
  })
  .command('remove', 'Stopping and moving the software, then looking after the servers', {
    do: ({ input, jobId }) => nodeCommand(input.nodeId, 'source-removal.run', { removal: jobId, ...input.scope }),
    // A node that could not put everything back is not asked again and again: a person looks, and asks for it.
    undo: ({ input, jobId, error }) =>
      error?.code === 'removal_half_restored'
        ? undefined
        : nodeCommand(input.nodeId, 'source-removal.restore', { removal: jobId }),
  })
  .record('tell', 'Noting where everything is', {
    do: (tx, { input, out, now, log }) => {
      const { folder, items, left, verified } = out.remove
      for (const { name, becomes } of items) log(`${name}: ${becomes}`)
      for (const { name, why } of left) log(`${name} stays: ${why}`, 'warning')
      log(`${count(verified.servers, 'server')} that ran before still run; their bridges exist.`)
      changeRemoval(tx, input, { state: 'removed', result: out.remove, removedAt: now, restoredAt: null })
      const words = `The software of the other panel was removed from ${input.name}; it is in ${folder} there.`
      noteIn(tx, input.importId, now, 'info', words)
    },
  })

export const restoring = saga<On & { removal: string }>('import_removal_restore', {
  title: 'Return of the other panel',
  forStaff: true,
  unbegun: (tx, input: On) => changeRemoval(tx, input, { state: 'removed', jobId: null }),
})
  .record('begin', 'Noting what is put back', {
    do: (tx, { input }) => {
      changeRemoval(tx, input, { state: 'restoring' })
    },
    undo: (tx, { input, error, now }) => {
      const words = error?.cause ?? error?.message ?? ''
      changeRemoval(tx, input, {
        ...{ state: 'failed', failure: 'removal_half_restored', failureWords: words },
      })
      noteIn(tx, input.importId, now, 'error', `Not everything could be put back on ${input.name}. ${words}`)
    },
  })
  .command('restore', 'Putting everything back', {
    do: ({ input }) => nodeCommand(input.nodeId, 'source-removal.restore', { removal: input.removal }),
  })
  .record('tell', 'Noting what is back', {
    do: (tx, { input, out, now, log }) => {
      const { restored, left } = out.restore
      log(`${count(restored, 'thing')} put back.`)
      for (const { name, why } of left) log(`${name}: ${why}`, 'warning')
      changeRemoval(tx, input, { state: 'restored', removal: null, result: null, restoredAt: now })
      noteIn(tx, input.importId, now, 'info', `The software of the other panel is back on ${input.name}.`)
    },
  })
