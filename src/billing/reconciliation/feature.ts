import { feature } from '../../kernel/feature.ts'
import { Turns } from '../../kernel/slices.ts'
import { reconcileUsage } from './reconcile.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    /** Lists are compared one after another. */
    reconciliations: Turns
  }
}

/** A retry and a few parallel months of one billing system. */
const MOST_PER_ACCOUNT = 8

export const reconciliationFeature = feature({
  name: 'reconciliation',
  services: () => ({ reconciliations: new Turns(MOST_PER_ACCOUNT) }),
  operations: [reconcileUsage],
})
