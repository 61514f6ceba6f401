import { feature } from '../../kernel/feature.ts'
import { expiringTraffic } from './queries.ts'
import { trafficDays, trafficMeters } from './tables.ts'

export const trafficFeature = feature({
  name: 'traffic',
  tables: [trafficDays, trafficMeters],
  expiring: expiringTraffic,
})
