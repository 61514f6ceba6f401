// Which workloads an action for many is about, and what would become of each: every action is tried on each of them in
// a transaction that is rolled back, so the plan refuses what the action refuses. Done in slices: others are served
// meanwhile.
import { type Static, type TObject, type TSchema, Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import {
  described,
  nullable,
  type Operation,
  type PrepareContext,
  type Query,
  type ReadContext,
} from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import type { IdPrefix } from '../../kernel/db/ids.ts'
import { rehearse } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'
import type { BulkKind, Deed } from './deeds.ts'

/** So many of one call; a larger fleet is done in parts, such as by location. */
export const MOST_SELECTED = 2000

/** Refusals that pass by themselves: it is tried again. */
export const passing: ReadonlySet<string> = new Set(['server_busy', 'gpu_instance_busy', 'in_use', 'volume_busy'])

/** `ids`: those of a filter, newest first. */
export type Selectable = {
  kind: BulkKind
  list: Operation
  ids(call: ReadContext, most: number): string[]
}

/** The fields that select workloads: their ids, or filters as the list of them has. */
export function selectionFields({ kind, list }: Selectable) {
  const { sort: _, cursor: __, limit: ___, ...filters } = (list.query ?? {}) as Record<string, TSchema>
  const { many } = kind.words
  return {
    ids: t.Optional(
      described(
        nullable(t.Array(idOf(kind.idPrefix as IdPrefix, ''), { minItems: 1, maxItems: MOST_SELECTED })),
        `These ${many}.`,
      ),
    ),
    filter: t.Optional(
      nullable(
        t.Object(Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, t.Optional(schema)])), {
          title: kind.idPrefix === 'srv' ? 'ServerFilter' : 'GpuInstanceFilter',
          additionalProperties: false,
          description: `All ${many} that fit, as \`${list.id}\` has them; an empty one is every ${kind.words.one}.`,
        }),
      ),
    ),
    expected: t.Optional(
      described(
        nullable(t.Integer({ minimum: 0, maximum: 1_000_000 })),
        'So many were shown to whoever chose them; with another number nothing is done.',
      ),
    ),
  }
}
export type Selection = Static<TObject<ReturnType<typeof selectionFields>>>

/** The expected result for one: `code` and `reason` where it is refused now, or `waits` for a job of its own. */
export type Planned = { id: string; name: string; code: string | null; reason: string | null; waits: boolean }

type Selecting = PrepareContext<unknown, Selection>
function selectedIds(call: Selecting, { kind, ids }: Selectable): string[] {
  const { db, body } = call
  if (!body.ids === !body.filter) throw invalid({ field: 'ids', message: 'or filter must be given, and not both.' })
  if (body.ids) {
    const chosen = [...new Set(body.ids)]
    const gone = chosen.findIndex((id) => !kind.find(db, id))
    if (gone !== -1) throw invalid({ field: 'ids', message: `has no ${kind.words.one} at place ${gone + 1}.` })
    return chosen
  }
  const found = ids({ ...call, tx: db, query: body.filter as Query }, MOST_SELECTED + 1)
  if (found.length > MOST_SELECTED)
    throw new ApiError(
      'selection_too_large',
      `More than ${MOST_SELECTED} ${kind.words.many} fit. Narrow the filter, such as to a location or a node.`,
    )
  return found
}

/** Throws `selection_changed` and `selection_too_large`. */
export async function planned<Body>(
  call: Selecting,
  from: Selectable,
  deed: Deed<any, Body>,
  body: Body,
): Promise<Planned[]> {
  const { kind } = from
  const ids = selectedIds(call, from)
  const { expected } = call.body
  if (expected != null && expected !== ids.length)
    throw new ApiError(
      'selection_changed',
      `Now ${ids.length} ${kind.words.many} fit and not ${expected}. Look at the list again, then decide.`,
    )
  const slices = new Slices()
  const plan: Planned[] = []
  for (const id of ids) {
    if (slices.isOver) await slices.rest()
    plan.push(tried(call, { kind, deed, id, body }))
  }
  return plan
}

type Trying = { kind: BulkKind; deed: Deed<any, any>; id: string; body: unknown }
function tried(call: Selecting, { kind, deed, id, body }: Trying): Planned {
  const target = kind.find(call.db, id)!
  const named = { id, name: target.hostname }
  try {
    rehearse(call.db, (tx) => void deed.act({ ...call, tx, actor: call.actor as Actor, parentId: '' }, target, body))
    return { ...named, code: null, reason: null, waits: false }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...named, code: error.code, reason: error.message, waits: passing.has(error.code) }
  }
}
