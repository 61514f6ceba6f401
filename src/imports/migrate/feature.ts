import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { Dispatcher } from './dispatcher.ts'
import { failures } from './failures.ts'
import { changeLimits, continueImport, pauseImport, stopImportAfter } from './going.ts'
import { adopting } from './job/adopting.ts'
import { copying } from './job/copying.ts'
import { ToldLimits } from './limits.ts'
import { getImportProgress, getMove, listMoves } from './list.ts'
import { cancelMove, retryMove } from './retry.ts'
import { startImport } from './start.ts'

const errors = {
  import_conflicts: {
    status: 409,
    when: 'A choice of the import does not hold any more, because accounts, pools or packages have changed.',
    remedy: 'Choose again, and run the dry run again.',
  },
  server_not_moving: {
    status: 409,
    when: 'The server is in no state in which this can be done with its move.',
    remedy: 'Read its state in the list of moves.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    migrate: { errors: typeof errors }
  }
}

export const migrateFeature = feature({
  name: 'migrate',
  errors,
  failures,
  services: () => ({ importDispatcher: new Dispatcher(), importLimitsTold: new ToldLimits() }),
  jobs: [copying, adopting],
  operations: [
    startImport,
    pauseImport,
    continueImport,
    stopImportAfter,
    changeLimits,
    listMoves,
    getMove,
    getImportProgress,
    retryMove,
    cancelMove,
  ],
  schedule: [
    {
      everyMs: second,
      words: 'moving servers of imports',
      work: ({ db, app }) => app.importDispatcher.turn(db, app),
    },
    {
      everyMs: second,
      words: 'telling nodes the limits of imports',
      work: ({ db, hub, app }) => app.importLimitsTold.turn({ db, hub }),
    },
  ],
})
