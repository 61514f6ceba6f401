import { fields, nullable, operation } from '../../../kernel/api/operation.ts'
import { billingServiceId, mustBeFreeService, mustNameOwnService } from '../../billing-service.ts'
import { gpuInstance, load } from '../model.ts'
import { updateInstance } from '../queries.ts'
import { instanceResponse } from '../record.ts'
import { showInstance } from '../show.ts'

export const setInstanceBillingService = operation({
  id: 'gpu-instances.set-billing-service',
  method: 'PATCH',
  path: '/gpu-instances/{id}/billing',
  summary: "Set the billing system's own identifier of a GPU instance; null removes it",
  access: { staff: ['servers:create'], reseller: ['reseller:servers'] },
  on: gpuInstance,
  body: fields({ billingServiceId: nullable(billingServiceId) }),
  response: instanceResponse,
  refuses: ['billing_service_id_taken'],
  example: { billingServiceId: 'service-4711' },
  run(call) {
    const { tx, actor, target, body } = call
    mustNameOwnService(actor, target.ownerId, body.billingServiceId)
    if (target.terminatedAt === null) mustBeFreeService(tx, actor, target, body.billingServiceId)
    updateInstance(tx, target.id, { billingServiceId: body.billingServiceId || null })
    return showInstance(call, load(tx, target.id))
  },
})
