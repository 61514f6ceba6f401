// The only place where the agent starts processes. No shell: a program from the list below, an argument list, an
// environment of two variables, a time limit and a cap on the output. Programs that run for a command are written to
// its log.

import { say } from '../controller-link/job-log.ts'
import { Failure } from '../failure.ts'
import { commandLine } from '../protocol/shell-quote.ts'

/** The programs that the agent may start. A name that is not here does not compile. */
const programs = ['virsh', 'qemu-img', 'qemu-system-x86_64', 'xorriso', 'nft', 'ip', 'tc'] as const
export type Program = (typeof programs)[number]

/** Fixed, so that the environment's PATH does not decide what root runs. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const env = { PATH, LC_ALL: 'C' }

export type Options = {
  stdin?: string
  limitSeconds?: number
  outputCapBytes?: number
  /** True: returns the result of a program that fails instead of throwing. */
  mayFail?: boolean
  /** True: stays out of the job's log. For queries that repeat. */
  quietly?: boolean
}
export type Ran = { code: number; out: string; err: string; tookMs: number }

const pathsFound = new Map<Program, string>()

/** The absolute path of a program, or undefined if this host does not have it. */
export function find(program: Program): string | undefined {
  const known = pathsFound.get(program)
  if (known) return known
  const path = Bun.which(program, { PATH }) ?? undefined
  if (path) pathsFound.set(program, path)
  return path
}

function mustFind(program: Program): string {
  const path = find(program)
  if (!path)
    throw new Failure(
      'tool_missing',
      `${program} is not installed on this host; berth agent doctor says which package has it`,
    )
  return path
}

/**
 * Runs a program to its end. Throws `tool_failed` when it exits with a code other than 0, `tool_timeout` after
 * `limitSeconds` (default 60), `tool_missing` when it is not installed. Output beyond `outputCapBytes` (default 8 MiB)
 * ends the program.
 */
export async function run(program: Program, args: string[], options: Options = {}): Promise<Ran> {
  const { limitSeconds = 60, outputCapBytes = 8 << 20 } = options
  const began = performance.now()
  if (!options.quietly) say('command', commandLine(program, args))
  const child = start(program, args, options.stdin)
  let overdue = false
  const timer = setTimeout(() => {
    overdue = true
    killGroup(child.pid)
  }, limitSeconds * 1000)
  try {
    const [out, err, code] = await Promise.all([
      capped(child.stdout, outputCapBytes, () => killGroup(child.pid)),
      capped(child.stderr, 64 << 10),
      child.exited,
    ])
    const ran = { code, out, err, tookMs: Math.round(performance.now() - began) }
    if (overdue)
      throw new Failure(
        'tool_timeout',
        `${program} ${args[0] ?? ''} did not end within ${limitSeconds} s and was stopped`,
      )
    if (code !== 0 && !options.mayFail) throw failed(program, args, ran)
    return ran
  } finally {
    clearTimeout(timer)
  }
}

/** Starts a program and yields its lines until it ends or `signal` aborts, which kills it. */
export async function* lines(program: Program, args: string[], signal: AbortSignal): AsyncGenerator<string> {
  if (signal.aborted) return
  const child = start(program, args)
  const stop = () => killGroup(child.pid)
  signal.addEventListener('abort', stop, { once: true })
  // A pipe that nobody reads fills up and blocks the program.
  const drained = capped(child.stderr, 64 << 10)
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      if (rest.length > 64 << 10) rest = ''
      yield* parts
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
    await drained
  }
}

function start(program: Program, args: string[], stdin?: string) {
  // A process group of its own, so that the time limit also ends the processes that it started.
  return Bun.spawn([mustFind(program), ...args], {
    env,
    cwd: '/',
    stdin: stdin === undefined ? 'ignore' : new TextEncoder().encode(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  })
}

function killGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

async function capped(stream: ReadableStream<Uint8Array>, capBytes: number, tooMuch?: () => void): Promise<string> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= capBytes) kept.push(chunk)
    else tooMuch?.()
  }
  return new TextDecoder().decode(Buffer.concat(kept))
}

function failed(program: Program, args: string[], { code, err, out }: Ran): Failure {
  const words = (err.trim() || out.trim()).split('\n').slice(0, 5).join('; ')
  return new Failure(
    'tool_failed',
    `${program} ${args.find((a) => !a.startsWith('-')) ?? ''} ended with ${code}: ${words.slice(0, 1500)}`,
  )
}
