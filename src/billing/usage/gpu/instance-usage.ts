// The usage of GPU instances in any period: of one, and for billing of all.
import { ApiError } from '../../../kernel/api/errors.ts'
import { page } from '../../../kernel/api/list.ts'
import { operation } from '../../../kernel/api/operation.ts'
import { idOf } from '../../../kernel/api/query.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import { pageOfLines, reportPages, workloads } from '../lines.ts'
import { visibleUsage } from '../model.ts'
import { usageOfWorkload } from '../of-workload.ts'
import { GPU_INSTANCE, ofGpuInstances, ofThoseThereSince } from '../queries.ts'
import { every, periodFrom, periodQuery } from '../report-query.ts'
import { gpuUsage, READABLE_MS, showUsage, usageOf } from './model.ts'

export const gpuInstanceUsage = usageOfWorkload({
  id: 'gpu-instances.usage',
  path: '/gpu-instances/{id}',
  summary: 'How long a GPU instance was held in a period, and ran, was stopped or suspended, with every spell',
  kind: GPU_INSTANCE,
  resource: { name: 'GPU instance', notFound: 'gpu_instance_not_found' },
  response: gpuUsage,
  mustBeReadable({ terminatedAt }, now) {
    if (terminatedAt !== null && terminatedAt <= now - READABLE_MS)
      throw new ApiError('gpu_instance_not_found', 'Usage of a deleted GPU instance can be read for 400 days.')
  },
  show(call, period, intervalsIn) {
    const known = intervalsIn({ from: 0, to: call.clock() + 1 })
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
  pages: reportPages,
  response: page(gpuUsage),
  run(call) {
    const { actor, query, clock } = call
    const now = clock()
    const period = periodFrom(query, now)
    const filters: Where[] = [visibleUsage(actor), ofGpuInstances, ofThoseThereSince(now - READABLE_MS)]
    if (query['owner_id']) filters.push({ where: 'i.owner_id = +?', values: [query['owner_id']] })
    if (period.from === period.to) filters.push({ where: '0', values: [] })
    const name = `gpu usage ${period.from} ${query['to'] ? period.to : ''}`
    return pageOfLines(call, [every(...filters), period], { name, counted: workloads, lines: usageOf })
  },
})
