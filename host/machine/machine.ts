// A machine that is prepared: its paths, programs and log, and which of its files this run has changed.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Exec } from './exec.ts'
import { installed, type Paths } from './paths.ts'
import { Report } from './report.ts'

export type Machine = {
  paths: Paths
  report: Report
  exec: Exec
  hasSystemd: boolean
  /** Paths of files that this run has written anew. */
  changed: Set<string>
}

export function openMachine(log: string, paths: Paths = installed): Machine {
  return {
    paths,
    report: new Report(log),
    exec: new Exec(log),
    hasSystemd: existsSync('/run/systemd/system'),
    changed: new Set(),
  }
}

/** Writes the file if it differs, and notes that it changed. Nobody sees half of it. */
export function place({ changed }: Machine, path: string, mode: number, content: string) {
  if (textOf(path) === content) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  chmodSync(`${path}.new`, mode)
  renameSync(`${path}.new`, path)
  changed.add(path)
}

/** Makes a directory and those above it, readable by everybody. */
export function makeDirectory(path: string, mode = 0o755) {
  if (existsSync(path)) return
  mkdirSync(path, { recursive: true, mode: 0o755 })
  chmodSync(path, mode)
}

/** The text of a file, or undefined where there is none. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** A setting as an earlier run wrote it, or ''. */
export const setting = (file: string, name: string) =>
  new RegExp(`^${name}="(.*)"$`, 'm').exec(textOf(file) ?? '')?.[1] ?? ''

/** Lines of `NAME="value"`; a value that is undefined is left out. */
export const settingLines = (comment: string, values: Readonly<Record<string, string | undefined>>) =>
  `# ${comment}\n${Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${value}"\n`]))
    .join('')}`

/** Does it become true within this time? Asks five times a second. */
export async function becomes(limitSeconds: number, isSo: () => boolean): Promise<boolean> {
  for (const end = performance.now() + limitSeconds * 1000; ; await Bun.sleep(200)) {
    if (isSo()) return true
    if (performance.now() > end) return false
  }
}

/** Do both files hold the same bytes? */
export function isSameFile(a: string, b: string): boolean {
  if (!existsSync(a) || !existsSync(b) || statSync(a).size !== statSync(b).size) return false
  return statSync(a).ino === statSync(b).ino || readFileSync(a).equals(readFileSync(b))
}
