import { and, count, desc, eq, like, lt } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { page, paginate } from '../kernel/api/list.ts'
import { nullable, operation, time } from '../kernel/api/operation.ts'
import { iso } from '../kernel/db/clock.ts'
import { audit } from '../kernel/jobs/tables.ts'

export const listAudit = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/admin/audit',
  summary: 'Every change, who made it, from where, and every refused sign-in',
  access: { staff: ['audit:read'] },
  query: {
    actorId: 'Only what this account did.',
    operation: 'Only this operation, or the start of its name.',
    target: 'Only changes to this id.',
    from: 'Only from this address.',
    result: 'done, or the code of a refusal.',
  },
  pages: { usual: 50, most: 1000 },
  answer: page(
    t.Object({
      id: t.String(),
      at: time,
      actor: t.Object({ id: t.String(), name: t.String() }),
      via: t.String(),
      operation: t.String(),
      target: nullable(t.String()),
      from: t.String(),
      requestId: t.String(),
      result: t.String(),
      details: t.Unknown(),
    }),
  ),
  run(call) {
    const { tx, query } = call
    const filter = and(
      query['actorId'] ? eq(audit.actorId, query['actorId']) : undefined,
      query['operation'] ? like(audit.operation, `${query['operation'].replace(/[%_\\]/g, '')}%`) : undefined,
      query['target'] ? eq(audit.target, query['target']) : undefined,
      query['from'] ? eq(audit.from, query['from']) : undefined,
      query['result'] ? eq(audit.result, query['result']) : undefined,
    )
    return paginate({
      call,
      name: 'audit',
      rows: (after, limit) =>
        tx
          .select()
          .from(audit)
          .where(and(filter, after ? lt(audit.id, after) : undefined))
          .orderBy(desc(audit.id))
          .limit(limit)
          .all(),
      keyOf: (a) => a.id,
      show: (a) => ({
        id: a.id,
        at: iso(a.at),
        actor: { id: a.actorId, name: a.actorName },
        via: a.via,
        operation: a.operation,
        target: a.target,
        from: a.from,
        requestId: a.requestId,
        result: a.result,
        details: a.details,
      }),
      total: () => tx.select({ n: count() }).from(audit).where(filter).get()!.n,
    })
  },
})
