import { settingBillingService } from '../../workloads/billing-service.ts'
import { endedServer } from '../model.ts'
import { recordAnswer } from '../show.ts'
import { actingServer } from '../state.ts'

export const setBillingService = settingBillingService(actingServer, {
  on: endedServer,
  answer: recordAnswer,
})
