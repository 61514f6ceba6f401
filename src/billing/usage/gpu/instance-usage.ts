// The usage of GPU instances in any period: of one, and for billing of all.
import type { Deciding } from '../../../fleet/workloads/queries.ts'
import { decidingResource } from '../../../identity/team/access.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { page, paginate } from '../../../kernel/api/list.ts'
import { operation, type Resource } from '../../../kernel/api/operation.ts'
import { idOf } from '../../../kernel/api/query.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import { visibleUsage, visibleUsageOf } from '../model.ts'
import {
  countLines,
  GPU_INSTANCE,
  intervalsOf,
  keyFrom,
  keyTextOf,
  lineKeys,
  ofGpuInstances,
  ofThoseThereSince,
} from '../queries.ts'
import { every, periodFrom, periodQuery } from '../report-query.ts'
import { gpuUsage, READABLE_MS, showUsage, usageOf } from './model.ts'

const instance: Resource<Deciding> = {
  name: 'GPU instance',
  notFound: 'gpu_instance_not_found',
  ...decidingResource(GPU_INSTANCE),
}

export const gpuInstanceUsage = operation({
  id: 'gpu-instances.usage',
  method: 'GET',
  path: '/gpu-instances/{id}/usage',
  summary: 'How long a GPU instance was held in a period, and ran, was stopped or suspended, with every spell',
  access: everybody('servers:read'),
  on: instance,
  query: periodQuery,
  response: gpuUsage,
  run(call) {
    const { tx, actor, target, query, clock } = call
    const now = clock()
    if (target.terminatedAt !== null && target.terminatedAt <= now - READABLE_MS)
      throw new ApiError('gpu_instance_not_found', 'Usage of a deleted GPU instance can be read for 400 days.')
    const period = periodFrom(query, now)
    const where = every(visibleUsageOf(actor, target), ofGpuInstances)
    const known = intervalsOf(tx, [target.id], where, { from: 0, to: now + 1 })
    const last = known.findLast(({ since }) => since < period.to) ?? known[0]!
    return showUsage(call, known, last, period)
  },
})

export const listGpuUsage = operation({
  id: 'usage.gpu-instances',
  method: 'GET',
  path: '/admin/gpu-usage',
  summary: 'The usage of every GPU instance in a period, those deleted in the last 400 days included',
  access: { staff: ['servers:read'] },
  query: { ...periodQuery, owner_id: idOf('usr', 'Only what was of this account at the time.') },
  pages: { usual: 200, most: 1000 },
  response: page(gpuUsage),
  run(call) {
    const { tx, actor, query, clock } = call
    const now = clock()
    const period = periodFrom(query, now)
    const filters: Where[] = [visibleUsage(actor), ofGpuInstances, ofThoseThereSince(now - READABLE_MS)]
    if (query['owner_id']) filters.push({ where: 'i.owner_id = +?', values: [query['owner_id']] })
    if (period.from === period.to) filters.push({ where: '0', values: [] })
    const where = every(...filters)
    let shown = new Map<string, ReturnType<typeof showUsage>>()
    return paginate({
      call,
      name: `gpu usage ${period.from} ${query['to'] ? period.to : ''}`,
      rows({ after, skip, limit }) {
        const keys = lineKeys(tx, where, period, { after: keyFrom(after), skip, limit })
        const lines = usageOf(call, keys, where, period)
        shown = new Map(lines.map((line, i) => [keyTextOf(keys[i]!), line]))
        return keys
      },
      keyOf: keyTextOf,
      total: () => countLines(tx, where, period),
      show: (key) => shown.get(keyTextOf(key))!,
    })
  },
})
