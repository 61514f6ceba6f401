import { settingBillingService } from '../../workloads/billing-service.ts'
import { endedServer } from '../model.ts'
import { updateServer } from '../queries.ts'
import { recordAnswer } from '../show.ts'
import { actingServer } from '../state.ts'

export const setBillingService = settingBillingService(actingServer, {
  on: endedServer,
  change: (tx, id, billingServiceId) => updateServer(tx, id, { billingServiceId }),
  answer: recordAnswer,
})
