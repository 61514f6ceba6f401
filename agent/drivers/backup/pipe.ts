// One program that writes to another. The reader sees the end of what it reads only when the writer has ended well: a
// writer that was killed must not make the reader store half of it as a whole.
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { begin, type Options, type Program, type Ran, run } from '../../host/exec.ts'

export type Words = { program: Program; args: string[]; env?: Options['env'] }
/** `broke`: the first that failed. The other one was stopped. */
export type Piped = { from: Ran; into: Ran; broke: 'from' | 'into' | undefined }
type Watching = {
  signal: AbortSignal
  /** The most time in which no byte comes from the writer. */
  stallSeconds: number
  /** How many bytes the writer has written so far. */
  onBytes(bytes: number): void
}

const LOOK_MS = 1000

/** Throws the reason of `signal`, and `tool_timeout` after a stall. `folder` is for the pipe. */
export async function piped(folder: string, from: Words, into: Words, watching: Watching): Promise<Piped> {
  const { signal } = watching
  signal.throwIfAborted()
  const path = join(folder, 'pipe')
  rmSync(path, { force: true })
  await run('mkfifo', ['-m', '600', path], { quietly: true })
  // Both ends: nobody waits for the other to open it, and the reader sees no end before this is closed.
  const held = openSync(path, 'r+')
  const writer = startWith(path, 'w', (stdout) => begin(from.program, from.args, { stdout, env: from.env }))
  const reader = startWith(path, 'r', (stdin) => begin(into.program, into.args, { stdin, env: into.env }))
  const stop = () => {
    writer.stop()
    reader.stop()
  }
  const over = new AbortController()
  const watch = watchBytes(writer.pid, watching, stop)
  signal.addEventListener('abort', stop, { signal: over.signal })
  if (signal.aborted) stop()
  try {
    const first = await Promise.race([
      writer.ended.then(({ code }) => (code === 0 ? undefined : ('from' as const))),
      reader.ended.then(() => 'into' as const),
    ])
    if (first) stop()
    else closeSync(held)
    const [wrote, read] = await Promise.all([writer.ended, reader.ended])
    if (first) closeSync(held)
    signal.throwIfAborted()
    if (watch.stalled()) throw new Failure('tool_timeout', `${from.program} did not end within ${stalled(watching)}`)
    return { from: wrote, into: read, broke: first ?? (read.code === 0 ? undefined : 'into') }
  } finally {
    over.abort()
    watch.end()
    rmSync(path, { force: true })
  }
}

const stalled = ({ stallSeconds }: Watching) => `${stallSeconds} s, in which nothing was written`

function startWith<T>(path: string, flags: 'r' | 'w', start: (file: number) => T): T {
  const file = openSync(path, flags)
  try {
    return start(file)
  } finally {
    closeSync(file)
  }
}

function watchBytes(pid: number, { stallSeconds, onBytes }: Watching, stop: () => void) {
  let [bytes, since, isStalled] = [-1, performance.now(), false]
  const timer = setInterval(() => {
    const now = bytesWritten(pid)
    if (now !== undefined && now !== bytes) {
      ;[bytes, since] = [now, performance.now()]
      onBytes(now)
    } else if (performance.now() - since > stallSeconds * 1000) {
      isStalled = true
      stop()
    }
  }, LOOK_MS)
  return { end: () => clearInterval(timer), stalled: () => isStalled }
}

/** Undefined when it has ended. */
function bytesWritten(pid: number): number | undefined {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
