// Which statements of an open database take long, and by which plan.
import { Database, type Statement } from 'bun:sqlite'
import type { DatabaseFile } from '../../../src/kernel/db/open.ts'

export type SlowStatement = { sql: string; times: number; worstMs: number; allMs: number; plan: string[] }

const METHODS = ['get', 'all', 'values', 'run', 'raw'] as const

/**
 * Notes every statement that is prepared from now on and takes longer than `overMs`. `prepared` keeps its statements,
 * so begin before anything reads.
 */
export function recordStatements(
  file: DatabaseFile,
  overMs: number,
  /** In ms; by default that of a clock, and not of the processor. */
  clock: () => number = () => performance.now(),
): {
  slowest(most: number): SlowStatement[]
  /** All, once: the next call answers what was noted after this one. */
  take(): SlowStatement[]
} {
  const found = new Map<string, Omit<SlowStatement, 'plan'>>()
  const note = (sql: string, ms: number) => {
    if (ms <= overMs) return
    const one = found.get(sql) ?? { sql, times: 0, worstMs: 0, allMs: 0 }
    found.set(sql, { sql, times: one.times + 1, worstMs: Math.max(one.worstMs, ms), allMs: one.allMs + ms })
  }
  const wrapped = new WeakSet<object>()
  const timed = (statement: Statement, sql: string) => {
    if (wrapped.has(statement)) return statement
    wrapped.add(statement)
    const methods = statement as unknown as Record<string, ((...values: unknown[]) => unknown) | undefined>
    for (const name of METHODS) {
      const method = methods[name]?.bind(statement)
      if (!method) continue
      methods[name] = (...values) => {
        const began = clock()
        const result = method(...values)
        note(sql, clock() - began)
        return result
      }
    }
    return statement
  }
  const prepare = file.prepare.bind(file)
  const query = file.query.bind(file)
  file.prepare = ((sql: string, ...more: []) => timed(prepare(sql, ...more), sql)) as typeof file.prepare
  file.query = ((sql: string) => timed(query(sql), sql)) as typeof file.query
  // In a connection of its own: in that of the product a plan of a change would count as a change at work.
  const plansOf = (all: readonly Omit<SlowStatement, 'plan'>[]): SlowStatement[] => {
    const reader = new Database(file.filename, { readonly: true })
    try {
      return all.map((one) => ({ ...one, plan: planOf(reader, one.sql) }))
    } finally {
      reader.close()
    }
  }
  const slowest = (most: number) =>
    plansOf([...found.values()].toSorted((a, b) => b.worstMs - a.worstMs).slice(0, most))
  return {
    slowest,
    take() {
      const all = slowest(found.size)
      found.clear()
      return all
    },
  }
}

function planOf(reader: Database, sql: string): string[] {
  // Words of control, such as BEGIN, have none.
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(sql)) return []
  const statement = reader.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
  const plan = statement.all().map(({ detail }) => detail)
  statement.finalize()
  return plan
}
