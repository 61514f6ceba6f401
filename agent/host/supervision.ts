// Keeps the vms running that should run, also while the controller is away: after a boot of the host, after a restart
// of the container that it lives in, and after a vm's process was killed. The hypervisor starts no vm by itself, so no
// vm ever runs without its rules.
import { thawLeftOver } from '../drivers/guest-agent/freezing.ts'
import type { OffReason, Seen } from '../drivers/hypervisor/hypervisor.ts'
import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import { fitted } from '../protocol/bounds.ts'
import { hostTime } from '../protocol/monotonic-clock.ts'
import { Crash } from '../protocol/wire.ts'
import { sleep } from '../sleep.ts'
import type { Wanted } from '../state.ts'
import type { Host } from './host.ts'
import { startVm } from './start-vm.ts'

const second = 1000
const minute = 60 * second
/** Vms that start at the same time. */
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
const CRASHES_KEPT_MS = 24 * 60 * minute

export class Supervision {
  /** Told about each crash as it is found. */
  onCrash: (crash: Crash) => void = () => {}
  private offSince = new Map<string, number>()
  private checking: Promise<void> | undefined
  private wakeUp: (() => void) | undefined
  private oomKills: number

  constructor(
    private host: Host,
    /** Runs work on a workload when no command is changing it. */
    private inTurn: (workload: string, work: () => Promise<void>) => Promise<void>,
    private now = hostTime.wall,
  ) {
    this.oomKills = host.oomKills()
  }

  /** Checks every 15 s and at each `wake`, until `signal` aborts. */
  async stay(signal: AbortSignal) {
    while (!signal.aborted) {
      await this.check().catch((error) =>
        log('error', 'the vms of this host cannot be checked; trying again in 15 s', { error: wordsOf(error) }),
      )
      const woken = new AbortController()
      this.wakeUp = () => woken.abort()
      await sleep(this.pauseMs(), AbortSignal.any([signal, woken.signal]))
    }
  }

  /** Checks soon: a vm has changed its power. */
  wake() {
    this.wakeUp?.()
  }

  /** The crashes of the last 24 hours, oldest first. */
  recent(): Crash[] {
    return this.host.state.crashes(this.now() - CRASHES_KEPT_MS)
  }

  /** Looks at every vm once and starts those that should run. Resolves when each was started or could not be. */
  check(): Promise<void> {
    this.checking ??= this.checkOnce().finally(() => {
      this.checking = undefined
    })
    return this.checking
  }

  private async checkOnce() {
    await thawLeftOver(this.host, this.inTurn)
    const { ours } = await this.host.hypervisor.look()
    const off = new Map(ours.filter((vm) => vm.off).map((vm) => [vm.id, vm as Seen & { off: OffReason }]))
    for (const id of this.offSince.keys()) if (!off.has(id)) this.offSince.delete(id)
    const kills = this.host.oomKills()
    const memoryRanOut = kills > this.oomKills
    this.oomKills = kills
    this.host.state.forgetCrashes(this.now() - CRASHES_KEPT_MS)
    const waiting = this.host.state.wanted().filter((vm) => !vm.leftOff && off.has(vm.workload))
    const worker = async () => {
      for (let vm = waiting.shift(); vm; vm = waiting.shift()) {
        const { workload } = vm
        await this.inTurn(workload, () => this.mend(workload, off.get(workload)!.off, memoryRanOut))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  private async mend(workload: string, off: OffReason, memoryRanOut: boolean) {
    const vm = this.host.state.wantedOne(workload)
    // A command came first.
    if (!vm || vm.leftOff || (await this.host.hypervisor.power(workload)) === 'running') return
    if (vm.startAt !== null) {
      // A pause that is longer than any was decided before the host's clock was set back.
      const waitMs = vm.startAt - this.now()
      if (waitMs <= 0 || waitMs > LONGEST_PAUSE_MS) await this.start(vm, 'vm started again')
    } else if (off === 'unknown') await this.start(vm, 'vm started, because it should run')
    else if (off === 'crashed') await this.crashed(vm, memoryRanOut ? 'out_of_memory' : 'ended')
    else if (off === 'shutdown' && vm.restart === 'always') await this.crashed(vm, 'shutdown')
    else this.settle(workload)
  }

  /** Stopped on purpose, from inside or by hand: after a while that is how it should be. */
  private settle(workload: string) {
    const since = this.offSince.get(workload) ?? this.now()
    this.offSince.set(workload, since)
    if (this.now() - since >= SETTLED_MS) this.host.state.wantStopped(workload)
  }

  private async crashed(vm: Wanted, cause: Crash['cause'], detail = '') {
    const { workload } = vm
    const at = this.now()
    const tries = this.host.state.crashes(at - WINDOW_MS).filter((crash) => crash.workload === workload).length
    const usual = vm.restart === 'never' ? undefined : PAUSES_MS[tries]
    const pause = usual === undefined ? undefined : Math.max(usual, cause === 'not_started' ? LEAST_PAUSE_MS : 0)
    const outcome = pause === undefined ? 'left_off' : 'restarts'
    const crash: Crash = fitted(Crash, { type: 'crash', workload, at, cause, detail, outcome })
    this.host.state.keepCrash(crash)
    this.onCrash(crash)
    const again = pause === undefined ? 'stays off' : pause ? `starts again in ${pause / second} s` : 'starts again'
    log('error', 'a vm ended that should run', {
      workload,
      cause,
      detail,
      policy: vm.restart,
      crashes: tries + 1,
      again,
    })
    if (pause === undefined) return this.host.state.leaveOff(workload)
    this.host.state.startAt(workload, at + pause)
    if (pause === 0) await this.start(vm, 'vm started again')
  }

  /** A vm that does not start does not prevent the others from starting, and counts as one more crash. */
  private async start(vm: Wanted, message: string) {
    const { workload } = vm
    try {
      await startVm(this.host, workload)
      this.host.state.startAt(workload, undefined)
      log('info', message, { workload })
    } catch (error) {
      await this.crashed({ ...vm, startAt: null }, 'not_started', wordsOf(error))
    }
  }

  /** Until the next try that is due, at most 15 s. */
  private pauseMs(): number {
    const due = this.host.state.wanted().flatMap(({ startAt }) => (startAt === null ? [] : [startAt - this.now()]))
    return Math.max(50, Math.min(CHECK_EVERY_MS, ...due))
  }
}
