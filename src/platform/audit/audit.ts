import { page, paginate } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { targetsOf } from '../../kernel/audit/target.ts'
import { filterQuery, lineResponse, showLine } from './line.ts'
import { countLines, filterFrom, selectLinesOf } from './queries.ts'

export const listAudit = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/admin/audit',
  summary: 'Every change, who made it, from where, and every refused sign-in',
  access: { staff: ['audit:read'] },
  query: filterQuery,
  pages: { usual: 50, most: 1000 },
  response: page(lineResponse),
  run(call) {
    const { tx } = call
    const filter = filterFrom(tx, call.query)
    return paginate({
      call,
      name: 'audit',
      rows: (slice) => selectLinesOf(tx, targetsOf(call.registry), filter, slice),
      keyOf: (a) => a.id,
      show: showLine,
      total: () => countLines(tx, filter),
    })
  },
})
