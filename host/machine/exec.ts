// The only place where `berth host` starts programs: a list of arguments, no shell. An installation waits for those of
// the list below; their output goes to its log, or to who asked. Services run on beside it.
import { closeSync, openSync } from 'node:fs'

const programs = [
  'apt-get',
  'caddy',
  'curl',
  'dpkg',
  'dpkg-deb',
  'dpkg-query',
  'du',
  'find',
  'getent',
  'hostname',
  'install',
  'ip',
  'iptables',
  'journalctl',
  'mountpoint',
  'nft',
  'podman',
  'setpriv',
  'ss',
  'systemctl',
  'systemd-run',
  'useradd',
  'userdel',
  'virsh',
] as const
/** A program of the distribution, or one of Berth's own by its absolute path. */
export type Program = (typeof programs)[number] | `/${string}`

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export type Options = {
  /** Standard input; nothing by default. */
  input?: string
  /** Variables beside those of this process; `undefined` takes one away. */
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
  limitSeconds?: number
  /** An open file that gets what is printed. */
  output?: number
}
/** `err` is empty where it went to the log. */
export type Ended = { code: number; out: string; err: string }

/** Thrown when a program that must work ends with another code than 0. */
export class ProgramFailed extends Error {}

export class Exec {
  /** `log`: the file, or the open descriptor, that output goes to; none: it is thrown away. */
  constructor(private log?: string | number) {}

  has = (program: Program) => Bun.which(program, { PATH }) !== null

  /** Runs a program to its end, its output in the log. Throws `ProgramFailed`. */
  run(program: Program, args: readonly string[], options: Options = {}): void {
    const code = this.try(program, args, options)
    if (code !== 0) throw new ProgramFailed(`${program} ${args[0] ?? ''} ended with ${code}`)
  }

  /** The same; answers the code. 127: there is no such program. */
  try(program: Program, args: readonly string[], options: Options = {}): number {
    return this.withLog((fd) => this.start(program, args, options, fd, fd).code)
  }

  /** Runs a program and answers what it printed; what it prints as errors is answered too. */
  ask(program: Program, args: readonly string[], options: Options = {}): Ended {
    return this.start(program, args, options, options.output ?? 'pipe', 'pipe')
  }

  /** The same, while this process goes on. */
  async later(program: Program, args: readonly string[]): Promise<Ended> {
    const child = Bun.spawn([program, ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, PATH },
      cwd: '/',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }

  /** Answers what a program printed, without the last line's end; its errors go to the log. Throws `ProgramFailed`. */
  must(program: Program, args: readonly string[], options: Options = {}): string {
    const { code, out } = this.withLog((fd) => this.start(program, args, options, 'pipe', fd))
    if (code !== 0) throw new ProgramFailed(`${program} ${args[0] ?? ''} ended with ${code}`)
    return out.trimEnd()
  }

  private withLog<T>(work: (fd: number) => T): T {
    if (typeof this.log === 'number') return work(this.log)
    const fd = openSync(this.log ?? '/dev/null', 'a')
    try {
      return work(fd)
    } finally {
      closeSync(fd)
    }
  }

  private start(
    program: Program,
    args: readonly string[],
    { input, env = {}, cwd, limitSeconds }: Options,
    stdout: 'pipe' | number,
    stderr: 'pipe' | number,
  ): Ended {
    const path = Bun.which(program, { PATH })
    if (!path) return { code: 127, out: '', err: `${program} is not installed\n` }
    const ended = Bun.spawnSync([path, ...args], {
      stdin: input === undefined ? 'ignore' : Buffer.from(input),
      stdout,
      stderr,
      env: { ...process.env, PATH, ...env },
      ...(cwd && { cwd }),
      ...(limitSeconds && { timeout: limitSeconds * 1000 }),
    })
    return { code: ended.exitCode ?? 1, out: ended.stdout?.toString() ?? '', err: ended.stderr?.toString() ?? '' }
  }
}

/** `log`: its output is appended there. `socket`: a descriptor that it gets as its own number 3. */
export type Service = { cwd: string; env: Record<string, string>; log: string; socket?: number | undefined }

/** On a full disk a program runs without its log. */
function openLog(log: string) {
  try {
    return openSync(log, 'a')
  } catch {
    return openSync('/dev/null', 'a')
  }
}

/**
 * Starts a program that outlives this process, in a session of its own: a signal to this terminal is none for it.
 * Throws where there is no such program.
 */
export function startService(command: readonly string[], { cwd, env, log, socket }: Service) {
  const output = openLog(log)
  try {
    const child = Bun.spawn([...command], {
      cwd,
      env,
      stdio: ['ignore', output, output, ...(socket === undefined ? [] : [socket])] as ['ignore', number, number],
      detached: true,
    })
    child.unref()
    return child
  } finally {
    closeSync(output)
  }
}
