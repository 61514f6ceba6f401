import { hour } from '../db/clock.ts'
import { feature } from '../feature.ts'
import { encryptedDeliveries } from './queries.ts'
import { deliveries, deliveryAttempts, deliveryGroups, deliveryLanes } from './tables.ts'

const ids = {
  delivery: { prefix: 'dlv' },
} as const

declare module '../register.ts' {
  interface Names {
    deliveries: { ids: typeof ids }
  }
}

export const deliveriesFeature = feature({
  name: 'deliveries',
  ids,
  tables: [deliveries, deliveryLanes, deliveryGroups, deliveryAttempts],
  encrypted: [encryptedDeliveries],
  schedule: [{ everyMs: hour, words: 'deleting old deliveries', work: (context) => context.deliveries.prune() }],
})
