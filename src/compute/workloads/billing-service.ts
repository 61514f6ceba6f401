import type { TSchema } from 'typebox'
import { changeWorkload, type Workload } from '../../fleet/workloads/queries.ts'
import { fields, nullable, operation, type Resource } from '../../kernel/api/operation.ts'
import type { ActingKind, Answer } from './acting.ts'
import { billingServiceId, mustBeFreeService, mustNameOwnService } from './service-id.ts'

/** Sets the identifier that the billing system has for a workload; in every state, and so without a row for it. */
export const settingBillingService = <Row extends Workload, A extends TSchema>(
  { kind, prefix, path }: ActingKind<Row>,
  own: {
    /** Those that can be brought back too, where the kind has some. */
    on: Resource<Row>
    answer: Answer<A>
  },
) =>
  operation({
    id: `${prefix}.set-billing-service`,
    method: 'PATCH',
    path: `${path}/billing`,
    summary: `Set the billing system's own identifier of a ${kind.words.one}; null removes it`,
    past: 'Changed the billing identifier',
    access: { staff: ['servers:create'], reseller: ['reseller:servers'] },
    on: own.on,
    body: fields({ billingServiceId: nullable(billingServiceId) }),
    response: own.answer.schema,
    refuses: ['billing_service_id_taken'],
    example: { billingServiceId: 'service-4711' },
    run(call) {
      const { tx, actor, target, body } = call
      mustNameOwnService(actor, target.ownerId, body.billingServiceId)
      if (target.terminatedAt === null) mustBeFreeService(tx, actor, target, body.billingServiceId)
      changeWorkload(tx, target.id, { billingServiceId: body.billingServiceId || null })
      return own.answer.of(call, target.id)
    },
  })
