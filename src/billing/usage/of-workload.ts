// The usage of one workload in any period: each kind says what it shows of it.
import type { Static, TSchema } from 'typebox'
import type { Deciding } from '../../fleet/workloads/queries.ts'
import { decidingResource } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { operation, type ReadContext, type Resource } from '../../kernel/api/operation.ts'
import { visibleUsageOf } from './model.ts'
import type { Period } from './period.ts'
import { intervalsOf } from './queries.ts'
import { periodFrom, periodQuery } from './report-query.ts'
import type { UsageInterval } from './tables.ts'

type Own<A extends TSchema> = {
  id: string
  /** The path of one; that of its usage is behind it. */
  path: `/${string}/{id}`
  summary: string
  /** The kind of workload, and how its resource is named and missed. */
  kind: string
  resource: Pick<Resource<Deciding>, 'name' | 'notFound'>
  response: A
  /** Throws where its usage can be read no more, although it is seen. */
  mustBeReadable?(target: Deciding, now: number): void
  /** `intervalsIn`: its intervals that reach into a period, as far as the actor sees them, in the order of time. */
  show(
    call: ReadContext<Deciding>,
    period: Period,
    intervalsIn: (period: Period) => readonly UsageInterval[],
  ): Static<A>
}

/** The operation of a kind. */
export const usageOfWorkload = <A extends TSchema>({ id, path, summary, kind, resource, response, ...own }: Own<A>) =>
  operation({
    id,
    method: 'GET',
    path: `${path}/usage`,
    summary,
    access: everybody('servers:read'),
    on: { ...resource, ...decidingResource(kind) },
    query: periodQuery,
    response,
    run(call: ReadContext<Deciding>) {
      const { tx, actor, target, query, clock } = call
      const now = clock()
      own.mustBeReadable?.(target, now)
      return own.show(call, periodFrom(query, now), (period) =>
        intervalsOf(tx, [target.id], visibleUsageOf(actor, target), period),
      )
    },
  })
