import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import { customer } from '../account-records/model.ts'
import { updateAccount } from '../account-records/queries.ts'

const MOST_GPUS = 10_000

export const setGpuLimit = operation({
  id: 'customers.set-gpu-limit',
  method: 'PUT',
  path: '/customers/{id}/gpu-limit',
  summary: 'Set how many GPUs a customer may have where it orders instances itself; 0: it orders none',
  past: 'Changed the GPU limit',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  on: customer,
  body: fields({
    gpuLimit: described(
      t.Integer({ minimum: 0, maximum: MOST_GPUS }),
      'Those of instances that others ordered for it count too. Instances that it has stay.',
    ),
  }),
  response: namedSchema('GpuLimit', { customerId: t.String(), gpuLimit: t.Integer() }),
  refuses: ['not_possible'],
  example: { gpuLimit: 2 },
  run({ tx, target, body: { gpuLimit } }) {
    if (target.kind !== 'customer')
      throw new ApiError('not_possible', `${target.name} is a reseller: its quota says how many GPUs it may have.`)
    updateAccount(tx, target, { gpuLimit })
    return { customerId: target.id, gpuLimit }
  },
})
