import { page, paginate } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { filterFrom, filterQuery, type LineRow, lineResponse, selectLines, showLine } from './line.ts'

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
    const { where, values } = filterFrom(tx, call.query)
    return paginate({
      call,
      name: 'audit',
      rows: (after, limit) =>
        tx.$client
          .query<LineRow, any[]>(
            `${selectLines} WHERE ${where}${after ? ' AND a.id < ?' : ''} ORDER BY a.id DESC LIMIT ?`,
          )
          .all(...values, ...(after ? [after] : []), limit),
      keyOf: (a) => a.id,
      show: showLine,
      // For counting, every index will do.
      total: () =>
        tx.$client
          .query<{ n: number }, any[]>(`SELECT count(*) AS n FROM audit a WHERE ${where.replaceAll('+a.', 'a.')}`)
          .get(...values)!.n,
    })
  },
})
