import { feature } from '../../kernel/feature.ts'
import { snapshots } from './tables.ts'

export const snapshotRecordsFeature = feature({ name: 'snapshot-records', tables: [snapshots] })
