// Keeps the vms and container instances running that should run, also while the controller is away: after a boot of the
// host, after a restart of the container that it lives in, and after a process was killed. Neither hypervisor nor
// container engine starts anything by itself, so nothing ever runs without its rules.

import type { SeenContainer } from '../drivers/container/container.ts'
import { thawLeftOver } from '../drivers/guest-agent/freezing.ts'
import type { OffReason } from '../drivers/hypervisor/hypervisor.ts'
import { Failure, wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import { Probe } from '../probe.ts'
import { fitted } from '../protocol/bounds.ts'
import type { ContainerEnd } from '../protocol/gpu.ts'
import { hostTime } from '../protocol/monotonic-clock.ts'
import { Crash, type Power } from '../protocol/wire.ts'
import { sleep } from '../sleep.ts'
import type { Wanted } from '../state.ts'
import type { Host } from './host.ts'
import { runningIn, startContainer } from './instances/start-container.ts'
import { startVm } from './start-vm.ts'

const second = 1000
const minute = 60 * second
/** Workloads that start at the same time. */
const AT_ONCE = 2
const CHECK_EVERY_MS = 15 * second
/** The pauses before the tries to start a vm again; one crash more in the window, and it stays off. */
const PAUSES_MS = [0, 15 * second, 60 * second]
const LONGEST_PAUSE_MS = Math.max(...PAUSES_MS)
/** A vm that did not start does not start a moment later. */
const LEAST_PAUSE_MS = 5 * second
const WINDOW_MS = 10 * minute
/** A guest that shuts down while its host does is meant to come back, and the agent does not see it off this long. */
const SETTLED_MS = 2 * minute
/** A start that failed by one of these says nothing about the workload, so it counts as no crash. */
const silences: ReadonlySet<string> = new Set([
  'pool_silent',
  'hypervisor_silent',
  'container_engine_silent',
  'disk_in_use',
])
const CRASHES_KEPT_MS = 24 * 60 * minute

/** A workload that is off, and how its kind is looked at and started. */
type Off = SeenContainer & { off: OffReason; kind: Kind }
type Kind = { power(workload: string): Promise<Power>; start(workload: string): Promise<unknown> }

export class Supervision {
  /** Told about each crash as it is found. */
  onCrash: (crash: Crash) => void = () => {}
  private offSince = new Map<string, number>()
  /** A hypervisor that hangs must not hold up the containers. */
  private looking: Record<'vms' | 'containers', Probe>
  private checking: Promise<void> | undefined
  private wakeUp: (() => void) | undefined
  private oomKills: number
  private vms: Kind
  private containers: Kind

  constructor(
    private host: Host,
    /** Runs work on a workload when no command is changing it. */
    private inTurn: (workload: string, work: () => Promise<void>) => Promise<void>,
    private now = hostTime.wall,
  ) {
    const probe = () => new Probe(host.silentAfterMs)
    this.looking = { vms: probe(), containers: probe() }
    this.oomKills = host.oomKills()
    this.vms = { power: (id) => host.hypervisor.power(id), start: (id) => startVm(host, id) }
    this.containers = { power: (id) => host.containers.power(id), start: (id) => startContainer(host, id) }
  }

  /** Checks every 15 s and at each `wake`, until `signal` aborts. */
  async stay(signal: AbortSignal) {
    while (!signal.aborted) {
      await this.check().catch((error) =>
        log('error', 'the workloads of this host cannot be checked; trying again in 15 s', { error: wordsOf(error) }),
      )
      const woken = new AbortController()
      this.wakeUp = () => woken.abort()
      await sleep(this.pauseMs(), AbortSignal.any([signal, woken.signal]))
    }
  }

  /** Checks soon: a workload has changed its power. */
  wake() {
    this.wakeUp?.()
  }

  /** The crashes of the last 24 hours, oldest first. */
  recent(): Crash[] {
    return this.host.state.crashes(this.now() - CRASHES_KEPT_MS)
  }

  /** Looks at every workload once and starts those that should run. Resolves when each was started or could not be. */
  check(): Promise<void> {
    this.checking ??= this.checkOnce().finally(() => {
      this.checking = undefined
    })
    return this.checking
  }

  private async checkOnce() {
    await thawLeftOver(this.host, this.inTurn)
    // Containers go on also where no hypervisor answers, and vms where no engine does.
    const [vms, containers] = await Promise.allSettled([
      this.looking.vms.ask(() => this.host.hypervisor.look()),
      this.looking.containers.ask(() => this.host.containers.look()),
    ])
    const off = new Map<string, Off>()
    const note = (kind: Kind, seen: readonly SeenContainer[]) => {
      for (const one of seen) if (one.off) off.set(one.id, { ...one, off: one.off, kind })
    }
    if (vms.status === 'fulfilled') note(this.vms, vms.value.ours)
    if (containers.status === 'fulfilled') {
      note(this.containers, containers.value)
      this.host.httpNames.openedOnly(runningIn(containers.value))
    }
    for (const id of this.offSince.keys()) if (!off.has(id)) this.offSince.delete(id)
    const kills = this.host.oomKills()
    const memoryRanOut = kills > this.oomKills
    this.oomKills = kills
    this.host.state.forgetCrashes(this.now() - CRASHES_KEPT_MS)
    const waiting = this.host.state.wanted().filter((vm) => !vm.leftOff && off.has(vm.workload))
    const worker = async () => {
      for (let vm = waiting.shift(); vm; vm = waiting.shift()) {
        const { workload } = vm
        await this.inTurn(workload, () => this.mend(workload, off.get(workload)!, memoryRanOut))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    for (const looked of [vms, containers]) if (looked.status === 'rejected') throw looked.reason
  }

  private async mend(workload: string, { off, end, kind }: Off, memoryRanOut: boolean) {
    const vm = this.host.state.wantedOne(workload)
    // A command came first.
    if (!vm || vm.leftOff || (await kind.power(workload)) === 'running') return
    if (vm.startAt !== null) {
      // A pause that is longer than any was decided before the host's clock was set back.
      const waitMs = vm.startAt - this.now()
      if (waitMs <= 0 || waitMs > LONGEST_PAUSE_MS) await this.start(vm, kind, 'started again')
    } else if (off === 'unknown') await this.start(vm, kind, 'started, because it should run')
    else if (end) {
      const cause = end.oomKilled ? 'out_of_memory' : end.exitCode === 0 ? 'shutdown' : 'ended'
      const staysOff = cause === 'shutdown' && vm.restart === 'on_failure'
      await this.crashed(staysOff ? { ...vm, restart: 'never' } : vm, kind, cause, end.detail, end)
    } else if (off === 'crashed') await this.crashed(vm, kind, memoryRanOut ? 'out_of_memory' : 'ended')
    else if (off === 'shutdown' && vm.restart === 'always') await this.crashed(vm, kind, 'shutdown')
    else this.settle(workload)
  }

  /** Stopped on purpose, from inside or by hand: after a while that is how it should be. */
  private settle(workload: string) {
    const since = this.offSince.get(workload) ?? this.now()
    this.offSince.set(workload, since)
    if (this.now() - since >= SETTLED_MS) this.host.state.wantStopped(workload)
  }

  private async crashed(vm: Wanted, kind: Kind, cause: Crash['cause'], detail = '', end?: ContainerEnd) {
    const { workload } = vm
    const at = this.now()
    const tries = this.host.state.crashes(at - WINDOW_MS).filter((crash) => crash.workload === workload).length
    const usual = vm.restart === 'never' ? undefined : PAUSES_MS[tries]
    const pause = usual === undefined ? undefined : Math.max(usual, cause === 'not_started' ? LEAST_PAUSE_MS : 0)
    const outcome = pause === undefined ? 'left_off' : 'restarts'
    const crash: Crash = fitted(Crash, {
      ...{ type: 'crash', workload, at, cause, detail, outcome },
      ...(end && { end }),
    })
    this.host.state.keepCrash(crash)
    this.onCrash(crash)
    const again = pause === undefined ? 'stays off' : pause ? `starts again in ${pause / second} s` : 'starts again'
    log('error', 'a workload ended that should run', {
      workload,
      cause,
      detail,
      policy: vm.restart,
      crashes: tries + 1,
      again,
    })
    if (pause === undefined) return this.host.state.leaveOff(workload)
    this.host.state.startAt(workload, at + pause)
    if (pause === 0) await this.start(vm, kind, 'started again')
  }

  /** One that does not start does not prevent the others from starting, and counts as one more crash. */
  private async start(vm: Wanted, kind: Kind, message: string) {
    const { workload } = vm
    try {
      await kind.start(workload)
      this.host.state.startAt(workload, undefined)
      log('info', message, { workload })
    } catch (error) {
      if (error instanceof Failure && silences.has(error.code)) return this.startLater(workload, error)
      await this.crashed({ ...vm, startAt: null }, kind, 'not_started', wordsOf(error))
    }
  }

  private startLater(workload: string, error: Failure) {
    this.host.state.startAt(workload, this.now() + CHECK_EVERY_MS)
    log('warning', 'a workload cannot be started yet; trying again in 15 s', { workload, error: wordsOf(error) })
  }

  /** Until the next try that is due, at most 15 s. */
  private pauseMs(): number {
    const due = this.host.state.wanted().flatMap(({ startAt }) => (startAt === null ? [] : [startAt - this.now()]))
    return Math.max(50, Math.min(CHECK_EVERY_MS, ...due))
  }
}
