// Finishing an import: its credentials and kept definitions are deleted, and nothing of it goes back any more.
import { Type as t } from 'typebox'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { leftBehind, wantCleanUps } from '../clean-up/want.ts'
import { forgetDefinitions } from '../import-records/clean-ups/queries.ts'
import { serverStates } from '../import-records/inventory/queries.ts'
import { type ImportRecord, importAccess, importRecord, importResponse, showImport } from '../import-records/model.ts'
import { moveStateCounts } from '../import-records/moves/queries.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { disabledReasonOf, mustAllow, titleOf } from '../import-records/states.ts'
import { verificationCounts } from '../import-records/verified/queries.ts'

export const previewFinish = operation({
  id: 'imports.finish-preview',
  method: 'GET',
  path: '/admin/migrations/{id}/finish',
  summary: 'What finishing an import ends and deletes: nothing is changed',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportFinish', {
    title: t.String(),
    isPossible: t.Boolean(),
    reason: described(t.Union([t.String(), t.Null()]), 'Why it cannot be finished now.'),
    hasCredentials: described(t.Boolean(), 'They are deleted, here and from every backup that is made afterwards.'),
    canGoBack: described(t.Integer(), 'Servers that can still be rolled back, until then.'),
    openChecks: described(t.Integer(), 'Servers with an open check.'),
    stays: described(
      t.Object({ refused: t.Integer(), leftOut: t.Integer(), failed: t.Integer(), waiting: t.Integer() }),
      'Servers that stay on the other panel. A new import can take them.',
    ),
    keys: described(
      t.Object({ nodes: t.Integer(), hypervisors: t.Integer() }),
      'Keys of nodes that are removed on hypervisors.',
    ),
    definitions: described(t.Integer(), 'Definitions kept on hypervisors that are deleted there.'),
  }),
  run({ tx, target }) {
    const states = serverStates(tx, target.id)
    const left = leftBehind(tx, target)
    const withKeys = left.filter(({ hasKeys }) => hasKeys)
    const reason = disabledReasonOf(target, 'finish')?.words ?? workWords(tx, target) ?? null
    return {
      ...{ title: titleOf(target), isPossible: reason === null, reason },
      hasCredentials: target.encryptedCredentials !== null,
      canGoBack: states.moved ?? 0,
      openChecks: verificationCounts(tx, target.id).open ?? 0,
      stays: {
        ...{ refused: states.refused ?? 0, leftOut: states.left_out ?? 0 },
        failed: (states.failed ?? 0) + (states.rolled_back ?? 0),
        waiting: (states.waiting ?? 0) + (states.ready ?? 0),
      },
      keys: { nodes: new Set(withKeys.flatMap(({ nodeIds }) => nodeIds)).size, hypervisors: withKeys.length },
      definitions: left.reduce((sum, { domains }) => sum + domains.length, 0),
    }
  },
})

/** Undefined: no job works at one of its servers. */
function workWords(tx: Db, target: ImportRecord): string | undefined {
  const { moving = 0, rolling_back: goingBack = 0 } = moveStateCounts(tx, target.id)
  const n = moving + goingBack
  return n ? `${titleOf(target)} still works at ${count(n, 'server')}. Wait for the end.` : undefined
}

export const finishImport = operation({
  id: 'imports.finish',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/finish',
  summary: 'Finish an import: its credentials are deleted, and no server can be rolled back any more',
  access: importAccess,
  requiresRecentAuth: true,
  on: importRecord,
  body: fields({ confirm: described(t.Literal(true), 'True: what this ends was read.') }),
  response: importResponse,
  refuses: ['import_busy', 'import_not_moved', 'import_ended'],
  auditSnapshot: ({ tx, target }) => {
    const { name, status, address } = importById(tx, target.id)!
    return { name, status, address }
  },
  example: { confirm: true },
  run(call) {
    const { tx, target, actor, clock } = call
    mustAllow(target, 'finish')
    const work = workWords(tx, target)
    if (work) throw new ApiError('import_busy', work)
    const now = clock()
    changeImport(tx, target.id, {
      ...{ status: 'finished', encryptedCredentials: null, askedCertificate: null, trouble: null, endedAt: now },
    })
    const hypervisors = wantCleanUps(tx, target, now)
    forgetDefinitions(tx, target.id)
    const cleaned = hypervisors ? ` What is left on ${count(hypervisors, 'hypervisor')} is removed now.` : ''
    noteIn(tx, target.id, now, 'info', `${nameOf(actor)} finished the import. Its credentials are deleted.${cleaned}`)
    return showImport(call, importById(tx, target.id)!)
  },
})
