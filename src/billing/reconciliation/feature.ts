import { feature } from '../../kernel/feature.ts'
import { reconcileUsage } from './reconcile.ts'

export const reconciliationFeature = feature({ name: 'reconciliation', operations: [reconcileUsage] })
