import { hour } from '../db/clock.ts'
import { feature } from '../feature.ts'
import { encryptedDeliveries } from './queries.ts'
import { deliveries, deliveryLanes } from './tables.ts'

export const deliveriesFeature = feature({
  name: 'deliveries',
  tables: [deliveries, deliveryLanes],
  encrypted: [encryptedDeliveries],
  schedule: [{ everyMs: hour, words: 'deleting old deliveries', work: (context) => context.deliveries.prune() }],
})
