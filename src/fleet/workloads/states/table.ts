// The state table of a kind of workload: for every status and every action the verdict, from which operations, buttons
// and the reference derive. The kind declares its statuses, its obstacles and the words of its refusals; each feature
// that acts on such a workload declares the rows of its own actions.
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { isGoneNode } from '../../node-records/queries.ts'
import type { Workload } from '../queries.ts'

/**
 * Beside the record. `locked`: its customer is locked for the actor; staff and its reseller may act. `nodeLost`: its
 * node was lost or removed, and nothing is sent to it any more.
 */
export type Circumstances = { locked: boolean; nodeLost: boolean }

/** A reason beside the status for which the actions that name it are refused. */
type Obstacle<D, W extends Code> = {
  code: W
  isMet(deciding: D): boolean
  /** It counts before the status; left out: after it. */
  beforeStatus?: true
}
/** The obstacles that every kind has. */
export const locked = {
  code: 'account_locked',
  isMet: ({ locked }: Circumstances) => locked,
  beforeStatus: true,
} as const
export const lost = { code: 'node_lost', isMet: ({ nodeLost }: Circumstances) => nodeLost } as const

/** An action: the verdict for each status, and the obstacles that refuse it. */
type Row<S extends string, O, W> = Readonly<Record<S, 'allowed' | W>> & { readonly refusedWhen: readonly O[] }
type Words<W extends Code> = Readonly<Record<W, (name: string) => string>>
type Declaration<Target, D, S extends string, O extends string, W extends Code> = {
  /** The `kind` of its `WorkloadKind`. */
  kind: string
  statuses: readonly S[]
  /** In the order in which they count. */
  obstacles: Readonly<Record<O, Obstacle<D, NoInfer<W>>>>
  /** The words of each code; `not_possible`: for a status that this version does not know. */
  words: Words<W> & Words<'not_possible'>
  nameOf(target: Target): string
  /** Is the customer of this workload locked for the actor? */
  isLockedFor(tx: Db, actor: Actor, target: Target): boolean
}

/** The actions among the rows that one of these obstacles refuses. */
type RefusedWhen<T, O> = {
  [A in keyof T]: T[A] extends { refusedWhen: readonly (infer R)[] } ? (Extract<R, O> extends never ? never : A) : never
}[keyof T]
type ActionOf<T> = keyof T & string

/** The rows of a feature as the registry reads them: for each action its cells by status, and what refuses it. */
export type DeclaredRows = {
  kind: string
  statuses: readonly string[]
  obstacles: readonly string[]
  rows: Readonly<Record<string, { cells: Readonly<Record<string, 'allowed' | Code>>; refusedWhen: readonly string[] }>>
}

/**
 * `statesOf<Server, Deciding>()({ kind: 'server', … })`: the state table of a kind. `Target` is a row of the kind,
 * `Facts` are its columns that decide, the status among them.
 */
export const statesOf =
  <Target extends Facts & Pick<Workload, 'nodeId'>, Facts extends { status: string }>() =>
  <O extends string, W extends Code>(declared: Declaration<Target, Facts & Circumstances, Facts['status'], O, W>) => ({
    /** Declares the rows of a feature. Total: a row does not compile until each of its cells is decided. */
    rows: <const T extends Readonly<Record<string, Row<Facts['status'], O, W>>>>(table: T) =>
      rowsOf<Target, Facts, T>(declared as unknown as Declared<Target, Facts>, table),
  })

type Declared<Target, Facts extends { status: string }> = Declaration<
  Target,
  Facts & Circumstances,
  Facts['status'],
  string,
  Code
>
function rowsOf<
  Target extends Facts & Pick<Workload, 'nodeId'>,
  Facts extends { status: string },
  T extends Readonly<Record<string, Row<Facts['status'], PropertyKey, PropertyKey>>>,
>({ kind, statuses, obstacles, words, nameOf, isLockedFor }: Declared<Target, Facts>, table: T) {
  type Action = ActionOf<T>
  const rows: DeclaredRows['rows'] = Object.fromEntries(
    Object.entries(table).map(([action, { refusedWhen, ...cells }]) => [
      action,
      { cells: cells as Record<string, 'allowed' | Code>, refusedWhen: refusedWhen as readonly string[] },
    ]),
  )
  const rules = new Map(
    Object.entries(rows).map(([action, { cells, refusedWhen }]) => {
      const named = Object.entries(obstacles).flatMap(([name, one]) => (refusedWhen.includes(name) ? [one] : []))
      return [
        action,
        {
          cells,
          before: named.filter(({ beforeStatus }) => beforeStatus),
          after: named.filter(({ beforeStatus }) => !beforeStatus),
        },
      ]
    }),
  )

  /**
   * The code by which status or obstacles refuse the action; undefined when they allow it. An unknown status refuses
   * every action.
   */
  function disabledReason(deciding: Facts & Circumstances, action: Action): Code | undefined {
    const { cells, before, after } = rules.get(action)!
    for (const obstacle of before) if (obstacle.isMet(deciding)) return obstacle.code
    const cell = cells[deciding.status] ?? 'not_possible'
    if (cell !== 'allowed') return cell
    for (const obstacle of after) if (obstacle.isMet(deciding)) return obstacle.code
    return undefined
  }

  function mustAllowHere(target: Target, circumstances: Circumstances, action: Action) {
    const code = disabledReason({ ...target, ...circumstances }, action)
    if (code) throw new ApiError(code, wordsOf(code, target))
  }
  const wordsOf = (code: Code, target: Target) => words[code](nameOf(target))

  return {
    kind,
    statuses: statuses as readonly string[],
    obstacles: Object.keys(obstacles),
    rows,
    table,
    actions: Object.keys(table) as Action[],
    disabledReason,
    /** The words in which a workload is refused with this code. */
    wordsOf,
    /** Throws the refusal of the table, for actions that are open while the customer is locked or the node lost. */
    mustAllow: (target: Target, action: Exclude<Action, RefusedWhen<T, 'locked' | 'lost'>>) =>
      mustAllowHere(target, { locked: false, nodeLost: false }, action),
    /** Throws the refusal of the table, `account_locked` or `node_lost` among them. */
    mustAllowFor: (tx: Db, actor: Actor, target: Target, action: Action) =>
      mustAllowHere(
        target,
        { locked: isLockedFor(tx, actor, target), nodeLost: isGoneNode(tx, target.nodeId) },
        action,
      ),
    /** The codes by which some state refuses one of the actions: for the `refuses` of their operation. */
    refusalsOf(...actions: readonly Action[]): Code[] {
      const codes = new Set<Code>()
      for (const action of actions) {
        const { cells, before, after } = rules.get(action)!
        for (const status of statuses) if (cells[status] !== 'allowed') codes.add(cells[status] as Code)
        for (const { code } of [...before, ...after]) codes.add(code)
      }
      return [...codes]
    },
  }
}
