import { feature } from '../../kernel/feature.ts'
import { workloadLabels } from './tables.ts'

export const labelsFeature = feature({ name: 'labels', tables: [workloadLabels] })
