import { fields, nullable, operation } from '../../../kernel/api/operation.ts'
import { billingServiceId, mustNameOwnService } from '../install/order.ts'
import { server } from '../model.ts'
import { serverRow, updateServer } from '../queries.ts'
import { serverResponse, showServer } from '../show.ts'

export const setBillingService = operation({
  id: 'servers.set-billing-service',
  method: 'PATCH',
  path: '/servers/{id}/billing',
  summary: "Set the billing system's own identifier of a server; null removes it",
  access: { staff: ['servers:create'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({ billingServiceId: nullable(billingServiceId) }),
  response: serverResponse,
  example: { billingServiceId: 'service-4711' },
  run(call) {
    const { tx, actor, target, body } = call
    mustNameOwnService(actor, target.ownerId, body.billingServiceId)
    updateServer(tx, target.id, { billingServiceId: body.billingServiceId || null })
    return showServer(call, serverRow(tx, target.id))
  },
})
