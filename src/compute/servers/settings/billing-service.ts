import { settingBillingService } from '../../workloads/billing-service.ts'
import { endedServer } from '../model.ts'
import { recordResponse } from '../show.ts'
import { actingServer } from '../state.ts'

export const setBillingService = settingBillingService(actingServer, {
  on: endedServer,
  answer: recordResponse,
})
