import { endedServer } from '../../server-records/model.ts'
import { actingServer } from '../../server-records/state.ts'
import { settingBillingService } from '../../workloads/billing-service.ts'
import { recordResponse } from '../show.ts'

export const setBillingService = settingBillingService(actingServer, {
  on: endedServer,
  answer: recordResponse,
})
