import { fields, nullable, operation } from '../../../kernel/api/operation.ts'
import { billingServiceId, mustBeFreeService, mustNameOwnService } from '../../billing-service.ts'
import { endedServer } from '../model.ts'
import { serverRow, updateServer } from '../queries.ts'
import { serverResponse, showServer } from '../show.ts'

export const setBillingService = operation({
  id: 'servers.set-billing-service',
  method: 'PATCH',
  path: '/servers/{id}/billing',
  summary: "Set the billing system's own identifier of a server; null removes it",
  access: { staff: ['servers:create'], reseller: ['reseller:servers'] },
  on: endedServer,
  body: fields({ billingServiceId: nullable(billingServiceId) }),
  response: serverResponse,
  refuses: ['billing_service_id_taken'],
  example: { billingServiceId: 'service-4711' },
  run(call) {
    const { tx, actor, target, body } = call
    mustNameOwnService(actor, target.ownerId, body.billingServiceId)
    if (target.terminatedAt === null) mustBeFreeService(tx, actor, target, body.billingServiceId)
    updateServer(tx, target.id, { billingServiceId: body.billingServiceId || null })
    return showServer(call, serverRow(tx, target.id))
  },
})
