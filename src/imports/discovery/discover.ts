import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { described, namedSchema, operation } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { pageOfChanges } from '../import-records/inventory/queries.ts'
import { importAccess, importRecord, importResponse, showImport } from '../import-records/model.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'

export const discover = operation({
  id: 'imports.discover',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/discover',
  summary: 'Read the other panel, where nothing changes; once more resets what was decided. Follow it by the import',
  past: 'Started reading the other panel',
  access: importAccess,
  on: importRecord,
  response: importResponse,
  refuses: ['import_busy', 'import_started', 'import_ended'],
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'discover')
    changeImport(tx, target.id, {
      status: 'discovering',
      phase: 'reading',
      reading: target.reading + 1,
      progress: {},
      trouble: null,
      askedCertificate: null,
    })
    noteIn(tx, target.id, clock(), 'info', target.read ? 'The panel is read again.' : 'The panel is read.')
    return showImport(call, importById(tx, target.id)!)
  },
})

const changeKinds = ['new', 'gone', 'changed'] as const
export const listChanges = operation({
  id: 'imports.changes',
  method: 'GET',
  path: '/admin/migrations/{id}/changes',
  summary: 'What the last reading found new, gone or changed since the one before',
  access: importAccess,
  on: importRecord,
  query: { change: oneOf(changeKinds, 'Only these.') },
  response: page(
    namedSchema('ImportChange', {
      list: t.Enum(['servers', 'packages', 'ranges', 'hypervisors', 'owners']),
      sourceId: t.String(),
      change: t.Enum([...changeKinds]),
      name: t.String(),
      words: described(t.String(), 'What has changed.'),
    }),
  ),
  run: (call) =>
    pageOfChanges(call, call.target, call.query['change'] as (typeof changeKinds)[number] | undefined, (row) => ({
      list: row.list as 'servers',
      sourceId: row.sourceId,
      change: row.change,
      name: row.name,
      words: row.words,
    })),
})
