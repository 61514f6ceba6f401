// The plan of an action for many as a read, for the page that asks before anything happens. A reason or a label, which
// the person types later, does not change the plan.
import type { TSchema } from 'typebox'
import { operation, type PrepareContext } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import { titles as instanceTitles } from '../gpu-instances/run/power-job.ts'
import { titles } from '../servers/power-job.ts'
import { bulkActionResponse, showPlan } from './model.ts'
import { type Planned, planned, type Selectable, type Selection } from './select.ts'
import { instances, servers } from './start.ts'

/** An action as a button has it: `start` is the action `power` with a body. */
type Way = { action: string; body: Record<string, unknown> }
const LATER = 'x'
const powerWays = (titles: object): [string, Way][] =>
  Object.keys(titles).map((action) => [action, { action: 'power', body: { action } }])
const suspensions: [string, Way][] = [
  ['suspend', { action: 'suspend', body: { reason: LATER } }],
  ['unsuspend', { action: 'unsuspend', body: {} }],
]
export const serverWays: Readonly<Record<string, Way>> = Object.fromEntries([
  ...powerWays(titles),
  ...suspensions,
  ['label', { action: 'label', body: { add: [LATER] } }],
  ['change-owner', { action: 'change-owner', body: {} }],
])
export const instanceWays: Readonly<Record<string, Way>> = Object.fromEntries([
  ...powerWays(instanceTitles),
  ...suspensions,
])

const planOf = (
  { path, prefix }: { path: `/${string}`; prefix: string },
  from: Selectable,
  ways: Readonly<Record<string, Way>>,
) => {
  const { sort: _, ...filters } = (from.list.query ?? {}) as Record<string, TSchema>
  const { cursor: __, limit: ___, ...query } = filters
  const { kind } = from
  const bodyOf = ({ action, body }: Way, to: string | undefined) =>
    action === 'change-owner' && to !== undefined ? { ...body, ownerId: to } : body
  return operation({
    id: `${prefix}.plan-many`,
    method: 'GET',
    path,
    summary: `What an action would do to many ${kind.words.many}, and why not to some of them`,
    access: { staff: ['servers:read'] },
    query: {
      ...query,
      do: oneOf(Object.keys(ways), 'The action.'),
      ids: text(
        `These ${kind.words.many}, with commas between their ids; without it, all that the filters leave.`,
        60_000,
      ),
      ...(ways['change-owner'] && { to: text('The customer who would get them.', 40) }),
    },
    response: bulkActionResponse,
    refuses: ['validation_failed', 'selection_too_large'],
    async prepare(call): Promise<Planned[]> {
      const { do: asked = Object.keys(ways)[0]!, ids, to, ...filter } = call.query
      const way = ways[asked]!
      const body: Selection = ids === undefined ? { filter } : { ids: ids.split(',') }
      const isOpen = way.action === 'change-owner' && to === undefined
      const deed = isOpen ? { ...kind.deeds[way.action]!, act: () => null } : kind.deeds[way.action]!
      return await planned({ ...call, body } as PrepareContext<unknown, Selection>, from, deed, bodyOf(way, to))
    },
    run({ query, prepared }) {
      const way = ways[query['do'] ?? Object.keys(ways)[0]!]!
      return showPlan({ kind: kind.kind, action: way.action, body: bodyOf(way, query['to']) }, prepared as Planned[])
    },
  })
}

export const planServers = planOf({ path: '/admin/servers/bulk-plan', prefix: 'servers' }, servers, serverWays)
export const planInstances = planOf(
  { path: '/admin/gpu-instances/bulk-plan', prefix: 'gpu-instances' },
  instances,
  instanceWays,
)
