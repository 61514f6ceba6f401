// Container instances with Podman. The engine makes, starts and stops containers; whether one runs is asked of the
// kernel, because an engine whose helper was killed says "running" for ever.
import { statfsSync } from 'node:fs'
import { say } from '../../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../../failure.ts'
import { run } from '../../../host/exec.ts'
import { bootIdOfHost, oomKillsOfHost } from '../../../host/facts.ts'
import { log } from '../../../log.ts'
import type { Container, ContainerEnd, ContainerImage } from '../../../protocol/gpu.ts'
import type { Power } from '../../../protocol/wire.ts'
import { sleep } from '../../../sleep.ts'
import type { ContainerEvent, Containers, Given, Login, SeenContainer, TroublesSince } from '../container.ts'
import { endOf } from '../ends.ts'
import { identityOf } from '../identity.ts'
import { mustBeAlone, uidBase } from '../ids.ts'
import { type PodmanApi, PodmanError } from './api.ts'
import { letHooksIn } from './bundle.ts'
import { Cgroups } from './cgroups.ts'
import { Engine, type EngineOptions } from './engine.ts'
import { PodmanImages } from './images.ts'
import { readLog } from './logs.ts'
import { isAlive, processOf, trafficOf } from './processes.ts'
import { type ContainerRecord, openRecords, type Records } from './records.ts'
import { type ImageConfig, specOf, volumeName } from './spec.ts'

const POLL_MS = 1000
/** Where the disk is nearly full and no container has written enough to end it. */
const DISK_AGAIN_MS = 30_000
const DISK = { leastFreeBytes: 5e9, worthBytes: 1e9 }
const SWEEP_MS = 3_600_000
/** The engine's helper stores the exit code a moment after the process is gone. */
const EXIT_CODE_MS = 3000
const EXIT_CODE_POLL_MS = 50
const CLEARED_WITHIN_MS = 10_000
const CLEARED_POLL_MS = 100
const STOPS_WITHIN_MS = 10_000
/** A kill for want of memory this long before the end is its cause. */
const JUST_MS = 5000
const REMOVE_TRIES = 5
const GRACE_TO_REMAKE_SECONDS = 10

export type PodmanOptions = EngineOptions & {
  /** Registries, as `host:port`, that may have addresses that are not public, and speak plain HTTP. */
  localRegistries?: readonly string[]
  /** Its URL: no image is fetched from there. */
  controller?: string | undefined
  troublesSince?: TroublesSince
  /** With less free on the disk of `dir`, the container that wrote most is ended, if that is `worthBytes` or more. */
  disk?: { leastFreeBytes: number; worthBytes: number }
  /** The top of its control groups, which another agent on this host must not have. */
  cgroup?: string
}

type Made = Pick<ContainerRecord, 'workload' | 'container' | 'given' | 'image'>
type State = { Status: string; ExitCode: number; OOMKilled: boolean; Pid: number }
/** Kills for want of memory since the start, when the last one was noticed, and those of the whole host. */
type Kills = { count: number; grewAt: number; host: number }

export class PodmanContainers implements Containers {
  private readonly podman: Engine
  private readonly cgroups: Cgroups
  private readonly images: PodmanImages
  /** Opened when it is needed: on most hosts it never is. */
  private opened: Records | undefined
  private settling = new Map<string, Promise<void>>()
  private turns = new Map<string, Promise<unknown>>()
  private kills = new Map<string, Kills>()

  constructor(private options: PodmanOptions) {
    this.podman = new Engine(options)
    this.cgroups = new Cgroups(options.cgroup ?? 'berth')
    this.images = new PodmanImages(options, this.podman, () => this.records)
  }

  engine = () => this.podman.about()

  ensureImage = (image: ContainerImage, login: Login | undefined) => this.images.ensure(image, login)
  hasImage = async (id: string) => this.records.image(id) !== undefined
  removeImage = (id: string) => this.images.remove(id)

  async create(container: Container, given: Given) {
    const { workload, image: id } = container
    const image = this.records.image(id)
    const before = this.records.container(workload)
    const identity = identityOf(container, given, image?.image)
    if (before?.identity === identity && (await this.inspect(workload))) return
    if (!image)
      throw new Failure(
        'no_container_image',
        `image ${id} is not on this node; container-image.ensure comes before container.create`,
      )
    mustBeAlone(
      container,
      this.records.containers().map((other) => other.container),
    )
    if (before) {
      await this.stop(workload, GRACE_TO_REMAKE_SECONDS)
      await this.delete(workload)
    }
    // First, so that a crash between leaves a record without a container, which `start` makes.
    const record = { workload, container, given, identity, image: image.image }
    this.records.keepContainer(record)
    this.records.keepImage({ ...image, usedAt: Date.now() })
    await this.make(record)
  }

  async power(workload: string): Promise<Power> {
    const record = this.records.container(workload)
    if (!record) return 'absent'
    return (await this.settled(record)).process ? 'running' : 'stopped'
  }

  start = (workload: string) => this.alone(workload, () => this.startAlone(workload))

  private async startAlone(workload: string) {
    const record = await this.settled(this.mustHave(workload))
    if (record.process) return
    this.kills.delete(workload)
    const oomKillsBefore = this.cgroups.oomKills(workload) ?? 0
    const { Status } = (await this.inspect(workload)) ?? {}
    // Without its helper the engine takes a container whose process is gone for a running one, and never starts it.
    if (Status === undefined || Status === 'running' || Status === 'stopping') await this.remake(record)
    await this.startNow(record)
    const state = await this.inspect(workload)
    const process = state?.Status === 'running' ? processOf(state.Pid) : undefined
    if (!process) {
      const words = state ? this.endFrom(record, state.ExitCode, 0, false).detail : 'It is gone.'
      throw new Failure('container_not_started', `the container ended at once: ${words}`)
    }
    this.records.noteStarted(workload, { process, startedAt: Date.now(), oomKillsBefore })
  }

  async stop(workload: string, graceSeconds: number) {
    const record = this.records.container(workload)
    if (!record) return
    // Before it is done: an end after this is no crash.
    this.records.noteStopping(workload)
    const { process } = record
    if (process && isAlive(process)) {
      const api = await this.podman.api()
      const limitMs = (graceSeconds + 30) * 1000
      await api
        .ask('POST', `/containers/${workload}/stop`, { query: { timeout: graceSeconds }, limitMs })
        .catch((error) => say('warning', `The engine could not stop it: ${wordsOf(error)}`))
      await this.mustEnd(process.pid, () => isAlive(process))
    }
    this.records.noteEnded(workload, null, false)
  }

  async remove(workload: string) {
    if (!this.records.container(workload)) return
    await this.stop(workload, 0)
    await this.delete(workload)
    this.records.forgetContainer(workload)
    this.kills.delete(workload)
    this.cgroups.remove(workload)
    await this.images.sweep().catch((error) => say('warning', `Old images could not be removed: ${wordsOf(error)}`))
  }

  async look(): Promise<SeenContainer[]> {
    if (!this.hasContainers()) return []
    return await Promise.all(
      this.records.containers().map(async (record) => seenOf(await this.settled(record), this.cgroups)),
    )
  }

  async usage() {
    if (!this.hasContainers()) return []
    const running = this.records.containers().filter(({ process }) => process && isAlive(process))
    return running.map(({ workload }) => this.cgroups.usage(workload))
  }

  async logs(workload: string, lines: number, since?: string) {
    this.mustHave(workload)
    const api = await this.podman.api()
    const { HostConfig } = await api.ask<{ HostConfig: { LogConfig: { Path: string } } }>(
      'GET',
      `/containers/${workload}/json`,
    )
    return readLog(HostConfig.LogConfig.Path, lines, since)
  }

  async runInside(workload: string, command: readonly string[]) {
    const api = await this.podman.api()
    const body = { Cmd: command, User: '0:0', AttachStdout: true, AttachStderr: true }
    const { Id } = await api.ask<{ Id: string }>('POST', `/containers/${workload}/exec`, { body })
    const running = await api.send('POST', `/exec/${Id}/start`, { body: { Detach: false, Tty: false } })
    await running.arrayBuffer()
    const { ExitCode } = await api.ask<{ ExitCode: number }>('GET', `/exec/${Id}/json`)
    return ExitCode
  }

  async *events(signal: AbortSignal): AsyncGenerator<ContainerEvent> {
    let sweptAt = performance.now()
    let relieveAt = sweptAt
    const known = new Map<string, Power>()
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const seen = new Map((await this.look()).map((one) => [one.id, one]))
      for (const workload of new Set([...known.keys(), ...seen.keys()])) {
        const { power = 'absent', off, end } = seen.get(workload) ?? {}
        const isNew = power !== (known.get(workload) ?? 'absent')
        if (power === 'absent') known.delete(workload)
        else known.set(workload, power)
        if (isNew && !isFirst)
          yield { workload, power, at: Date.now(), reason: reasonOf(power, off, end), ...(end && { end }) }
      }
      // Each time, because a disk of today takes gigabytes in a second.
      if (performance.now() >= relieveAt)
        await this.relieveDisk().catch((error) => {
          relieveAt = performance.now() + DISK_AGAIN_MS
          log('error', 'the disk of the containers is nearly full', { error: wordsOf(error) })
        })
      if (performance.now() - sweptAt > SWEEP_MS) {
        sweptAt = performance.now()
        this.cgroups.sweep(new Set(seen.keys()))
        await this.images
          .sweep()
          .catch((error) => log('warning', 'old images cannot be removed', { error: wordsOf(error) }))
      }
      await sleep(POLL_MS, signal)
    }
  }

  /**
   * Ends the container that has written most outside its workspace, and deletes what it wrote there, when the disk that
   * all share is nearly full: what one fills would stop the others and the agent.
   */
  async relieveDisk() {
    const { dir, disk: { leastFreeBytes, worthBytes } = DISK } = this.options
    if (!this.hasContainers() || freeBytesOf(dir) >= leastFreeBytes) return
    const api = await this.podman.api()
    const running = this.records.containers().filter(({ process }) => process && isAlive(process))
    const sizes = await Promise.all(
      running.map(async (record) => {
        const call = { query: { size: true } }
        const { SizeRw = 0 } = await api.ask<{ SizeRw?: number }>('GET', `/containers/${record.workload}/json`, call)
        return { record, bytes: SizeRw }
      }),
    )
    const [most] = sizes.toSorted((a, b) => b.bytes - a.bytes)
    if (!most || most.bytes < worthBytes) throw new Failure('pool_full', `${freeBytesOf(dir)} bytes are free in ${dir}`)
    const { workload, process } = most.record
    log('error', 'an instance has filled the disk of the containers; it is ended', { workload, bytes: most.bytes })
    await this.alone(workload, async () => {
      this.records.noteFilled(workload, most.bytes)
      await this.mustEnd(process!.pid, () => isAlive(process!))
      await this.settled(this.mustHave(workload))
      await this.delete(workload)
    })
  }

  close() {
    this.podman.close()
    this.opened?.close()
    this.opened = undefined
  }

  private get records(): Records {
    if (!this.opened) {
      this.podman.makeDirectories()
      this.opened = openRecords(this.options.dir)
    }
    return this.opened
  }

  private hasContainers = () => (this.opened !== undefined || this.podman.wasUsed()) && this.records.hasContainers()

  private mustHave(workload: string): ContainerRecord {
    const record = this.records.container(workload)
    if (!record) throw new Failure('no_container', `${workload} has no container on this node`)
    return record
  }

  private async inspect(workload: string): Promise<State | undefined> {
    const api = await this.podman.api()
    return (await api.find<{ State: State }>(`/containers/${workload}/json`))?.State
  }

  private async make({ workload, container, given, image }: Made) {
    const api = await this.podman.api()
    await makeNetwork(api, given)
    await makeVolume(api, workload, given.workspace)
    const found = await api.find<{ Config: ImageConfig }>(`/images/${image}/json`)
    if (!found) throw new Failure('no_container_image', `the engine has lost image ${container.image}`)
    const parent = this.cgroups.parent(workload)
    const body = specOf(container, given, { image, config: found.Config, parent, seccomp: this.podman.seccomp() })
    await api.ask('POST', '/containers/create', { body }).catch((error) => {
      throw refused(error)
    })
    await this.openToHooks(api, container)
  }

  private async openToHooks(api: PodmanApi, { workload, number }: Container) {
    const made = await api.find<{ StaticDir: string }>(`/containers/${workload}/json`)
    if (made) letHooksIn(made.StaticDir, this.options.dir, uidBase(number))
  }

  /** Runs work that makes and starts the container when what began before has ended. */
  private alone<T>(workload: string, work: () => Promise<T>): Promise<T> {
    const before = this.turns.get(workload) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(work)
    this.turns.set(workload, turn)
    return turn.finally(() => this.turns.get(workload) === turn && this.turns.delete(workload))
  }

  /** Everything outside /workspace is lost, as when it is made from another image. */
  private async remake(record: ContainerRecord) {
    say('warning', 'The container engine has lost hold of the container, which is made anew; /workspace stays')
    await this.delete(record.workload)
    await this.make(record)
  }

  /** The engine clears up after an end by a process of its own, which may not be done yet. */
  private async startNow({ workload, container }: ContainerRecord) {
    const api = await this.podman.api()
    // One that an older agent made, or whose `create` broke off.
    await this.openToHooks(api, container)
    const until = performance.now() + CLEARED_WITHIN_MS
    for (;;)
      try {
        return await api.ask('POST', `/containers/${workload}/start`)
      } catch (error) {
        const isUncleared = error instanceof PodmanError && /already allocated|resource busy/.test(error.message)
        if (!isUncleared || performance.now() > until) throw refused(error)
        await Bun.sleep(CLEARED_POLL_MS)
      }
  }

  /** Podman sometimes finds a mount busy for a moment. */
  private async delete(workload: string) {
    const api = await this.podman.api()
    const gone = async (path: string, query: Record<string, string | number | boolean>) => {
      for (let tries = 1; ; tries++)
        try {
          return await api.ask('DELETE', path, { query })
        } catch (error) {
          if (error instanceof PodmanError && error.status === 404) return
          if (tries >= REMOVE_TRIES) throw error
          await Bun.sleep(200 * tries)
        }
    }
    await gone(`/containers/${workload}`, { force: true, timeout: 0, v: true })
    await gone(`/volumes/${volumeName(workload)}`, { force: true })
    const network = this.records.container(workload)?.given.network
    if (!network) return
    await gone(`/networks/${network.name}`, { force: true })
    // The bridge of a container that ended by itself may be left, and then nobody gets its addresses again.
    await run('ip', ['link', 'delete', network.interface], { mayFail: true, quietly: true })
  }

  /** The record of a container, whose end is found out first if it has come. */
  private async settled(record: ContainerRecord): Promise<ContainerRecord> {
    const { workload, process } = record
    if (!process) return record
    if (isAlive(process)) {
      this.noteKills(record)
      return record
    }
    const settling = this.settling.get(workload) ?? this.settle(record).finally(() => this.settling.delete(workload))
    this.settling.set(workload, settling)
    await settling
    return this.records.container(workload) ?? { ...record, process: null }
  }

  private async settle(record: ContainerRecord) {
    const { workload, process, stopping } = record
    if (process?.bootId !== bootIdOfHost()) return this.records.noteEnded(workload, null, true)
    const exitCode = await this.exitCode(workload)
    // A command or another turn may have come meanwhile.
    const now = this.records.container(workload)
    if (!now?.process || now.process.startTicks !== process.startTicks) return
    if (stopping || now.stopping) return this.records.noteEnded(workload, null, false)
    const { count, grewAt } = this.noteKills(record)
    const end = this.endFrom(now, exitCode, count, Date.now() - grewAt < JUST_MS)
    this.records.noteEnded(workload, end, false)
  }

  /** Null: the engine's helper was killed, or the engine does not answer. */
  private async exitCode(workload: string): Promise<number | null> {
    const until = performance.now() + EXIT_CODE_MS
    do {
      const state = await this.inspect(workload).catch(() => undefined)
      if (state && state.Status !== 'running' && state.Status !== 'stopping') return state.ExitCode
      await Bun.sleep(EXIT_CODE_POLL_MS)
    } while (performance.now() < until)
    return null
  }

  private noteKills({ workload, oomKillsBefore }: ContainerRecord): Kills {
    const known = this.kills.get(workload)
    const host = oomKillsOfHost()
    const counted = this.cgroups.oomKills(workload)
    // A group of version 1 goes with its container; then the count of the whole host has to do.
    const byHost = (known?.count ?? 0) + Number(known !== undefined && host > known.host)
    const count = counted === undefined ? byHost : counted - oomKillsBefore
    const grew = count > (known?.count ?? 0)
    const kills = { count, grewAt: grew ? Date.now() : (known?.grewAt ?? 0), host }
    this.kills.set(workload, kills)
    return kills
  }

  private endFrom(
    { container, startedAt, filledBytes }: ContainerRecord,
    exitCode: number | null,
    oomKills: number,
    justKilled: boolean,
  ) {
    const { cards, memoryMb } = container
    const troubles = this.options.troublesSince?.(cards, startedAt) ?? []
    return endOf({ exitCode, oomKills, justKilled, memoryMb, troubles, filledBytes })
  }

  private async mustEnd(pid: number, isOn: () => boolean) {
    for (let waited = 0; isOn(); waited += EXIT_CODE_POLL_MS) {
      if (waited >= STOPS_WITHIN_MS) throw new Failure('does_not_stop', `the container's process ${pid} does not end`)
      // The engine may have lost hold of it. Process 1 of a container takes all others with it.
      if (waited % 1000 === 0) killHard(pid, isOn)
      await Bun.sleep(EXIT_CODE_POLL_MS)
    }
  }
}

function seenOf({ workload, process, end, rebooted }: ContainerRecord, cgroups: Cgroups): SeenContainer {
  const nothing = { rxBytes: 0, txBytes: 0, rxPackets: 0, txPackets: 0 }
  if (process)
    return { id: workload, power: 'running', cpuMs: cgroups.cpuMs(workload), ...(trafficOf(process.pid) ?? nothing) }
  const off = rebooted ? 'unknown' : end ? 'crashed' : 'destroyed'
  return { id: workload, power: 'stopped', off, cpuMs: 0, ...nothing, ...(end && { end }) }
}

function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

const reasonOf = (power: Power, off?: SeenContainer['off'], end?: ContainerEnd) =>
  end?.detail ?? (off === 'unknown' ? 'the host was restarted' : power)

function killHard(pid: number, isOn: () => boolean) {
  try {
    if (isOn()) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** Podman's refusal to make or start a container, with a code that says whose fault it is. */
function refused(error: unknown): unknown {
  if (!(error instanceof PodmanError)) return error
  if (/unresolvable CDI devices|stat .*\/dev\/.*no such file/.test(error.message))
    return new Failure('no_card', 'the host does not have all cards of the instance', { cause: error })
  return new Failure('container_not_started', error.message)
}

/** Rules and ports are the concern of others: this is the bridge and the address alone. */
async function makeNetwork(api: PodmanApi, { network: { name, interface: bridge, subnet, gateway } }: Given) {
  if (await api.find(`/networks/${name}/json`)) return
  await api.ask('POST', '/networks/create', {
    body: {
      name,
      driver: 'bridge',
      network_interface: bridge,
      subnets: [{ subnet, gateway }],
      dns_enabled: false,
      ipv6_enabled: false,
    },
  })
}

/** The engine mounts the workspace where its containers are, which may be another mount namespace than the agent's. */
async function makeVolume(api: PodmanApi, workload: string, file: string) {
  const name = volumeName(workload)
  if (await api.find(`/volumes/${name}/json`)) return
  const options = { type: 'ext4', device: file, o: 'loop,nosuid,nodev,noatime' }
  await api.ask('POST', '/volumes/create', { body: { Name: name, Driver: 'local', Options: options } })
}
