// The only place where the controller starts processes. No shell: a program from the list below, an argument list, an
// environment of two variables, a time limit and a cap on the output.

/** The programs that the controller may start. A name that is not here does not compile. */
const programs = ['gpgv'] as const
export type Program = (typeof programs)[number]

/** Fixed, so that the environment's PATH does not decide what the service runs. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export type Ran = { code: number; out: string; err: string }

/** The program is not installed on this host. */
export class ProgramMissing extends Error {}
/** The program did not end within its time, or said more than it may. */
export class ProgramStopped extends Error {}

type Limits = { seconds?: number; outputBytes?: number }

/**
 * Runs a program to its end, whatever its exit code, and stops it after `seconds` (20 if not given) or with more than
 * `outputBytes` (256 KiB) on either of its outputs. Throws `ProgramMissing` and `ProgramStopped`.
 */
export async function run(program: Program, args: readonly string[], limits: Limits = {}): Promise<Ran> {
  const { seconds = 20, outputBytes = 256 << 10 } = limits
  const path = Bun.which(program, { PATH })
  if (!path) throw new ProgramMissing(program)
  const child = Bun.spawn([path, ...args], {
    env: { PATH, LC_ALL: 'C' },
    cwd: '/',
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    killSignal: 'SIGKILL',
    timeout: seconds * 1000,
  })
  const stop = () => child.kill()
  const [out, err, code] = await Promise.all([
    capped(child.stdout, outputBytes, stop),
    capped(child.stderr, outputBytes, stop),
    child.exited,
  ])
  if (child.signalCode) throw new ProgramStopped(`${program} was stopped by ${child.signalCode}`)
  return { code, out, err }
}

async function capped(stream: ReadableStream<Uint8Array>, mostBytes: number, stop: () => void): Promise<string> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= mostBytes) kept.push(chunk)
    else stop()
  }
  return new TextDecoder().decode(Buffer.concat(kept))
}
