// A benchmark ends its processes by pid, also when it is interrupted; its files lie in one temporary directory.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { closedAtEnd } from '../support/opened.ts'

const children = new Set<Bun.Subprocess>()
const endings: (() => void)[] = []

export const tempDir = mkdtempSync(`${tmpdir()}/berth-bench-`)

type Started = {
  env?: Record<string, string>
  stderr?: 'inherit' | 'ignore' | 'pipe' | Bun.BunFile
  stdout?: 'pipe' | 'ignore' | 'inherit'
}
export function start(command: readonly string[], { env = {}, stderr = 'inherit', stdout = 'ignore' }: Started = {}) {
  const child = Bun.spawn([...command], { env: { ...plainEnv(), ...env }, stdin: 'ignore', stdout, stderr })
  children.add(child)
  void child.exited.then(() => children.delete(child))
  return child
}

/** PANEL_* of the caller's shell would change what is measured. */
const plainEnv = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PANEL_'))) as Record<
    string,
    string
  >

export async function end(child: Bun.Subprocess, signal: NodeJS.Signals = 'SIGTERM', patienceMs = 30_000) {
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  await child.exited
  clearTimeout(timer)
}

/** Undone at the end, last first. */
export const atEnd = (work: () => void) => void endings.push(work)

function cleanUp() {
  for (const child of children) child.kill('SIGKILL')
  for (const work of endings.splice(0).toReversed()) work()
  rmSync(tempDir, { recursive: true, force: true })
}
process.on('exit', cleanUp)
// A test that uses a bench runs in a worker, whose end is no exit.
closedAtEnd(cleanUp)
/** Could not measure: says why, and still ends what it started. */
for (const broken of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(broken, (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** Resident memory of one process, in MB. */
export const memoryMb = (pid: number): number => statusMb(pid, 'VmRSS')
/** The rest of what is resident are pages of the executable, which the kernel takes back when it needs them. */
export const ownMemoryMb = (pid: number): number => statusMb(pid, 'RssAnon')
const statusMb = (pid: number, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Processor time it has used, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
