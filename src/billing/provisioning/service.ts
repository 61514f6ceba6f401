// A service of a billing system: the workload that it has now, and how many it ever had.
import { Type as t } from 'typebox'
import { workloadOfService } from '../../fleet/workloads/queries.ts'
import { canSee } from '../../identity/team/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { idOf, text } from '../../kernel/api/query.ts'
import { workloadsEverOf } from '../usage/queries.ts'

export const getService = operation({
  id: 'billing.service',
  method: 'GET',
  path: '/billing/service',
  summary: 'The server or GPU instance of a service of a billing system, and how many the service ever had',
  access: { staff: ['servers:read'], reseller: ['servers:read'] },
  query: {
    billingServiceId: text("Required: the billing system's own identifier."),
    resellerId: idOf('usr', 'A service of this reseller; left out by staff: one of the house.'),
  },
  response: namedSchema('BillingService', {
    billingServiceId: t.String(),
    serverId: described(nullable(t.String()), 'The living server that has the identifier.'),
    instanceId: described(nullable(t.String()), 'The living GPU instance that has the identifier.'),
    workloadsEver: described(
      t.Integer(),
      'How many servers and GPU instances ever had the identifier, terminated ones included. It never goes down.',
    ),
  }),
  refuses: ['invalid_request'],
  run({ tx, actor, query }) {
    const called = query['billingServiceId']
    if (called === undefined) throw new ApiError('invalid_request', 'Name the service: ?billingServiceId=…')
    const resellerId = actor.kind === 'reseller' ? actor.accountId : (query['resellerId'] ?? null)
    const holder = workloadOfService(tx, resellerId, called)
    const living = holder && canSee(tx, actor, holder) ? holder : undefined
    return {
      billingServiceId: called,
      serverId: living?.kind === 'server' ? living.id : null,
      instanceId: living && living.kind !== 'server' ? living.id : null,
      workloadsEver: workloadsEverOf(tx, resellerId, called),
    }
  },
})
