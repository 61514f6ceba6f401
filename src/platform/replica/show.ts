import { Type as t } from 'typebox'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'

export const getReplica = operation({
  id: 'replica.get',
  method: 'GET',
  path: '/admin/replica',
  summary: 'The replica of the database: where it is, and how far',
  access: { staff: ['nodes:read'] },
  response: namedSchema('Replica', {
    address: described(nullable(t.String()), 'Null where PANEL_REPLICA is not set.'),
    waits: described(t.Boolean(), 'Changes are confirmed when they are in the replica.'),
    days: described(t.Integer(), 'So far back any time can be restored.'),
    shippedAt: described(nullable(time), 'Every change before is in the replica.'),
    baseAt: described(nullable(time), 'The last whole copy.'),
    error: nullable(t.String()),
    errorSince: nullable(time),
  }),
  run({ replica: { config, state } }) {
    return {
      address: config?.address ?? null,
      waits: config?.waits ?? false,
      days: config?.days ?? 0,
      shippedAt: isoOrNull(state.shippedAt),
      baseAt: isoOrNull(state.baseAt),
      error: state.error?.message ?? null,
      errorSince: isoOrNull(state.error?.since ?? null),
    }
  },
})
