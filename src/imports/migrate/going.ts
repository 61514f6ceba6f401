// An import whose servers move is paused, goes on, stops, and gets other limits.
import { fields, operation } from '../../kernel/api/operation.ts'
import { count } from '../../kernel/words.ts'
import { importAccess, importRecord, importResponse, showImport } from '../import-records/model.ts'
import { moveStateCounts } from '../import-records/moves/queries.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { limitFields, limitsWith } from './limit-fields.ts'

const refuses = ['import_not_migrating', 'import_ended'] as const
const common = { access: importAccess, on: importRecord, response: importResponse, refuses } as const

export const pauseImport = operation({
  ...common,
  id: 'imports.pause',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/pause',
  summary: 'Begin no further server; those at work come to their end',
  past: 'Paused an import',
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'pause')
    if (target.pausedAt === null) {
      changeImport(tx, target.id, { pausedAt: clock() })
      noteIn(tx, target.id, clock(), 'info', 'Paused: no further server begins.')
    }
    return showImport(call, importById(tx, target.id)!)
  },
})

export const continueImport = operation({
  ...common,
  id: 'imports.continue',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/continue',
  summary: 'Go on after a pause or a stop: the servers that have not begun follow',
  past: 'Continued an import',
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'continue')
    if (target.pausedAt !== null || target.stopsAfter !== null) {
      changeImport(tx, target.id, { pausedAt: null, stopsAfter: null, status: 'migrating', migratedAt: null })
      noteIn(tx, target.id, clock(), 'info', 'It goes on.')
    }
    return showImport(call, importById(tx, target.id)!)
  },
})

export const stopImportAfter = operation({
  ...common,
  id: 'imports.stop-after',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/stop-after',
  summary: 'End after the servers at work: those that have not begun stay on the source',
  past: 'Stopped an import',
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'stop-after')
    if (target.stopsAfter === null) {
      changeImport(tx, target.id, { stopsAfter: clock() })
      const { moving = 0, waiting = 0 } = moveStateCounts(tx, target.id)
      const words = `It ends after ${count(moving, 'server')} at work; ${count(waiting, 'server')} will stay.`
      noteIn(tx, target.id, clock(), 'info', words)
    }
    return showImport(call, importById(tx, target.id)!)
  },
})

export const changeLimits = operation({
  ...common,
  id: 'imports.change-limits',
  method: 'PATCH',
  path: '/admin/migrations/{id}/limits',
  summary: 'Change the limits of an import; what is not sent stays, and copies at work follow their limit at once',
  body: fields(limitFields),
  example: { maxMbps: 800, window: null },
  run(call) {
    const { tx, target, body } = call
    mustAllow(target, 'limit')
    changeImport(tx, target.id, { limits: limitsWith(target.limits, body) })
    return showImport(call, importById(tx, target.id)!)
  },
})
