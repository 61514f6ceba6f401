// An installation prints a line for each step, and for one that fails the problem and what to do. All that programs
// print goes to the log.
import { appendFileSync, readFileSync } from 'node:fs'

/** An end that was expected, in words for the operator. `remedy`: what to do next. */
export class Failed extends Error {
  constructor(
    readonly problem: string,
    readonly remedy?: string,
  ) {
    super(problem)
  }
}

/** Of the step that failed, at most this many lines are shown. */
const MOST_LINES = 15

export type Output = { out(text: string): void; err(text: string): void; isTerminal: boolean }
const terminal: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true,
}

export class Report {
  private current = ''

  /** `log`: a file that is appended to. */
  constructor(
    readonly log: string,
    private output: Output = terminal,
  ) {}

  /** Runs one step and prints its line; what `work` returns stands behind the words. Throws what it throws. */
  async step(words: string, work: () => unknown) {
    const began = performance.now()
    this.current = words
    if (this.output.isTerminal) this.output.out(`… ${words}`)
    this.write(`-- ${words}\n`)
    const note: unknown = await work()
    if (this.output.isTerminal) this.output.out('\r\x1b[K')
    const noted = typeof note === 'string' && note ? `: ${note}` : ''
    this.output.out(`✓ ${words}${noted}${elapsed(performance.now() - began)}\n`)
    this.current = ''
  }

  /** Into the log. */
  write(text: string) {
    appendFileSync(this.log, text)
  }

  /** To the person. */
  say(text: string) {
    this.output.out(`${text}\n`)
  }

  /** Prints why a run ended and what to do. Answers the exit code. */
  failed(error: unknown): number {
    const { output } = this
    if (output.isTerminal) output.err('\r\x1b[K')
    if (this.current) output.err(`✗ ${this.current}\n`)
    if (error instanceof Failed) output.err(`\n${error.problem}\n`)
    else {
      this.write(`${error instanceof Error ? error.message : error}\n`)
      output.err(`\nThe last lines of ${this.log}:\n${this.lastLines()}`)
    }
    const usual =
      `Everything is in ${this.log}. Put it right and run the same command again: what is done already is not done ` +
      'twice.'
    output.err(`${(error instanceof Failed && error.remedy) || usual}\n`)
    return 1
  }

  private lastLines(): string {
    const lines = readFileSync(this.log, 'utf8').trimEnd().split('\n')
    const began = lines.findLastIndex((line) => line.startsWith('-- '))
    return lines
      .slice(began + 1)
      .slice(-MOST_LINES)
      .map((line) => `  ${line}\n`)
      .join('')
  }
}

function elapsed(ms: number): string {
  const tenths = Math.floor(ms / 100)
  return tenths < 2 ? '' : ` (${(tenths / 10).toFixed(1)} s)`
}
