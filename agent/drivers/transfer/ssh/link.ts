// The connection of a source to its target: one SSH connection, and a session in it for each stream.
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { say } from '../../../controller-link/job-log.ts'
import { Failure } from '../../../failure.ts'
import { type Begun, begin } from '../../../host/exec.ts'
import type { SshTarget } from '../../../protocol/wire.ts'
import { sleep } from '../../../sleep.ts'
import { socketOf } from './run-directory.ts'
import { listenAt } from './sockets.ts'
import { paceProcess } from './tcp-pace.ts'

const CONNECT_SECONDS = 15
const POLL_MS = 20
const WATCH_MS = 100
const CLOSE_MS = 1000
/** The name under which the host keys of the target stand in the file that ssh is given. */
const HOST = 'berth-target'
/** AES-GCM takes two thirds of the processor time of what OpenSSH chooses by itself (375 against 260 MiB/s a core). */
const CIPHERS = 'aes128-gcm@openssh.com,aes256-gcm@openssh.com'

/** The files of a source: its key, and all that belongs to the connection. */
export const keyFile = (secret: string) => join(secret, 'key')

function optionsOf(secret: string, control: string, { port, user }: SshTarget): string[] {
  const settings: Record<string, string | number> = {
    BatchMode: 'yes',
    Ciphers: CIPHERS,
    CheckHostIP: 'no',
    ClearAllForwardings: 'yes',
    Compression: 'no',
    ConnectTimeout: CONNECT_SECONDS,
    ControlPath: control,
    GlobalKnownHostsFile: '/dev/null',
    HostKeyAlias: HOST,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: keyFile(secret),
    LogLevel: 'ERROR',
    PreferredAuthentications: 'publickey',
    // A link that is dead is an error after 15 s: without this a copy stands still for as long as it is dead.
    ServerAliveInterval: 5,
    ServerAliveCountMax: 3,
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    UserKnownHostsFile: join(secret, 'known_hosts'),
  }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return ['-F', 'none', '-T', ...words, '-p', String(port), '-l', user]
}

/** Of this process: each has a control socket of its own. */
let links = 0

/** A session that ended, with its exit code and last words. */
export type Ended = { word: string; code: number; err: string }

export class SshLink {
  #stops: (() => void)[] = []
  #sessions = new Set<Begun>()
  #streams = 0
  #limit: number | null = null
  #broken = new AbortController()
  /** Sessions that ended with an error, the newest last. */
  readonly failures: Ended[] = []

  private constructor(
    private directory: string,
    private secret: string,
    private control: string,
    private to: SshTarget,
    private master: Begun,
  ) {
    void master.ended.then(() => this.#broken.abort())
  }

  /** Aborts when the connection is gone. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  /** Throws `transfer_refused` and `transfer_unreachable`. `signal` ends the attempt. */
  static async open(directory: string, secret: string, to: SshTarget, signal: AbortSignal): Promise<SshLink> {
    const control = join(secret, `control-${++links}`)
    rmSync(control, { force: true })
    const known = to.hostKeys.map((key) => `${HOST} ${key}\n`).join('')
    writeFileSync(join(secret, 'known_hosts'), known, { mode: 0o600 })
    const master = begin('ssh', ['-M', '-N', ...optionsOf(secret, control, to), '--', to.address])
    let ended = false
    void master.ended.then(() => {
      ended = true
    })
    // `ssh` gives up by itself.
    while (!existsSync(control) && !ended && !signal.aborted) await sleep(POLL_MS, signal)
    if (existsSync(control) && !ended) return new SshLink(directory, secret, control, to, master)
    master.stop()
    throw refusalOf((await master.ended).err)
  }

  /**
   * Makes the socket of this name, whose every connection is a stream to the socket of the same name at the target. The
   * user `uid` and root can connect.
   */
  forward(word: string, uid = 0) {
    this.#stops.push(
      listenAt(socketOf(this.directory, word), uid, (file) => {
        if (!this.broken.aborted) this.join(word, file)
      }),
    )
  }

  /** Joins an open connection with a session of this word, which takes it over. Answers what ends it. */
  join(word: string, file: number): () => void {
    if (this.broken.aborted) throw new Failure('transfer_cut', 'the connection to the target broke')
    const session = this.#session(word, { stdin: file, stdout: file })
    return () => {
      if (this.#sessions.has(session)) session.stop()
    }
  }

  /** Limits what all its sessions send together, from now on; null: no limit. */
  limit(maxMbps: number | null) {
    if (this.#limit === maxMbps || this.broken.aborted) return
    this.#limit = maxMbps
    if (!paceProcess(this.master.pid, maxMbps)) say('warning', 'The kernel of this node cannot limit the connection.')
  }

  /** The bytes that it has sent so far. */
  get sentBytes(): number {
    try {
      return Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${this.master.pid}/io`, 'utf8'))?.[1] ?? 0)
    } catch {
      return 0
    }
  }

  #session(word: string, ends: { stdin?: number; stdout?: number }): Begun {
    const args = [
      '-o',
      'ControlMaster=no',
      ...optionsOf(this.secret, this.control, this.to),
      '--',
      this.to.address,
      word,
    ]
    const session = begin('ssh', args, ends)
    this.#sessions.add(session)
    void session.ended.then(({ code, err }) => {
      this.#sessions.delete(session)
      if (code !== 0) this.failures.push({ word, code, err: err.trim() })
    })
    return session
  }

  /** The bytes that the target answers to a word, and which are `mostBytes` at the most. `input` goes with it. */
  async fetch(word: string, mostBytes: number, input = new Uint8Array()): Promise<Buffer> {
    const [path, given] = [join(this.secret, word), join(this.secret, `${word}-given`)]
    writeFileSync(given, input, { mode: 0o600 })
    const files = [openSync(given, 'r'), openSync(path, 'w', 0o600)] as const
    try {
      const [stdin, stdout] = files
      const session = this.#session(word, { stdin, stdout })
      // The bytes come through the connection's own process, so that no limit of the session's holds for them.
      const timer = setInterval(() => statSync(path).size > mostBytes && session.stop(), WATCH_MS)
      const { code, err } = await session.ended.finally(() => clearInterval(timer))
      if (code !== 0) throw new Failure('transfer_cut', `the target does not answer ${word}: ${err.trim()}`)
      return readFileSync(path)
    } finally {
      for (const file of files) closeSync(file)
      for (const one of [path, given]) rmSync(one, { force: true })
    }
  }

  /** One session as a stream, which keeps an end of either direction apart from the other. */
  async stream(word: string): Promise<Duplex> {
    const path = join(this.secret, `stream-${this.#streams++}`)
    let isTaken = false
    const stop = listenAt(path, 0, (file) => {
      this.#session(word, { stdin: file, stdout: file })
      isTaken = true
    })
    try {
      const stream = connect({ path, allowHalfOpen: true })
      await once(stream, 'connect')
      // The listener looks for it every few milliseconds, and may have found it by now.
      for (; !isTaken; await Bun.sleep(POLL_MS)) {
        if (this.broken.aborted) throw new Failure('transfer_cut', 'the connection to the target broke')
      }
      this.broken.addEventListener('abort', () => stream.destroy())
      return stream
    } finally {
      stop()
    }
  }

  /** Ends the connection with all its sessions. */
  async close() {
    for (const stop of this.#stops.splice(0)) stop()
    for (const session of this.#sessions) session.stop()
    this.master.stop('SIGTERM')
    await Promise.race([this.master.ended, Bun.sleep(CLOSE_MS)])
    this.master.stop()
    await this.master.ended
    rmSync(this.control, { force: true })
  }
}

/** The words of OpenSSH's client where it did not get in. */
const REFUSALS =
  /Permission denied|Host key verification failed|host key is known|IDENTIFICATION HAS CHANGED|no matching/
function refusalOf(err: string): Failure {
  const words = err.trim().split('\n').slice(-3).join('; ').slice(0, 500) || 'it ended without a word'
  if (REFUSALS.test(err)) return new Failure('transfer_refused', `the SSH server of the target refuses: ${words}`)
  return new Failure('transfer_unreachable', `the SSH server of the target is not reached: ${words}`)
}
