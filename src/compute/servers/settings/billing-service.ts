import { endedServer } from '../../server-records/model.ts'
import { settingBillingService } from '../../workloads/billing-service.ts'
import { recordResponse } from '../show.ts'
import { actingServer } from '../states.ts'

export const setBillingService = settingBillingService(actingServer, {
  on: endedServer,
  answer: recordResponse,
})
