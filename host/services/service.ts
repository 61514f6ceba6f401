// One service under the supervisor: started, started again with growing pauses, stopped. Its processes outlive the
// supervisor: one that is started anew finds them by number and start time, and watches them as its own.
import { appendFileSync, copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { startService } from '../machine/exec.ts'
import type { Launch } from './launch.ts'
import { closeSocket, listenAt } from './listening.ts'

/** Pauses before it is started again: the first, and the one that they do not exceed. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 32_000]
/** A process that ran for this long ends the growth. */
const STEADY_MS = 60_000
const STOP_MS = 30_000
/** The kernel may take a moment to end what was killed. */
const KILLED_MS = 5000
/** A process of an earlier supervisor is looked for this often. */
const LOOK_MS = 200

/** `final`: codes after which it is not started again. */
type Process = { pid: number; ended: Promise<number | undefined>; final: readonly number[] }
type Settings = { launch: () => Launch; dir: string; log: string; mostLogBytes: number; stopMs?: number }

export class Service {
  private process: Process | undefined
  private wanted = false
  private loop: Promise<void> | undefined
  private wake = () => {}
  private again = false
  private isLooping = false
  private socket: { fd: number; listen: string } | undefined

  /**
   * `dir`: where the numbers of processes are noted. `log`: its output, at most `mostLogBytes` and one older file.
   * `stopMs`: how long a stop may take.
   */
  constructor(
    readonly name: string,
    private settings: Settings,
  ) {}

  /** True also in a pause between two tries, and while a process that is to end has not ended yet. */
  get isBusy() {
    return this.wanted || this.isLooping
  }

  /** Resolves when nothing of it runs or is to be started. */
  async ended() {
    await this.loop?.catch(() => {})
  }

  /** Starts it, unless it runs. Returns at once. */
  start() {
    if (this.wanted) return
    this.wanted = true
    this.again = false
    // A loop that still waits for the end of the process before goes on by itself; one that failed hinders no other.
    this.loop = (this.loop ?? Promise.resolve())
      .catch(() => {})
      .then(async () => {
        this.isLooping = true
        await this.keep().finally(() => (this.isLooping = false))
      })
  }

  /** Goes on with the process of a supervisor that is gone, if it lives. */
  adopt() {
    const [pid = 0, startTime = ''] = (readOr(this.noted) ?? '').split(' ')
    if (!startTime || startTimeOf(Number(pid)) !== startTime) return
    this.process = { pid: Number(pid), ended: this.untilGone(Number(pid), startTime), final: [] }
    this.start()
  }

  /** Resolves to whether it stopped within 30 s, or was killed then. */
  async stop(): Promise<boolean> {
    this.wanted = false
    this.wake()
    const stopped = await this.endProcess(this.process, this.ended())
    if (stopped && !this.wanted) this.closeSocket()
    return stopped
  }

  /** With its socket kept, unless the address has changed. Resolves to whether the process before is gone. */
  async restart(): Promise<boolean> {
    const { socket, wanted } = this
    if (!wanted || !socket || socket.listen !== this.settings.launch().listen) {
      const stopped = await this.stop()
      if (stopped) this.start()
      return stopped
    }
    const before = this.process
    this.again = true
    this.wake()
    return this.endProcess(before, before?.ended)
  }

  /** The program appends, so its log can be emptied under it. */
  capLog() {
    const { log, mostLogBytes } = this.settings
    quietly(() => {
      if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < mostLogBytes) return
      copyFileSync(log, `${log}.1`)
      truncateSync(log)
    })
  }

  private get noted() {
    return `${this.settings.dir}/${this.name}.pid`
  }

  /** Asks a process to end, and kills it where that harms nothing. Resolves to whether `ended` came to be. */
  private async endProcess(asked: Process | undefined, ended: Promise<unknown> | undefined): Promise<boolean> {
    if (!ended) return true
    if (asked) signal(asked.pid, 'SIGTERM')
    if (await within(this.settings.stopMs ?? STOP_MS, ended)) return true
    // Settings that cannot be read say nothing about it.
    if (!asked || asked !== this.process || !quietly(() => this.settings.launch().isKilled)) return false
    this.say(`${this.name} does not stop and is killed`)
    signal(asked.pid, 'SIGKILL')
    return within(KILLED_MS, ended)
  }

  private async keep() {
    let pauseMs = FIRST_PAUSE_MS
    while (this.wanted) {
      const began = performance.now()
      this.process ??= await this.launch()
      // Stopped while it was prepared.
      if (!this.process) break
      const { ended, final } = this.process
      const code = await ended
      this.process = undefined
      quietly(() => rmSync(this.noted, { force: true }))
      if (!this.wanted) break
      if (this.again) {
        this.again = false
        pauseMs = FIRST_PAUSE_MS
        continue
      }
      if (code !== undefined && final.includes(code)) {
        this.say(`${this.name} cannot work as it is set up; put that right and start it`)
        this.wanted = false
        this.closeSocket()
        break
      }
      if (performance.now() - began >= STEADY_MS) pauseMs = FIRST_PAUSE_MS
      const status = code === undefined ? '' : ` with status ${code}`
      this.say(`${this.name} ended${status}; it is started again in ${pauseMs / 1000} s`)
      await this.pause(pauseMs)
      this.again = false
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  /** Undefined where it was stopped while it was prepared. */
  private async launch(): Promise<Process | undefined> {
    try {
      const { command, env, cwd, listen, final, prepare } = this.settings.launch()
      await prepare?.()
      if (!this.wanted) return undefined
      if (listen !== this.socket?.listen) this.closeSocket()
      if (listen !== undefined && !this.socket) {
        const fd = listenAt(listen)
        if (fd !== undefined) this.socket = { fd, listen }
      }
      const passed = this.socket && { LISTEN_FDS: '1', LISTEN_PPID: String(process.pid) }
      const { log } = this.settings
      const child = startService(command, { cwd, env: { ...env, ...passed }, log, socket: this.socket?.fd })
      // It runs all the same where this cannot be noted: only the next supervisor does not find it.
      quietly(() => writeFileSync(this.noted, `${child.pid} ${startTimeOf(child.pid) ?? ''}`))
      return { pid: child.pid, ended: child.exited, final }
    } catch (error) {
      this.say(`${this.name} cannot be started: ${(error as Error).message}`)
      return { pid: 0, ended: Promise.resolve(127), final: [] }
    }
  }

  private async untilGone(pid: number, startTime: string): Promise<undefined> {
    while (startTimeOf(pid) === startTime) await Bun.sleep(LOOK_MS)
  }

  private closeSocket() {
    if (this.socket) closeSocket(this.socket.fd)
    this.socket = undefined
  }

  /** Ends sooner when the service is stopped, or started anew. */
  private async pause(ms: number) {
    const woken = new Promise<void>((resolve) => (this.wake = resolve))
    await Promise.race([Bun.sleep(ms), woken])
    this.wake = () => {}
  }

  private say(words: string) {
    quietly(() => appendFileSync(this.settings.log, `${new Date().toISOString()} ${words}\n`))
  }
}

/** When a process was started, in ticks since the boot; undefined for one that is gone or only not collected yet. */
function startTimeOf(pid: number): string | undefined {
  const stat = readOr(`/proc/${pid}/stat`)
  // The name in the second field may hold anything; the third is the state.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields && fields[0] !== 'Z' ? fields[19] : undefined
}

/** Kills the process that a supervisor noted in this folder, if it lives. */
export function killNoted(dir: string, name: string) {
  const [pid = 0, startTime = ''] = (readOr(`${dir}/${name}.pid`) ?? '').split(' ')
  if (startTime && startTimeOf(Number(pid)) === startTime) signal(Number(pid), 'SIGKILL')
}

/** One that is gone needs none. */
const signal = (pid: number, name: 'SIGTERM' | 'SIGKILL') => void quietly(() => pid > 0 && process.kill(pid, name))

/** Resolves to whether `ended` is settled by then. */
const within = (ms: number, ended: Promise<unknown>) =>
  Promise.race([ended.then(() => true), Bun.sleep(ms).then(() => false)])

/** A disk that is full, or a file that cannot be read, must not end the care for a service. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const readOr = (path: string) => quietly(() => readFileSync(path, 'utf8'))
