// Transfers over OpenSSH and NBD. A source opens one SSH connection to its target. QEMU's tools connect to a unix
// socket here, and each connection is a session there: the forced command of the key connects it to the socket of the
// same name, behind which qemu-nbd serves a disk. Nothing but SSH is open between the nodes, and SSH forwards nothing.
import { closeSync, existsSync, renameSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { say } from '../../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../../failure.ts'
import { type Begun, begin, endAll, ownCommand, run } from '../../../host/exec.ts'
import { log } from '../../../log.ts'
import type { Copied, DiskChecksum, SshTarget } from '../../../protocol/wire.ts'
import { serialQueue } from '../../../serial-queue.ts'
import { sleep } from '../../../sleep.ts'
import { whileServed } from '../../backup/disk-server.ts'
import { type Disk, qemuPath } from '../../storage/storage.ts'
import { blocksOf, checksumOf, hashesOf } from '../nbd/blocks.ts'
import { NbdClient } from '../nbd/client.ts'
import { Pace } from '../pace.ts'
import type { Copying, DiskOfTransfer, Listening, Receiving, Transfers } from '../transfer.ts'
import { addKey, removeKey, sshServer } from './authorized-keys.ts'
import type { Compared } from './compared.ts'
import { CopyRun } from './copy-run.ts'
import { forgetHashes, keptHashes } from './kept-hashes.ts'
import { keyFile, SshLink } from './link.ts'
import { endMirror, limitMirror, mirrorDisks } from './mirror.ts'
import type { MirrorWatch } from './mirror-watch.ts'
import {
  EXPORT,
  letIn,
  letNobodyIn,
  makeRunDirectory,
  nbdWord,
  RUN_ROOT,
  runDirectory,
  socketOf,
  transfersIn,
} from './run-directory.ts'
import { connectTo } from './sockets.ts'
import { TRANSFER_STREAM } from './stream.ts'

const START_SECONDS = 30
const POLL_MS = 20
const SERVE_AGAIN_MS = 1000
const LONGEST_TIMER_MS = 2 ** 31 - 1
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** A cut is waited out for so long, from the last byte that went through. */
const GIVE_UP_MS = 300_000
/** The connections to one disk: those of a copy, and of the reader of its hashes. */
const CONNECTIONS = 16
/** Zeros that are written become holes; qemu-nbd takes the second option only after the first. */
const HOLES_STAY = ['--discard=unmap', '--detect-zeroes=unmap']

type Served = { servers: Begun[]; paths: string[]; timer: Timer; keysFile: string; letIn(until: number): Promise<void> }
type Mirror = { compared: Compared | undefined; watch: MirrorWatch }
type Check = { onPercent: (percent: number) => void; stop: AbortController; ended: Promise<DiskChecksum> }
type Sending = { stop: AbortController; ended: Promise<unknown> }

export class SshTransfers implements Transfers {
  #ready: Promise<void> | undefined
  #served = new Map<string, Served>()
  #sending = new Map<string, Sending>()
  #links = new Map<string, Promise<SshLink>>()
  #mirrors = new Map<string, Mirror>()
  #paces = new Map<string, Pace>()
  #inTurn = serialQueue()
  #checks = new Map<string, Check>()
  #folders = 0

  /** `known`: the transfers that have not ended. */
  constructor(
    private known: () => readonly string[],
    private options: { root?: string; giveUpMs?: number } = {},
  ) {}

  #root = () => this.options.root ?? RUN_ROOT
  #directory = (transfer: string) => runDirectory(transfer, this.#root())

  /** Once, before anything else: what a killed agent left. */
  sweep() {
    this.#ready ??= this.#sweep()
    return this.#ready
  }

  async #sweep() {
    const known = new Set(this.known())
    const left = new Set([...transfersIn(this.#root()), ...known])
    for (const transfer of left) {
      await this.#endProcesses(transfer)
      await endMirror(this.#directory(transfer))
    }
    for (const transfer of left) if (!known.has(transfer)) this.#removeFiles(transfer)
    // One that is known to be open comes back when it is opened again.
    if (left.size) await this.#withServer('127.0.0.1', ({ keysFile }) => removeKey(keysFile))
  }

  async #withServer(from: string, work: (server: { keysFile: string }) => Promise<void>) {
    try {
      await work(await sshServer(from))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      say('warning', wordsOf(error))
    }
  }

  async key(transfer: string) {
    await this.sweep()
    const path = keyFile(makeRunDirectory(this.#directory(transfer)))
    if (!existsSync(path)) {
      const part = `${path}.part`
      rmSync(part, { force: true })
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', part])
      renameSync(`${part}.pub`, `${path}.pub`)
      renameSync(part, path)
    }
    return (await readFile(`${path}.pub`, 'utf8')).trim().split(' ').slice(0, 2).join(' ')
  }

  /** One after another with `end`: a start of the agent opens transfers while commands come. */
  async receive(receiving: Receiving): Promise<Listening> {
    await this.sweep()
    return await this.#inTurn(() => this.#receive(receiving))
  }

  async #receive({ transfer, workload, publicKey, from, disks, by, until }: Receiving): Promise<Listening> {
    const { keysFile, ...listening } = await sshServer(from[0]!)
    await this.#stopServing(transfer)
    const directory = this.#directory(transfer)
    makeRunDirectory(directory)
    const servers: Begun[] = []
    const command = ownCommand('agent', TRANSFER_STREAM, transfer)
    const serves = by === 'copy' ? disks : []
    const served: Served = {
      ...{ servers, paths: serves.map(({ disk }) => disk.path), timer: this.#expiry(transfer, until), keysFile },
      letIn: async (until) => {
        letIn(directory, { workload, until })
        await addKey(keysFile, { transfer, publicKey, from, until, command })
      },
    }
    this.#served.set(transfer, served)
    try {
      for (const [i, { disk }] of serves.entries()) servers.push(await serve(socketOf(directory, nbdWord(i)), disk))
      for (const [i, { disk }] of serves.entries()) void this.#keepServing(transfer, served, i, disk)
      await served.letIn(until)
    } catch (error) {
      await this.#stopServing(transfer)
      throw error
    }
    return listening
  }

  /** Begins a server again that has ended by itself: its source tries for a while to go on. */
  async #keepServing(transfer: string, served: Served, i: number, disk: Disk) {
    for (;;) {
      const { code, err } = await served.servers[i]!.ended
      if (this.#served.get(transfer) !== served) return
      log('warning', 'the server of a disk that arrives has ended, and is begun again', { transfer, code, error: err })
      await Bun.sleep(SERVE_AGAIN_MS)
      await this.#inTurn(async () => {
        if (this.#served.get(transfer) === served)
          served.servers[i] = await serve(socketOf(this.#directory(transfer), nbdWord(i)), disk)
      }).catch((error) => log('error', 'the disk of a transfer is not served', { transfer, error: wordsOf(error) }))
    }
  }

  /** In turn, because every key stands in the same file. */
  #expiry(transfer: string, until: number): Timer {
    const expire = () =>
      void this.#inTurn(() => this.#stopServing(transfer)).catch((error) =>
        log('error', 'The key of an expired transfer was not removed', { transfer, error }),
      )
    return setTimeout(expire, Math.min(LONGEST_TIMER_MS, Math.max(0, until - Date.now())))
  }

  async renew(transfer: string, until: number) {
    await this.sweep()
    return await this.#inTurn(async () => {
      const served = this.#served.get(transfer)
      if (!served) return false
      clearTimeout(served.timer)
      served.timer = this.#expiry(transfer, until)
      await served.letIn(until)
      return true
    })
  }

  async #stopServing(transfer: string) {
    const served = this.#served.get(transfer)
    this.#served.delete(transfer)
    letNobodyIn(this.#directory(transfer))
    if (!served) return
    clearTimeout(served.timer)
    await removeKey(served.keysFile, transfer)
    endAll(streamOf(transfer))
    for (const server of served.servers) server.stop('SIGTERM')
    await Promise.all(served.servers.map(({ ended }) => ended))
  }

  async copy(copying: Copying): Promise<Copied> {
    await this.sweep()
    const { transfer } = copying
    const secret = this.#mustHaveKey(transfer)
    forgetHashes(this.#directory(transfer))
    const compared = await this.#comparedBefore(transfer)
    await this.#endLink(transfer)
    const stop = new AbortController()
    const sent = this.#persist(copying, secret, compared, stop.signal)
    this.#sending.set(transfer, { stop, ended: sent.catch(() => {}) })
    return await sent.finally(() => this.#sending.delete(transfer))
  }

  /** The comparison of a mirror while its vm ran; undefined where the mirror may not have all that the vm wrote. */
  async #comparedBefore(transfer: string): Promise<Compared | undefined> {
    const mirror = this.#mirrors.get(transfer)
    const link = await this.#links.get(transfer)?.catch(() => undefined)
    if (!mirror?.compared || !link || link.broken.aborted) return undefined
    return (await mirror.watch.whole()) ? mirror.compared : undefined
  }

  /** Tries again after each cut, until nothing has gone through for too long. */
  async #persist(
    copying: Copying,
    secret: string,
    compared: Compared | undefined,
    signal: AbortSignal,
  ): Promise<Copied> {
    const { transfer, to } = copying
    const directory = this.#directory(transfer)
    const copyRun = new CopyRun(copying, directory, secret, compared, this.#paceOf(copying), signal)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      let link: SshLink | undefined
      const { movedAt } = copyRun
      try {
        link = await SshLink.open(directory, secret, to, signal)
        return await copyRun.over(link)
      } catch (error) {
        if (signal.aborted) throw new Failure('transfer_ended', `the transfer ${transfer} was ended`)
        if (!copyRun.isWorthAnother(error)) throw error
        if (performance.now() - copyRun.movedAt > (this.options.giveUpMs ?? GIVE_UP_MS))
          throw new Failure('transfer_cut', `nothing goes through to the target any more: ${wordsOf(error)}`)
        say('warning', `The copy was cut, and goes on where it was: ${wordsOf(error)}`)
        if (copyRun.movedAt > movedAt) pauseMs = FIRST_PAUSE_MS
      } finally {
        await link?.close()
      }
      await sleep(pauseMs, signal)
    }
  }

  /**
   * A stream to the target, joined there with the socket of this word. All of a transfer go over one connection, which
   * ends with it. Throws `no_transfer`, `transfer_refused`, `transfer_unreachable` and `transfer_cut`.
   */
  async openStream(transfer: string, to: SshTarget, word: string): Promise<Duplex> {
    return (await this.#linkFor(transfer, to)).stream(word)
  }

  /**
   * Joins an open connection, which passes through no process of the agent, with the socket of this word at the target.
   * `maxMbps`: of the connection of the transfer. Answers what ends the stream. Throws what `openStream` throws.
   */
  async joinStream(transfer: string, to: SshTarget, word: string, file: number, maxMbps: number | null) {
    const link = await this.#linkFor(transfer, to)
    link.limit(maxMbps)
    return link.join(word, file)
  }

  /** Limits the connection of streams that is open; null: no limit. */
  async limitStreams(transfer: string, maxMbps: number | null) {
    const link = await this.#links.get(transfer)?.catch(() => undefined)
    link?.limit(maxMbps)
  }

  /** The bytes that the connection of streams has sent so far; 0 without one. */
  async sentBytes(transfer: string): Promise<number> {
    return (await this.#links.get(transfer)?.catch(() => undefined))?.sentBytes ?? 0
  }

  async #linkFor(transfer: string, to: SshTarget): Promise<SshLink> {
    await this.sweep()
    const secret = this.#mustHaveKey(transfer)
    const before = await this.#links.get(transfer)?.catch(() => undefined)
    if (!before || before.broken.aborted) {
      await before?.close()
      this.#links.set(transfer, SshLink.open(this.#directory(transfer), secret, to, new AbortController().signal))
    }
    return await this.#links.get(transfer)!
  }

  #paceOf({ transfer, maxMbps }: Copying): Pace {
    const pace = new Pace(maxMbps)
    this.#paces.set(transfer, pace)
    return pace
  }

  async limit(transfer: string, maxMbps: number | null) {
    const pace = this.#paces.get(transfer)
    if (pace) pace.maxMbps = maxMbps
    await limitMirror(this.#directory(transfer), maxMbps)
  }

  #mustHaveKey(transfer: string): string {
    const secret = makeRunDirectory(this.#directory(transfer))
    if (!existsSync(keyFile(secret)))
      throw new Failure('no_transfer', `the key of the transfer ${transfer} is not on this node`)
    return secret
  }

  async mirror(copying: Copying): Promise<Copied> {
    await this.sweep()
    const { transfer, to } = copying
    const secret = this.#mustHaveKey(transfer)
    await this.#endLink(transfer)
    const stop = new AbortController()
    const mirrored = (async () => {
      const opening = SshLink.open(this.#directory(transfer), secret, to, stop.signal)
      this.#links.set(transfer, opening)
      const pace = this.#paceOf(copying)
      return await mirrorDisks(await opening, copying, this.#directory(transfer), pace, stop.signal)
    })()
    this.#sending.set(transfer, { stop, ended: mirrored.catch(() => {}) })
    try {
      const { copied, ...mirror } = await mirrored
      this.#mirrors.set(transfer, mirror)
      return copied
    } catch (error) {
      await this.#endLink(transfer)
      throw error
    } finally {
      this.#sending.delete(transfer)
    }
  }

  /** Ends the connection of streams and mirrors, and the mirrors with it. */
  async #endLink(transfer: string) {
    const mirror = this.#mirrors.get(transfer)
    this.#mirrors.delete(transfer)
    mirror?.watch.end()
    await endMirror(this.#directory(transfer))
    const link = await this.#links.get(transfer)?.catch(() => undefined)
    this.#links.delete(transfer)
    await link?.close()
  }

  async checksum(of: DiskOfTransfer, onPercent: Check['onPercent'] = () => {}): Promise<DiskChecksum> {
    await this.sweep()
    const name = `${of.transfer} ${of.number}`
    const begun = this.#checks.get(name)
    if (begun) {
      begun.onPercent = onPercent
      return begun.ended
    }
    const check: Check = { onPercent, stop: new AbortController(), ended: undefined! }
    check.ended = this.#read(of, check).finally(() => this.#checks.delete(name))
    this.#checks.set(name, check)
    return check.ended
  }

  async #read({ transfer, number, disk, sizeBytes }: DiskOfTransfer, check: Check): Promise<DiskChecksum> {
    const directory = this.#directory(transfer)
    const kept = keptHashes(directory, String(number))
    const onBlocks = (done: number) => {
      if (check.stop.signal.aborted) throw new Failure('transfer_ended', `the transfer ${transfer} was ended`)
      check.onPercent((100 * done) / Math.max(1, blocksOf(sizeBytes)))
    }
    const read = async (path: string, exportName: string) => {
      const client = await NbdClient.connect(path, exportName)
      try {
        const hashes = await hashesOf(client, onBlocks, kept)
        return { sizeBytes: client.sizeBytes, checksum: checksumOf(hashes) }
      } finally {
        client.close()
      }
    }
    const served = this.#served.get(transfer)?.paths.indexOf(disk.path) ?? -1
    if (served !== -1) return read(socketOf(directory, nbdWord(served)), EXPORT)
    const folder = makeRunDirectory(join(this.#root(), `checksum-${process.pid}-${this.#folders++}`))
    try {
      return await whileServed(folder, disk, 'read', ({ socket, exportName }) => read(socket, exportName))
    } finally {
      rmSync(join(folder, '..'), { recursive: true, force: true })
    }
  }

  async end(transfer: string) {
    await this.sweep()
    const sending = this.#sending.get(transfer)
    sending?.stop.abort()
    await sending?.ended
    const checks = [...this.#checks].filter(([name]) => name.startsWith(`${transfer} `)).map(([, check]) => check)
    for (const { stop } of checks) stop.abort()
    await Promise.allSettled(checks.map(({ ended }) => ended))
    this.#paces.delete(transfer)
    await this.#inTurn(async () => {
      await this.#stopServing(transfer)
      await this.#endLink(transfer)
      await this.#endProcesses(transfer)
      this.#removeFiles(transfer)
    })
  }

  async #endProcesses(transfer: string) {
    letNobodyIn(this.#directory(transfer))
    endAll(streamOf(transfer))
    endAll(`${this.#directory(transfer)}/`)
  }

  #removeFiles = (transfer: string) => rmSync(this.#directory(transfer), { recursive: true, force: true })
}

/** As it stands among the arguments of the forced command. */
const streamOf = (transfer: string) => `${TRANSFER_STREAM}\0${transfer}`

async function serve(socket: string, disk: Disk): Promise<Begun> {
  rmSync(socket, { force: true })
  const args = ['--socket', socket, '--format', disk.format, '--export-name', EXPORT, '--persistent', ...HOLES_STAY]
  const server = begin('qemu-nbd', [...args, '--shared', String(CONNECTIONS), '--', qemuPath(disk)])
  let ended = false
  void server.ended.then(() => {
    ended = true
  })
  for (const until = performance.now() + START_SECONDS * 1000; ; await Bun.sleep(POLL_MS)) {
    const file = connectTo(socket)
    if (file !== undefined) {
      closeSync(file)
      return server
    }
    if (ended)
      throw new Failure('tool_failed', `qemu-nbd does not serve ${disk.path}: ${(await server.ended).err.trim()}`)
    if (performance.now() > until) {
      server.stop()
      throw new Failure('tool_timeout', `qemu-nbd did not serve ${disk.path} within ${START_SECONDS} s`)
    }
  }
}
