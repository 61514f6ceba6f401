// Backups as commands make and restore them. A backup takes hours, so other commands of its vm do not wait for it: a vm
// that ends or starts meanwhile has its disk read once more from the beginning, and what was saved is not sent again.
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import { log } from '../../log.ts'
import { type BackupForget, type BackupMade, backupFailureCode } from '../../protocol/backup.ts'
import type { Input, Power, Volume } from '../../protocol/wire.ts'
import type { State } from '../../state.ts'
import { brokeOff, whileFrozen } from '../guest-agent/freezing.ts'
import type { GuestAgent } from '../guest-agent/guest-agent.ts'
import type { Hypervisor } from '../hypervisor/hypervisor.ts'
import type { Pool, Storage } from '../storage/storage.ts'
import { type Backups, backupFailure, type Saved, type ServedDisk, type Source } from './backup.ts'

type Parts = { hypervisor: Hypervisor; guestAgent: GuestAgent; state: State; storage: Storage; backups: Backups }
type Make = Input<'backup.make'>
type Running = { stop: AbortController; ended: Promise<unknown> }
type Making = Running & { volume: Volume }

const MOST_TRIES = 5
const WATCH_MS = 2000
/** A write of the guest for which there is no space to keep the old data fails. */
const LEAST_FREE_BYTES = 512 << 20

export class BackupRuns {
  #making = new Map<string, Making>()
  #turns = new Map<string, Promise<unknown>>()
  /** Disks of vms that are off, by workload. */
  #reading = new Map<string, Running>()
  #starting = new Map<string, Promise<unknown>>()

  /** In `scratchDir` the hypervisor keeps what running vms overwrite meanwhile. */
  constructor(
    private host: Parts,
    private scratchDir: string,
  ) {}

  /** One after another for each vm: its hypervisor serves its disk once at a time. */
  make(input: Make): Promise<BackupMade> {
    const { workload } = input.volume
    const stop = new AbortController()
    const made = (this.#turns.get(workload) ?? Promise.resolve()).then(() => this.#make(input, stop.signal))
    const running = { stop, ended: made.catch(() => {}), volume: input.volume }
    this.#making.set(input.backup, running)
    this.#turns.set(workload, running.ended)
    return made.finally(() => {
      if (this.#making.get(input.backup) === running) this.#making.delete(input.backup)
      if (this.#turns.get(workload) === running.ended) this.#turns.delete(workload)
    })
  }

  async restore({ snapshot, volume, sizeBytes, target }: Input<'backup.restore'>) {
    const { backups, storage } = this.host
    const pool = await storage.answering(volume.pool)
    if ((await pool.sizeBytes(volume)) === undefined) {
      const diskBytes = await backups.diskBytes(target, snapshot)
      if (diskBytes > sizeBytes)
        throw new Failure('disk_too_small', `the backup needs ${diskBytes} bytes, the disk has ${sizeBytes}`)
      await mustHaveSpace(pool, diskBytes, () => backups.dataBytes(target, snapshot))
    }
    await pool.receive(volume, sizeBytes, (disk) => backups.load(target, snapshot, disk))
    return {}
  }

  async forget({ snapshots, backups = [], target }: BackupForget) {
    for (const backup of backups) await this.#giveUp(this.#making.get(backup))
    return this.host.backups.forget(target, snapshots, backups)
  }

  /** Gives up the backups of a disk that is removed, and lets go of it. */
  async release({ workload, generation }: Volume) {
    for (const making of [...this.#making.values()])
      if (making.volume.workload === workload && making.volume.generation === generation) await this.#giveUp(making)
  }

  async #giveUp(making: Making | undefined) {
    making?.stop.abort()
    await making?.ended
  }

  /** Starts a vm. While its disk is read by a backup the hypervisor cannot open it, so that lets go of it first. */
  async whileStarting(workload: string, start: () => Promise<void>) {
    const reading = this.#reading.get(workload)
    const started = (async () => {
      reading?.stop.abort()
      await reading?.ended
      await start()
    })()
    const ended = started.catch(() => {})
    this.#starting.set(workload, ended)
    await started.finally(() => this.#starting.get(workload) === ended && this.#starting.delete(workload))
  }

  /** Ends what a crash left in running vms. */
  async sweep() {
    for (const file of existsSync(this.scratchDir) ? readdirSync(this.scratchDir) : []) {
      const workload = file.replace(/\.[a-z0-9]+$/, '')
      const swept = (this.#turns.get(workload) ?? Promise.resolve()).then(() => this.#end(workload))
      this.#turns.set(workload, swept)
      await swept.finally(() => this.#turns.get(workload) === swept && this.#turns.delete(workload))
    }
  }

  async #make(input: Make, signal: AbortSignal): Promise<BackupMade> {
    const began = performance.now()
    const { backup, volume, target } = input
    const there = await this.host.backups.find(target, backup)
    const saved = there ?? (await this.#save(input, signal))
    const { snapshot, diskBytes, addedBytes = 0, consistent } = saved
    const seconds = Math.round((performance.now() - began) / 100) / 10
    say('info', `${volume.workload} is saved as ${snapshot}: ${addedBytes} bytes were added`)
    return { snapshot, diskBytes, addedBytes, consistent, seconds }
  }

  async #save(input: Make, signal: AbortSignal): Promise<Saved> {
    const { workload } = input.volume
    for (let tries = 1; ; tries++) {
      await this.#starting.get(workload)
      if (signal.aborted) throw backupFailure('interrupted', 'the backup was stopped')
      const power = await this.host.hypervisor.power(workload)
      const on = isOn(power)
      try {
        return await (on ? this.#saveOn(input, signal) : this.#saveOff(input, signal))
      } catch (error) {
        const isInterrupted = error instanceof Failure && error.code === backupFailureCode('interrupted')
        if (signal.aborted || tries === MOST_TRIES) throw error
        // It also ended where the hypervisor was about to serve its disk.
        if (!isInterrupted && isOn(await this.host.hypervisor.power(workload)) === on) throw error
        say('warning', `The vm was switched ${on ? 'off' : 'on'} meanwhile, so its disk is read again.`)
      }
    }
  }

  async #saveOn(input: Make, signal: AbortSignal): Promise<Saved> {
    const { workload } = input.volume
    mkdirSync(this.scratchDir, { recursive: true })
    await this.#end(workload)
    const watch = this.#watchSpace()
    try {
      let served: ServedDisk | undefined
      const consistent = await whileFrozen(this.host, workload, async () => {
        served = await this.host.hypervisor.serveDisk(workload, this.#scratch(workload))
      })
      return await this.#read(input, { served: served! }, consistent, AbortSignal.any([signal, watch.signal]))
    } finally {
      watch.end()
      await this.#end(workload).catch((error) =>
        say('warning', `The disk is still served after its backup: ${wordsOf(error)}`),
      )
    }
  }

  async #saveOff(input: Make, signal: AbortSignal): Promise<Saved> {
    const { workload } = input.volume
    const consistent = !(await brokeOff(this.host.hypervisor, workload))
    const stop = new AbortController()
    const disk = await (await this.host.storage.answering(input.volume.pool)).disk(input.volume)
    const saved = this.#read(input, { disk }, consistent, AbortSignal.any([signal, stop.signal]))
    const reading = { stop, ended: saved.catch(() => {}) }
    this.#reading.set(workload, reading)
    return await saved.finally(() => this.#reading.delete(workload))
  }

  async #read(input: Make, source: Source, consistent: boolean, signal: AbortSignal): Promise<Saved> {
    const { backup, volume, target, limitBytesPerSecond } = input
    const sizeBytes = await this.#sizeBytes(volume)
    const what = { backup, workload: volume.workload, sizeBytes, consistent, limitBytesPerSecond }
    return await this.host.backups.save(target, what, source, signal)
  }

  async #sizeBytes(volume: Volume): Promise<number> {
    const pool = await this.host.storage.answering(volume.pool)
    const sizeBytes = await pool.sizeBytes(volume)
    if (sizeBytes === undefined) throw new Failure('no_volume', `there is no disk ${(await pool.disk(volume)).path}`)
    return sizeBytes
  }

  #scratch = (workload: string) => join(this.scratchDir, `${workload}.scratch`)

  async #end(workload: string) {
    await this.host.hypervisor.endServing(workload)
    rmSync(this.#scratch(workload), { force: true })
  }

  /** Ends the backup before the file system of the scratch files is full. */
  #watchSpace() {
    const full = new AbortController()
    const look = () => {
      const { bavail, bsize } = statfsSync(this.scratchDir)
      if (bavail * bsize < LEAST_FREE_BYTES)
        full.abort(new Failure('pool_full', `${this.scratchDir} is full of what the vm writes during its backup`))
    }
    look()
    const timer = setInterval(look, WATCH_MS)
    return { signal: full.signal, end: () => clearInterval(timer) }
  }
}

/** Throws `pool_full` before hours of reading, and before other disks of the pool have no space left. */
async function mustHaveSpace(pool: Pool, diskBytes: number, readDataBytes: () => Promise<number>) {
  const { freeBytes } = await pool.capacity()
  // The list of what the disk holds takes seconds to read, and is needed only where the whole disk has no space.
  if (freeBytes >= diskBytes + LEAST_FREE_BYTES) return
  const dataBytes = await readDataBytes()
  if (freeBytes < dataBytes + LEAST_FREE_BYTES)
    throw new Failure('pool_full', `the backup holds ${dataBytes} bytes; the pool ${pool.name} has ${freeBytes} free`)
}

const isOn = (power: Power) => power === 'running' || power === 'paused'

/** Sweeps once; what cannot be swept now is swept at the next backup of the vm. */
export const sweepBackups = (host: { backupRuns: BackupRuns }) =>
  host.backupRuns
    .sweep()
    .catch((error) => log('warning', 'what a backup left in a running vm is still there', { error: wordsOf(error) }))
