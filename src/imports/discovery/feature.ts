import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { discover, listChanges } from './discover.ts'
import { Discoveries } from './discoveries.ts'

const TURN_EVERY_MS = second

export const discoveryFeature = feature({
  name: 'discovery',
  operations: [discover, listChanges],
  services: () => ({ importReadings: new Discoveries() }),
  schedule: [
    {
      everyMs: TURN_EVERY_MS,
      words: 'reading other panels',
      work: ({ db, app }) => app.importReadings.turn(db, app),
      atStop: ({ app }) => app.importReadings.stop(),
    },
  ],
})
