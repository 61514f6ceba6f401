import { settingBillingService } from '../../workloads/billing-service.ts'
import { gpuInstance, load } from '../model.ts'
import { instanceResponse } from '../record.ts'
import { showInstance } from '../show.ts'
import { actingInstance } from '../state.ts'

export const setInstanceBillingService = settingBillingService(actingInstance, {
  on: gpuInstance,
  answer: { schema: instanceResponse, of: (call, id) => showInstance(call, load(call.tx, id)) },
})
