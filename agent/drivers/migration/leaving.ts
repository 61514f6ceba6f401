// The source of live migrations. virsh of this node speaks with the libvirt of the target through three sockets here,
// each of whose connections is a stream to the target.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import { copyProgress, say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import { type Begun, begin, lines, run } from '../../host/exec.ts'
import { log } from '../../log.ts'
import { type Presence, presenceOf, recoveryOf } from '../../protocol/values/move-recovery.ts'
import type { Copied } from '../../protocol/wire.ts'
import { sleep } from '../../sleep.ts'
import { uuidOf } from '../hypervisor/domain-xml.ts'
import { type Gate, heldAt, listenAt as takeAt } from '../transfer/ssh/sockets.ts'
import { Arrived, askOn, Looked, Prepared, type Question } from './control.ts'
import { type MigrationProgress, progressIn, sourceEventIn } from './job-info.ts'
import { disksToCopy, placed } from './placement.ts'
import { isAlive, processOf, type VmProcess } from './process.ts'
import { join, listenAt } from './relay.ts'
import { AnswerFilter } from './rpc-filter.ts'
import { giveToQemu, type MigrationSockets, makeSocketDirs, removeSockets, socketPath, type Word } from './sockets.ts'
import { type Element, parseStrictXml, strictXml } from './strict-xml.ts'

const URI = ['-c', 'qemu:///system']
/** A migration that does not begin to copy, or of which libvirt tells nothing, is given up after this long. */
const SILENCE_MS = 180_000
const READY_POLL_MS = 20

/**
 * The connection of a migration to its target. `openStream`: a stream, which ends with the session. `join`: joins an
 * open connection with the socket of the word there, and answers what ends that; its bytes pass through no process of
 * the agent. `limit`: of all of them together, from now on.
 */
export type Reach = {
  openStream(word: Word): Promise<Duplex>
  join(word: Word, file: number, maxMbps: number | null): Promise<() => void>
  limit(maxMbps: number | null): Promise<void>
  sentBytes(): Promise<number>
}
/** `disks`: the paths of the disks that are copied. */
export type Leaving = MigrationSockets & Reach & { disks: readonly string[]; maxMbps: number | null }
/**
 * `convergeMs`: so long no new least of what is left was seen, then the migration is given up. `abortMs`: so long
 * libvirt has to end a job. `settleMs`: so long the vm has to run again here after a failure, over a restart of
 * libvirt. `holdMs`: so long the memory waits at most. `stopsEmulated`: a guest whose processor is emulated stands
 * still while its memory is sent: before 9.0, QEMU loses what an emulated processor writes meanwhile.
 */
export type LeavingLimits = {
  pollMs: number
  convergeMs: number
  abortMs: number
  settleMs: number
  holdMs: number
  stopsEmulated: boolean
}
export const usualLimits: LeavingLimits = {
  ...{ pollMs: 1000, convergeMs: 180_000, abortMs: 20_000, settleMs: 120_000, holdMs: 600_000, stopsEmulated: true },
}

/** `stoppedAt`: by the target's clock. */
export type Left = Copied & { stoppedAt: number }

/** Migrations from this node that are under way. */
export class Departures {
  private departures = new Map<string, Departure>()

  constructor(private limits = usualLimits) {}

  /**
   * Copies the disks of the running vm to the target, and holds its memory back until `migrate`. Throws `not_running`,
   * `transfer_cut`, `transfer_ended`, `pool_full`, `disk_differs`, `does_not_converge` and `migration_failed`.
   */
  async begin(leaving: Leaving): Promise<Copied> {
    return await this.departureOf(leaving).ready
  }

  /**
   * Moves the vm to the target, where it is paused then. A failure leaves it running here, and so does an agent that
   * has started since `begin`. Throws what `begin` throws.
   */
  async migrate(leaving: Leaving): Promise<Left> {
    const departure = this.departureOf(leaving, true)
    departure.go()
    try {
      return await departure.left
    } finally {
      this.departures.delete(leaving.transfer)
    }
  }

  /** The one that is under way, or whose end nobody has heard yet; else a new one. */
  private departureOf(leaving: Leaving, isBegun = false): Departure {
    const known = this.departures.get(leaving.transfer)
    if (known) return known
    const departure = new Departure(leaving, this.limits, isBegun)
    this.departures.set(leaving.transfer, departure)
    departure.ready.catch(() => this.departures.delete(leaving.transfer))
    return departure
  }

  /** Limits a migration that is under way; null: no limit. */
  limit(transfer: string, maxMbps: number | null) {
    const departure = this.departures.get(transfer)
    departure?.limit(maxMbps)
  }

  /** Cancels a migration; the vm runs on here, unless its memory is there already. Resolves when it has ended. */
  async end(transfer: string) {
    const departure = this.departures.get(transfer)
    this.departures.delete(transfer)
    try {
      await departure?.cancel()
    } catch (error) {
      log('warning', 'a migration could not be cancelled', { transfer, error: wordsOf(error) })
    }
  }
}

type Taken = { path: string; on(file: number): Promise<void> }

class Departure {
  private uuid: string
  private stop = new AbortController()
  /** Why the migration was cancelled from here. */
  private reason: Failure | undefined
  private servers: Server[] = []
  private stops: (() => void)[] = []
  private streams = new Set<Duplex>()
  private refusal: string | undefined
  private ended: Promise<unknown> = Promise.resolve()
  private tidied: Promise<unknown> = Promise.resolve()
  private sentBytes = 0
  private maxMbps: number | null
  /** The guest stands still while its memory is sent. */
  private stopsFirst = false
  private control: Promise<Duplex> | undefined
  private finished = Promise.withResolvers<void>()
  private targets: string[] = []
  private most = { copiedBytes: 0, totalBytes: 0 }
  /** Resolves when only the memory is left. */
  private waiting = Promise.withResolvers<void>()
  private going = Promise.withResolvers<void>()
  private isHeld = true
  private inCommand = AsyncLocalStorage.snapshot()
  readonly left: Promise<Left>
  /** The copied bytes, once only the memory is left. */
  readonly ready: Promise<Copied>

  constructor(
    private leaving: Leaving,
    private limits: LeavingLimits,
    /** An earlier start of the agent has begun it, so it only looks what has become of that. */
    private isBegun: boolean,
  ) {
    this.uuid = uuidOf(leaving.workload)
    this.maxMbps = leaving.maxMbps
    this.left = this.work()
    this.ended = this.left.catch(() => {}).then(() => this.tidied)
    this.ready = Promise.race([this.waiting.promise, this.left]).then(() => this.copied())
  }

  /** Lets the memory follow. What is said from now on belongs to the command that called this. */
  go() {
    this.isHeld = false
    this.inCommand = AsyncLocalStorage.snapshot()
    this.going.resolve()
  }

  limit(maxMbps: number | null) {
    this.maxMbps = maxMbps
    void this.leaving.limit(maxMbps).catch(() => {})
  }

  private async copied(): Promise<Copied> {
    this.sentBytes = Math.max(this.sentBytes, await this.leaving.sentBytes())
    return { copiedBytes: this.sentBytes, totalBytes: Math.max(this.sentBytes, this.most.totalBytes) }
  }

  async cancel() {
    await this.give(new Failure('transfer_ended', `the transfer ${this.leaving.transfer} was ended`))
    await this.ended
  }

  private async give(reason: Failure) {
    if (this.reason) return
    this.reason = reason
    await virsh(['domjobabort', this.uuid], true)
    await Promise.race([this.ended, Bun.sleep(this.limits.abortMs)])
    this.stop.abort()
  }

  private async work(): Promise<Left> {
    const { leaving } = this
    if (await this.hasLeft()) return this.arrived()
    if (this.isBegun) return this.lookWhatBecame()
    makeSocketDirs(leaving)
    let virshEnded: Promise<unknown> = Promise.resolve()
    try {
      const live = parseStrictXml((await virsh(['dumpxml', '--migratable', this.uuid])).out)
      this.targets = disksToCopy(live, leaving.disks)
      this.stopsFirst = this.limits.stopsEmulated && live.attributes.get('type') === 'qemu'
      if (this.targets.length !== leaving.disks.length)
        throw new Failure('migration_failed', `the vm has ${this.targets.length} of ${leaving.disks.length} disks`)
      const there = await this.ask({ ask: 'prepare', copies: this.targets.length ? 'all' : 'none' }, Prepared)
      const definitions = await this.definitions(live, parseStrictXml(there.definition))
      if (this.reason) throw this.reason
      await this.listen()
      const child = this.begin(definitions)
      virshEnded = child.ended
      await this.leave(child)
      return await this.arrived()
    } finally {
      // virsh removes the definition here after the vm has left.
      this.tidied = Promise.race([virshEnded, Bun.sleep(this.limits.abortMs)]).then(() => this.close())
    }
  }

  private close() {
    this.stop.abort()
    for (const server of this.servers) server.close()
    for (const stop of this.stops.splice(0)) stop()
    for (const stream of this.streams) stream.destroy()
    removeSockets(this.leaving)
  }

  /** An earlier call has moved it, also one that a crash of this agent has ended. */
  private async hasLeft(): Promise<boolean> {
    return (await this.presence()).presence !== 'running' && (await this.settle())
  }

  /** Its disks would be copied once more, and nothing could cancel that behind the point of no return. */
  private async lookWhatBecame(): Promise<Left> {
    await virsh(['domjobabort', this.uuid], true)
    const hasJob = async () => !/^Job type:\s+None/m.test((await virsh(['domjobinfo', this.uuid], true)).out)
    for (const until = performance.now() + this.limits.abortMs; performance.now() < until; ) {
      if (!(await hasJob())) break
      await Bun.sleep(this.limits.pollMs / 4)
    }
    if (await this.settle()) return this.arrived()
    throw new Failure('transfer_cut', 'the agent of this node has started again meanwhile; the vm runs on here')
  }

  private async arrived(): Promise<Left> {
    const { stoppedAt } = await this.ask({ ask: 'arrived' }, Arrived)
    if (stoppedAt === null)
      throw new Failure('not_running', `${this.leaving.workload} is neither here nor at the target`)
    return { ...(await this.copied()), stoppedAt }
  }

  private async ask<S extends TSchema>(question: Question, schema: S): Promise<Static<S>> {
    const early = await this.control?.catch(() => undefined)
    this.control = undefined
    const stream = early && !early.destroyed ? early : await this.leaving.openStream('control')
    return askOn(stream, question, schema)
  }

  /** The options that name definitions; none where the other node's are the same. */
  private async definitions(live: Element, there: Element): Promise<string[]> {
    const stored = parseStrictXml((await virsh(['dumpxml', '--inactive', this.uuid])).out)
    const options: string[] = []
    for (const [option, here] of [
      ['--xml', live],
      ['--persistent-xml', stored],
    ] as const) {
      let moved: string
      try {
        moved = strictXml(placed(here, there))
      } catch (error) {
        throw new Failure('migration_failed', wordsOf(error))
      }
      if (moved === strictXml(here)) continue
      const file = `${socketPath(this.leaving, 'libvirt')}${option}.xml`
      writeFileSync(file, moved, { mode: 0o600 })
      options.push(option, file)
    }
    return options
  }

  /** Each connection of virsh and of the hypervisor becomes a stream. */
  private async listen() {
    this.servers.push(await listenAt(socketPath(this.leaving, 'libvirt'), (near) => void this.connect(near)))
    const [nbd, mig] = (['nbd', 'mig'] as const).map((word) => ({
      path: socketPath(this.leaving, word),
      on: (file: number) => this.joinAs(word, file),
    })) as [Taken, Taken]
    this.stops.push(takeAt(nbd.path, 0, nbd.on))
    // libvirt sends the memory only when the disks are the same.
    const gate = heldAt(mig.path, 0, mig.on)
    this.stops.push(gate.stop)
    for (const { path } of [nbd, mig]) giveToQemu(path)
    void this.hold(gate)
  }

  private async connect(near: Duplex) {
    this.streams.add(near)
    near.once('close', () => this.streams.delete(near))
    try {
      const far = await this.leaving.openStream('libvirt')
      this.streams.add(far)
      far.once('close', () => this.streams.delete(far))
      this.refusal ??= await join(near, far, {
        toNear: new AnswerFilter({ onFinished: () => this.finished.resolve() }),
      })
    } catch (error) {
      this.notOpened('libvirt', error)
      near.destroy()
    }
  }

  private async joinAs(word: Word, file: number) {
    try {
      const stop = await this.leaving.join(word, file, this.maxMbps)
      if (this.stop.signal.aborted) stop()
      else this.stops.push(stop)
    } catch (error) {
      this.notOpened(word, error)
    }
  }

  private notOpened(word: Word, error: unknown) {
    say('warning', `The stream ${word} to the other node cannot be opened: ${wordsOf(error)}`)
  }

  /** Lets the memory through when only it is left, and it may follow. */
  private async hold(gate: Gate) {
    const { signal } = this.stop
    while (!gate.isAsked() && !signal.aborted) await sleep(READY_POLL_MS, signal)
    if (signal.aborted) return
    this.waiting.resolve()
    const timer = setTimeout(() => {
      const words = `nobody has let its memory follow for ${Math.round(this.limits.holdMs / 60_000)} minutes`
      void this.give(new Failure('transfer_cut', words))
    }, this.limits.holdMs)
    await Promise.race([this.going.promise, this.ended])
    clearTimeout(timer)
    if (signal.aborted) return
    // Opened now, so that the question at the end does not wait for it.
    this.control = this.leaving.openStream('control')
    this.control.catch(() => {})
    // Of its memory no more has been read than a socket holds. So QEMU is in its first pass, and what the guest has
    // written since that began is known: only later passes lose some of it.
    if (this.stopsFirst) {
      const { code, err } = await virsh(['suspend', this.uuid], true)
      if (code !== 0) return this.give(new Failure('migration_failed', `the guest cannot be stopped: ${err.trim()}`))
    }
    gate.open()
  }

  private begin(definitions: string[]): Begun {
    const { leaving } = this
    const disks = this.targets.length ? ['--copy-storage-all', '--migrate-disks', this.targets.join(',')] : []
    const child = begin('virsh', [
      ...[...URI, 'migrate', '--live', '--persistent', '--undefinesource', '--suspend', ...disks],
      ...[
        '--migrateuri',
        `unix://${socketPath(leaving, 'mig')}`,
        '--disks-uri',
        `unix://${socketPath(leaving, 'nbd')}`,
      ],
      ...[...definitions, this.uuid, `qemu+unix:///system?socket=${socketPath(leaving, 'libvirt')}`],
    ])
    this.stop.signal.addEventListener('abort', () => child.stop(), { once: true })
    void this.hear()
    void this.watch(this.stop.signal)
    return child
  }

  /** Resolves when the vm runs here no more and the target has it. */
  private async leave(child: Begun) {
    const ended = await Promise.race([child.ended, this.gone(processOf(this.leaving.workload))])
    if (!ended || ended.code === 0) return
    if (await this.settle()) return
    throw this.reason ?? failureIn(this.refusal ? `the other node sent ${this.refusal}` : ended.err)
  }

  /**
   * The target has the memory, and the process of the vm has ended here. libvirt tells it 0.2 s later, and removes what
   * belonged to the vm first, while the guest stands still.
   */
  private async gone(vm: VmProcess | undefined): Promise<undefined> {
    await this.finished.promise
    while (!vm || isAlive(vm)) await Bun.sleep(vm ? 5 : 1000)
  }

  private async hear() {
    const command = [...URI, 'event', '--domain', this.uuid, '--all', '--loop', '--timestamp']
    for await (const line of lines('virsh', command, this.stop.signal)) {
      const event = sourceEventIn(line)
      if (event?.kind === 'suspended')
        this.inCommand(() => say('info', 'The guest has stopped; the rest of its memory follows'))
      if (event?.kind === 'disk ready') say('info', `The disk ${event.disk} is the same on both nodes`)
    }
  }

  /** Tells how far it is, and gives up where what is left does not become less. */
  private async watch(signal: AbortSignal) {
    let least = { bytes: Number.POSITIVE_INFINITY, phase: '', at: performance.now() }
    let heardAt = performance.now()
    while (!signal.aborted) {
      await sleep(this.limits.pollMs, signal)
      if (signal.aborted) return
      const progress = await this.progress()
      if (!progress || progress.phase === 'starting') {
        if (performance.now() - heardAt < SILENCE_MS) continue
        const seconds = Math.round(SILENCE_MS / 1000)
        return this.give(new Failure('transfer_cut', `nothing was copied for ${seconds} s: the nodes do not get on`))
      }
      heardAt = performance.now()
      this.tell(progress)
      const { phase, remainingBytes } = progress
      if (phase === 'memory' && this.isHeld) {
        least = { bytes: Number.POSITIVE_INFINITY, phase: '', at: performance.now() }
        continue
      }
      // A thousandth of the whole, so that a guest that writes as fast as the link does not count as converging.
      if (phase !== least.phase || remainingBytes < least.bytes - progress.totalBytes / 1000)
        least = { bytes: remainingBytes, phase, at: performance.now() }
      if (performance.now() - least.at < this.limits.convergeMs) continue
      const left = `${Math.ceil(remainingBytes / 2 ** 20)} MiB of its ${phase} are left`
      const since = Math.round(this.limits.convergeMs / 1000)
      const words = `the guest writes faster than it is copied: ${left}, and for ${since} s it has not become less`
      return this.give(new Failure('does_not_converge', words))
    }
  }

  private async progress(): Promise<MigrationProgress | undefined> {
    const { code, out } = await virsh(['domjobinfo', this.uuid], true)
    return code === 0 ? progressIn(out) : undefined
  }

  private tell({ copiedBytes, totalBytes }: MigrationProgress) {
    this.most = {
      copiedBytes: Math.max(this.most.copiedBytes, copiedBytes),
      totalBytes: Math.max(this.most.totalBytes, totalBytes),
    }
    this.inCommand(() => copyProgress(this.most))
  }

  private async presence() {
    const { code, out, err } = await virsh(['domstate', '--reason', this.uuid], true)
    if (code === 0) return { ...presenceOf(out), words: out.trim() }
    if (/failed to get domain|Domain not found/.test(err))
      return { presence: 'absent' as const, migrated: false, words: 'absent' }
    throw new Failure('hypervisor_silent', `libvirt does not answer: ${err.trim()}`)
  }

  /**
   * After a failure, also one by a crash: waits until it is known which node has the vm, over a restart of libvirt, and
   * until it runs where that is here. True: it has left all the same.
   */
  private async settle(): Promise<boolean> {
    let pausedSince: number | undefined
    const until = performance.now() + this.limits.settleMs
    for (; performance.now() < until; await Bun.sleep(this.limits.pollMs / 4)) {
      const source = await this.presence().catch(() => undefined)
      if (!source) continue
      const target = source.presence === 'running' ? 'unreachable' : await this.presenceThere()
      // The controller has given the target nothing while it waits for this node's answer.
      const { presence, migrated, words } = source
      const action = recoveryOf({ source: presence, target, migrated, ownedByTarget: false })
      if (action === 'keep_source' && presence === 'running') return false
      if (action === 'keep_source') throw new Failure('not_running', `${this.leaving.workload} is ${words} here`)
      if (action === 'resume_target' || action === 'finish') {
        say('info', 'The guest has left: its memory is on the other node')
        return true
      }
      if (action === 'lost')
        throw new Failure('migration_failed', `${this.leaving.workload} was lost with its memory on the other node`)
      if (action !== 'resume_source') continue
      pausedSince ??= performance.now()
      if (performance.now() - pausedSince < this.limits.abortMs / 2) continue
      say('warning', `The vm is ${words} after the migration failed; it runs on here`)
      await virsh(['domjobabort', this.uuid], true)
      await virsh(['resume', this.uuid], true)
    }
    throw new Failure('hypervisor_silent', `${this.leaving.workload} does not run again after its migration failed`)
  }

  private async presenceThere(): Promise<Presence> {
    try {
      return (await this.ask({ ask: 'look' }, Looked)).presence
    } catch {
      return 'unreachable'
    }
  }
}

type MigrationFailure = 'pool_full' | 'disk_differs' | 'transfer_cut' | 'migration_failed'
const words: readonly (readonly [RegExp, MigrationFailure])[] = [
  [/No space left on device/, 'pool_full'],
  [/different sizes/, 'disk_differs'],
  [/unexpectedly failed|Input\/output error|Cannot recv data|End of file|Unable to write to socket/, 'transfer_cut'],
  [/Broken pipe|Connection reset|unable to connect|keepalive/i, 'transfer_cut'],
]

/** From the words of virsh at its end. */
export function failureIn(said: string): Failure {
  const text = said.trim().replace(/^error: /gm, '') || 'virsh ended without a word'
  const code: MigrationFailure = words.find(([pattern]) => pattern.test(text))?.[1] ?? 'migration_failed'
  return new Failure(code, text.slice(0, 1500))
}

const virsh = (args: string[], mayFail = false) =>
  run('virsh', [...URI, ...args], { mayFail, quietly: true, limitSeconds: 60 })
