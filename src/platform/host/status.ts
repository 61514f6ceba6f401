import { Type as t } from 'typebox'
import { operation, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'

export const getStatus = operation({
  id: 'status.get',
  method: 'GET',
  path: '/status',
  summary: 'Whether it is up, and which version it is',
  access: 'anyone',
  response: t.Object({ status: t.Enum(['ok']), product: t.String(), version: t.String(), time, startedAt: time }),
  run: ({ wallClock, startedAt }) => ({
    status: 'ok' as const,
    product: 'Berth',
    version: VERSION,
    time: iso(wallClock()),
    startedAt: iso(startedAt),
  }),
})
