// How every benchmark speaks: what is done, a table at the end, and medians rather than single runs.
export const say = (text: string) => console.log(text)

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The smallest value that `percent` of all values do not exceed. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

export const round = (n: number, digits = 0) => Number(n.toFixed(digits))
export const ms = (n: number) => `${round(n, n < 10 ? 1 : 0)} ms`

/** A table in Markdown, so that it can go into docs/benchmarks.md as it is. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]) {
  const all = [head, ...rows].map((row) => row.map(String))
  const width = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(width[i]!)).join(' | ')} |`
  say(
    ['', line(all[0]!), `|${width.map((w) => '-'.repeat(w + 2)).join('|')}|`, ...all.slice(1).map(line), ''].join('\n'),
  )
}

/** A goal beside what was measured. Missing one does not fail the run: the machine decides as much as the code. */
export const goal = (met: boolean, words: string) => `${words} ${met ? 'met' : 'MISSED'}`

/** `--name value` from the command line; prints `usage` and ends for --help or a flag that is not there. */
export function flags<F extends Record<string, number>>(usage: string, usual: F): F {
  const given = process.argv.slice(2)
  const values: Record<string, number> = { ...usual }
  for (let i = 0; i < given.length; i += 2) {
    const name = (given[i] ?? '').slice(2)
    const value = Number(given[i + 1])
    if (!(name in usual) || !Number.isFinite(value) || value < 0) {
      const asked = given.includes('--help')
      ;(asked ? console.log : console.error)(
        `${usage}\n\nFlags and what they are otherwise: ${Object.entries(usual)
          .map(([n, v]) => `--${n} ${v}`)
          .join(', ')}`,
      )
      process.exit(asked ? 0 : 2)
    }
    values[name] = value
  }
  return values as F
}
