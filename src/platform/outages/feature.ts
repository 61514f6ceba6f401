import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { outageEvents } from './model.ts'
import { expiredOutages, toldAway } from './queries.ts'
import { listRecipients, nobodyIsTold, outageNotices } from './recipients.ts'
import { awayDelay, mailPause } from './settings.ts'
import { watchStorage } from './storage.ts'
import { nodeOutages, storageWarnings } from './tables.ts'
import { watchNodes } from './watch.ts'

const ids = { outage: { prefix: 'out' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    outages: { ids: typeof ids; events: typeof outageEvents; notices: typeof outageNotices }
  }
}

export const outagesFeature = feature({
  name: 'outages',
  ids,
  events: outageEvents,
  notices: outageNotices,
  tables: [nodeOutages, storageWarnings],
  expiring: [expiredOutages],
  operations: [listRecipients],
  settings: [awayDelay, mailPause],
  attention: [nobodyIsTold],
  toldAway,
  schedule: [
    {
      everyMs: 5 * second,
      words: 'telling staff of nodes that are away',
      work: ({ db, hub, app }) => watchNodes({ db, hub, app }),
    },
    { everyMs: 30 * second, words: 'telling staff of storage that is nearly full', work: watchStorage },
  ],
})
