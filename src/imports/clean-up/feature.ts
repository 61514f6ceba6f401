import { mayCall } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso, second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { leftCleanUps } from '../import-records/clean-ups/queries.ts'
import { commandsFor } from './by-hand.ts'
import { SourceCleaner } from './cleaner.ts'
import { cleanUpAgain, getCleanUps } from './operations.ts'

/** Source hypervisors on which something of an ended import is left. A cancelled import has no page any more. */
const uncleaned: Source = ({ tx, actor }) =>
  mayCall(cleanUpAgain, actor)
    ? leftCleanUps(tx, MOST_SHOWN).map(
        (row): Attention => ({
          level: 'warn',
          what: `${row.name} still has what the import ${row.title} left there.`,
          effect: `${row.words ?? ''} Or run there as root: ${commandsFor(row).join(' ; ')}`.trim(),
          since: iso(row.since),
          action: 'Open imports',
          href: '/admin/imports',
        }),
      )
    : []

/** Removes on source hypervisors the things that ended imports have left there. */
export const cleanUpFeature = feature({
  name: 'clean-up',
  operations: [getCleanUps, cleanUpAgain],
  services: () => ({ sourceCleaner: new SourceCleaner() }),
  attention: [uncleaned],
  schedule: [
    {
      everyMs: second,
      words: 'removing what imports left on source hypervisors',
      work: ({ hub, db, app }) => app.sourceCleaner.turn(hub, db, app),
      atStop: ({ app }) => app.sourceCleaner.stop(),
    },
  ],
})
