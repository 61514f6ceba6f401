// The only place where the agent starts processes. No shell for words that vary: a program from the list below, an
// argument list, an environment of three variables and those that a driver adds, a time limit and a cap on the output.
// Programs that run for a command are written to its log.

import { chmodSync, chownSync, closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../controller-link/job-log.ts'
import { Failure } from '../failure.ts'
import { commandLine } from '../protocol/shell-quote.ts'

/** The programs that the agent may start. A name that is not here does not compile. */
const programs = [
  'virsh',
  // For the fixed scripts of source hypervisors, on a node that is one itself.
  'sh',
  'qemu-img',
  'qemu-system-x86_64',
  'xorriso',
  'nft',
  'ip',
  'tc',
  'bridge',
  'modprobe',
  'swtpm',
  'swtpm_setup',
  'restic',
  'ssh',
  'ssh-keygen',
  'sshd',
  'qemu-nbd',
  'qemu-storage-daemon',
  'nbdcopy',
  'nbdinfo',
  'mkfifo',
  'lvs',
  'lvcreate',
  'lvchange',
  'lvextend',
  'lvrename',
  'lvremove',
  'zfs',
  'zpool',
  'udevadm',
  'rbd',
  'ceph',
  'podman',
  'caddy',
  'nvidia-smi',
  'nvidia-ctk',
  // This program itself, for work that must not hold up or take down the agent.
  'berth',
  // The last good program of the host, which replaces this one.
  'berth-host',
  'mke2fs',
  'e2fsck',
  'resize2fs',
  'fallocate',
  'losetup',
  'ldd',
  'patchelf',
  'busybox',
  // They look at directories that may be on storage of the network, where a call of the agent itself could hang it.
  'install',
  'ls',
  'stat',
  'dropbearkey',
  'debugfs',
  'fusermount',
  // Services and containers of another panel, which are stopped when it is removed.
  'systemctl',
  'service',
  'docker',
  'cp',
  'sync',
] as const
export type Program = (typeof programs)[number]

/** Fixed, so that the environment's PATH does not decide what root runs. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** virsh stores what it reads from standard input, passwords too, in a file of root’s unless its history is 0 long. */
const env = { PATH, LC_ALL: 'C', VIRSH_HISTSIZE: '0' }

export type Options = {
  stdin?: string
  /** Variables beside the usual ones. Never a secret: every user of the host may learn them. */
  env?: Readonly<Record<string, string>>
  limitSeconds?: number
  outputCapBytes?: number
  /** True: returns the result of a program that fails instead of throwing. */
  mayFail?: boolean
  /** True: stays out of the job's log. For queries that repeat. */
  quietly?: boolean
  confined?: Confinement
}
/**
 * For a program that reads what a stranger made. It runs as `nobody`, without capabilities and without network, and
 * reaches these files alone, which are open before it starts: `reads`, `alsoReads`, and `writes`, which exists. All are
 * among its arguments; those of `alsoReads` also as a part of one. `mostFileBytes` is the size to which it may write a
 * file.
 */
export type Confinement = { reads?: string; alsoReads?: readonly string[]; writes: string; mostFileBytes: number }
export type Ran = { code: number; out: string; err: string; tookMs: number }

/** It is in no folder of PATH. */
export const HOST_PROGRAM = '/usr/local/lib/berth/berth-host'

const pathsFound = new Map<Program, string>()

/** How this program is started again: the executable alone, or, run from its source, Bun with the source. */
const ownProgram = Bun.main.startsWith('/$bunfs/')
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, '../../src/main.ts')]
/** The words with which another program starts this one. */
export const ownCommand = (...args: string[]) => [...ownProgram, ...args] as [string, ...string[]]
const commandOf = (program: Program) => (program === 'berth' ? ownProgram : [mustFind(program)])

/** The absolute path of a program, or undefined if this host does not have it. */
export function find(program: Program): string | undefined {
  if (program === 'berth') return process.execPath
  if (program === 'berth-host') return existsSync(HOST_PROGRAM) ? HOST_PROGRAM : undefined
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
  const child = options.confined
    ? startConfined(program, args, options.confined, limitSeconds)
    : start(program, args, options.stdin, options.env)
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
        `${program} ${args[0] ?? ''} did not end within ${limitSeconds} s and was stopped${lastWords(err)}`,
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

/**
 * Every program of the agent is started here. It never outlives the agent, not even one that was killed: the next agent
 * would start it beside the one that is left. What it starts itself, such as the monitor of a container, runs on.
 * `wrapped`: words before it, which end with those that take its rights away; the kernel forgets the signal whenever
 * the rights change, so it is set behind them. A process group of its own, so that a stop ends its own programs too.
 */
function spawn<const In extends SpawnIn, const Out extends SpawnOut, const Err extends SpawnOut>(
  command: readonly string[],
  {
    wrapped = [],
    more = {},
    stdio,
  }: { wrapped?: readonly string[]; more?: Options['env']; stdio: [In, Out, Err, ...number[]] },
) {
  const words = [...wrapped, 'setpriv', '--pdeathsig', 'KILL', '--'].map(mustFindTool)
  return Bun.spawn([...words, ...command], {
    env: { ...env, ...more },
    cwd: '/',
    stdio: stdio as [In, Out, Err],
    detached: true,
  })
}
type SpawnIn = 'ignore' | 'pipe' | number | Uint8Array
type SpawnOut = 'pipe' | number

const start = (program: Program, args: string[], stdin?: string, more: Options['env'] = {}) =>
  spawn([...commandOf(program), ...args], { more, stdio: [inputOf(stdin), 'pipe', 'pipe'] })
const inputOf = (text: string | undefined) => (text === undefined ? 'ignore' : new TextEncoder().encode(text))

/** A program that works beside others. */
export type Begun = { pid: number; ended: Promise<Ran>; stop(signal?: 'SIGTERM' | 'SIGKILL'): void }
/**
 * Open files for its input and output; left out: no input, and output that `ended` has. `mostFileBytes`: the size to
 * which it may write a file; one that writes more is ended.
 */
export type Ends = { stdin?: number; stdout?: number; env?: Options['env']; mostFileBytes?: number }

/** Starts a program. Its end, with whatever code, is for the caller to judge. */
export function begin(
  program: Program,
  args: string[],
  { stdin, stdout, env: more = {}, mostFileBytes }: Ends = {},
): Begun {
  say('command', commandLine(program, args))
  const began = performance.now()
  const limits = mostFileBytes === undefined ? [] : ['prlimit', `--fsize=${mostFileBytes}`, '--core=0', '--']
  const child = spawn([...limits.map(mustFindTool), ...commandOf(program), ...args], {
    more,
    stdio: [stdin ?? 'ignore', stdout ?? 'pipe', 'pipe'],
  })
  const all = async (): Promise<Ran> => {
    const [out, err, code] = await Promise.all([
      stdout === undefined ? capped(child.stdout as ReadableStream<Uint8Array>, 8 << 20) : '',
      capped(child.stderr, 64 << 10),
      child.exited,
    ])
    return { code, out, err, tookMs: Math.round(performance.now() - began) }
  }
  return { pid: child.pid, ended: all(), stop: (signal = 'SIGKILL') => killGroup(child.pid, signal) }
}

/** A program that is asked and answers while it runs. `ended`: its end, with whatever code. */
export type Conversation = {
  pid: number
  write(text: string): void
  /** It is asked no more. */
  finish(): void
  answers: ReadableStream<Uint8Array>
  ended: Promise<Omit<Ran, 'out'>>
  stop(): void
}

/** Starts a program that is asked and answers while it runs. It stays out of the job's log. */
export function converse(program: Program, args: string[]): Conversation {
  const began = performance.now()
  const child = spawn([...commandOf(program), ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const all = async () => {
    const [err, code] = await Promise.all([capped(child.stderr, 64 << 10), child.exited])
    return { code, err, tookMs: Math.round(performance.now() - began) }
  }
  const { stdin } = child
  return {
    pid: child.pid,
    write(text) {
      stdin.write(text)
      stdin.flush()
    },
    finish: () => void stdin.end(),
    answers: child.stdout,
    ended: all(),
    stop: () => killGroup(child.pid),
  }
}

/**
 * Ends every program that has `word`, which is this agent's own, in its arguments: one that a killed agent had only
 * just begun does not know yet that it shall not outlive it.
 */
export function endAll(word: string) {
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid))
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(1).join('\0').includes(word))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
}

/** Takes away every mount below the folder, also one whose server has ended, so that nothing waits for it. */
export function unmountBelow(folder: string) {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((path) => path.startsWith(`${folder}/`))
  for (const path of mounts) Bun.spawnSync([mustFindTool('umount'), '--lazy', '--', path], { env, cwd: '/' })
}

/** `nobody` and `nogroup`, which own no file. */
export const NOBODY = 65_534
/** qemu-img takes some 100 MB beside its threads, whatever the image; with less than 500 MB it does not start. */
const CONFINED_MEMORY_BYTES = 2 ** 31
const CONFINED_FILES = 64

/** An image is decompressed by several threads at a time, so it may take more processor time than time. */
const limitsFor = ({ mostFileBytes }: Pick<Confinement, 'mostFileBytes'>, limitSeconds: number) => [
  `--as=${CONFINED_MEMORY_BYTES}`,
  `--cpu=${Math.ceil(limitSeconds * 2)}`,
  `--fsize=${mostFileBytes}`,
  `--nofile=${CONFINED_FILES}`,
  '--core=0',
]
const withoutRights = [
  ...['unshare', '--net', '--ipc', '--'],
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'],
  ...['--inh-caps=-all', '--bounding-set=-all', '--'],
]

/** The open file of a program of `beginConfined`, as one of its arguments. */
export const CONFINED_INPUT = '/proc/self/fd/3'
/**
 * `input`: the open file at `CONFINED_INPUT`. `limitSeconds`: of time; of the processor twice as much. `mostFileBytes`:
 * the size to which it may write that file, if it may; it has none else.
 */
type ConfinedReader = { input: number; stdin?: string; limitSeconds: number; mostFileBytes?: number }
export type ConfinedRun = { stdout: ReadableStream<Uint8Array>; ended: Promise<Omit<Ran, 'out'>>; stop(): void }

/**
 * Starts a program that reads what a stranger made, confined as with `Confinement`. It writes to no file unless
 * `mostFileBytes` is given. Its output is read by the caller, and its end, with whatever code, is for the caller to
 * judge; beyond the limit it is killed.
 */
export function beginConfined(program: Program, args: string[], options: ConfinedReader) {
  const { input, stdin, limitSeconds, mostFileBytes = 0 } = options
  const began = performance.now()
  const isRoot = process.getuid?.() === 0
  const limits = limitsFor({ mostFileBytes }, limitSeconds)
  const child = spawn([mustFind(program), ...args], {
    wrapped: [...(isRoot ? withoutRights : []), 'prlimit', ...limits, '--'],
    stdio: [inputOf(stdin), 'pipe', 'pipe', input],
  })
  const stop = () => killGroup(child.pid)
  const timer = setTimeout(stop, limitSeconds * 1000)
  const all = async () => {
    const [err, code] = await Promise.all([capped(child.stderr, 64 << 10), child.exited])
    clearTimeout(timer)
    return { code, err, tookMs: Math.round(performance.now() - began) }
  }
  return { stdout: child.stdout, ended: all(), stop } satisfies ConfinedRun
}

/** An agent that is not root has no rights to give up: there the limits alone hold. */
function startConfined(program: Program, args: string[], confined: Confinement, limitSeconds: number) {
  const isRoot = process.getuid?.() === 0
  const { reads, alsoReads = [], writes } = confined
  const opened: number[] = []
  const open = (path: string, flags: string) => {
    opened.push(openSync(path, flags))
    return opened.at(-1)!
  }
  try {
    // The program opens its descriptors anew, so that the rights of the files count and those of their directories do
    // not.
    for (const path of isRoot ? [...(reads === undefined ? [] : [reads]), ...alsoReads] : []) {
      chownSync(path, 0, NOBODY)
      chmodSync(path, 0o640)
    }
    if (isRoot) chownSync(writes, NOBODY, NOBODY)
    const given = reads === undefined ? ('ignore' as const) : open(reads, 'r')
    const made = open(writes, 'r+')
    const others = alsoReads.map((path) => open(path, 'r'))
    const within = (word: string) =>
      alsoReads.reduce((text, path, i) => text.replaceAll(`"${path}"`, `"/proc/self/fd/${4 + i}"`), word)
    const words = args.map((word) =>
      word === reads ? '/proc/self/fd/0' : word === writes ? '/proc/self/fd/3' : within(word),
    )
    return spawn([mustFind(program), ...words], {
      wrapped: [...(isRoot ? withoutRights : []), 'prlimit', ...limitsFor(confined, limitSeconds), '--'],
      stdio: [given, 'pipe', 'pipe', made, ...others],
    })
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** The absolute path where the word is one of these programs, which belong to every Debian. */
function mustFindTool(word: string): string {
  if (!['unshare', 'setpriv', 'prlimit', 'umount'].includes(word)) return word
  const path = Bun.which(word, { PATH })
  if (!path) throw new Failure('tool_missing', `${word} of the package util-linux is not installed on this host`)
  return path
}

function killGroup(pid: number, signal: NodeJS.Signals = 'SIGKILL') {
  try {
    process.kill(-pid, signal)
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

const lastWords = (err: string) => {
  const last = err.trim().split('\n').at(-1)
  return last ? `; it last said: ${last.slice(0, 500)}` : ''
}

function failed(program: Program, args: string[], { code, err, out }: Ran): Failure {
  const words = (err.trim() || out.trim()).split('\n').slice(0, 5).join('; ')
  return new Failure(
    'tool_failed',
    `${program} ${args.find((a) => !a.startsWith('-')) ?? ''} ended with ${code}: ${words.slice(0, 1500)}`,
  )
}
