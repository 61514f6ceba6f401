import { feature } from '../../kernel/feature.ts'
import { expiringHours, expiringTraffic } from './queries.ts'
import { trafficDays, trafficHours, trafficMarks, trafficMeters, trafficSuspensions, trafficTopUps } from './tables.ts'

/** Traffic that nodes have counted, and traffic that was bought: usage reports, alerts and suspensions read it. */
export const trafficRecordsFeature = feature({
  name: 'traffic-records',
  tables: [trafficDays, trafficHours, trafficMeters, trafficTopUps, trafficMarks, trafficSuspensions],
  expiring: [...expiringTraffic, expiringHours],
})
