// The agent's side of the wire: one WebSocket, opened by the agent and opened again whenever it breaks. While the
// controller is away the vms run on. After a reconnect the controller sends unanswered commands again, and the journal
// answers them.
import { Compile } from 'typebox/compile'
import { FilesLink } from '../backup-files/files-link.ts'
import { parseCommand } from '../commands/index.ts'
import { ConsoleLink } from '../console/console-link.ts'
import { endAfterDiskError } from '../database.ts'
import type { SeenContainer } from '../drivers/container/container.ts'
import type { Figures, Hypervisor, PowerEvent, Seen } from '../drivers/hypervisor/hypervisor.ts'
import { failureOf, wordsOf } from '../failure.ts'
import type { Host } from '../host/host.ts'
import { Measuring } from '../host/metrics/measuring.ts'
import type { Supervision } from '../host/supervision.ts'
import { log } from '../log.ts'
import { Probe } from '../probe.ts'
import { fitted } from '../protocol/bounds.ts'
import type { ContainerEnd } from '../protocol/gpu.ts'
import {
  agentPaths,
  capabilities,
  closeCodes,
  DECLARED_LOST,
  Facts,
  type FromAgent,
  Heartbeat,
  Inventory,
  type LogLevel,
  Metrics,
  MOST_ENDS,
  MOST_SAMPLES,
  MOST_TRAFFIC_DAYS,
  PowerChange,
  type SilentPart,
  silentParts,
  ToAgent,
  Traffic,
} from '../protocol/wire.ts'
import { sleep } from '../sleep.ts'
import type { Updates } from '../update/updates.ts'
import { addressReport, namedIn } from './address-report.ts'
import { askForRelease, confirmStopped, Refused, refusedUpgrade, saysLost, signed, socketTo } from './controller.ts'
import { stopAll } from './declared-lost.ts'
import type { Identity } from './identity.ts'
import { inventoryOf } from './inventory.ts'
import { type JobLog, loggingTo } from './job-log.ts'
import type { Answer, Journal } from './journal.ts'

const HEARTBEAT_MS = 10_000
const FACTS_MS = 60_000
const INVENTORY_MS = 300_000
const TRAFFIC_MS = 300_000
/** After this long without a frame or pong the connection counts as broken, even if TCP still holds it open. */
const SILENCE_MS = 25_000
const OPENING_MS = 15_000
/** A connection that breaks sooner than this counts as a failure, so the next try waits longer. */
const WORKED_MS = 5000
const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 15_000
/** A restart of the controller takes a second or two: for the first tries, some ten seconds, no node waits longer. */
const LONGEST_EARLY_RETRY_MS = 2000
const EARLY_FAILURES = 8
/** The most failures after which a retry still comes within a second. */
const FEW_FAILURES = 2
const REVOKED_RETRY_MS = 60_000
/** After the controller said that this agent sends too much, or that another one uses its key. */
const CUT_OFF_RETRY_MS = 30_000
const EVENTS_AGAIN_MS = 3000
/** Jobs at work may end before the agent is replaced; the others go on or begin anew with the next one. */
const SWITCH_WAIT_MS = 15_000
const SKEW_WORTH_A_WORD_MS = 30_000
const COPIED_EVERY_MS = 1000

const isToAgent = Compile(ToAgent)

export class Connection {
  private socket: WebSocket | undefined
  private heardAt = 0
  private factsSent = ''
  private stopping = false
  private measuring = new Measuring()
  private probes: Record<SilentPart, Probe>
  /** The key of the certificate of the last connection; undefined where there was no TLS. */
  private pinSeen: string | undefined
  /** The socket of a controller that is older than one that was obeyed. */
  private refused: WebSocket | undefined
  private consoles: ConsoleLink
  private files: FilesLink
  private firstAnswer = Promise.withResolvers<void>()
  /** Resolves when the controller has welcomed this node or refused it, for the first time. */
  readonly answered = this.firstAnswer.promise

  constructor(
    private identity: Identity,
    private host: Host,
    private journal: Journal,
    private supervision: Supervision,
    /** Keeps pins over restarts. */
    private keepPins: (pins: readonly string[]) => void,
    private updates: Updates,
  ) {
    supervision.onCrash = (crash) => this.send(crash)
    updates.onChange = () => void tried(this.sendFacts(true))
    updates.beforeSwitch = async () => {
      this.stopAccepting()
      await journal.quiet(SWITCH_WAIT_MS)
    }
    // The controller sends the commands of meanwhile again on a new connection.
    updates.notSwitched = () => this.beginAnew()
    const probe = () => new Probe(host.silentAfterMs)
    this.probes = { hypervisor: probe(), containers: probe() }
    this.consoles = new ConsoleLink(host.consoles)
    this.files = new FilesLink(host.backupFiles)
  }

  /** Connects, and reconnects whenever the connection breaks, until `signal` aborts. */
  async stay(signal: AbortSignal) {
    void this.watchPower((until) => this.host.hypervisor.events(until), signal)
    void this.watchPower((until) => this.host.containers.events(until), signal)
    this.host.gpus.onChange = () => void tried(this.sendFacts(false))
    let failures = 0
    while (!signal.aborted) {
      while (this.updates.engine.fault === 'away') await sleep(FIRST_RETRY_MS, signal)
      const end = await this.connectOnce(signal)
      if (signal.aborted) return
      // A controller that accepted the connection and then closed it is restarting, so the retry comes soon.
      failures = end.openMs > WORKED_MS ? 0 : end.openMs > 0 ? Math.min(failures + 1, FEW_FAILURES) : failures + 1
      await sleep(end.retryMs ?? backOffMs(failures), signal)
    }
  }

  /** Takes commands again, over a new connection. */
  beginAnew() {
    this.stopping = false
    this.socket?.close()
  }

  private lookForRelease = (wanted = false) =>
    void this.updates.look((path, init) => askForRelease(this.identity, path, init), { wanted })

  /** Ignores new commands from now on; the controller sends them again after the next start. */
  stopAccepting() {
    this.stopping = true
  }

  private async connectOnce(signal: AbortSignal): Promise<{ openMs: number; retryMs?: number }> {
    try {
      const { openMs, code } = await signed(this.identity, (headers) => {
        const seen = (pin: string) => void (this.pinSeen = pin)
        return this.live(socketTo(this.identity, agentPaths.connect, headers, seen), signal)
      })
      const retryMs = waitAfter(code)
      if (!signal.aborted)
        log('warning', `${reasonOf(code)}; vms run on, reconnecting`, {
          afterMs: openMs,
          ...(retryMs && { waitMs: Math.round(retryMs) }),
        })
      return { openMs, ...(retryMs && { retryMs }) }
    } catch (error) {
      if (saysLost(error, this.host.state.controllerEpoch(this.identity.nodeId))) await this.stopAndConfirm()
      if (error instanceof Refused) this.firstAnswer.resolve()
      if (error instanceof Refused && error.status === 426) this.lookForRelease()
      return { openMs: 0, retryMs: explain(error) }
    }
  }

  private async stopAndConfirm() {
    if (!(await stopAll(this.host, this.journal.inTurn))) return
    await confirmStopped(this.identity).catch((error) =>
      log('warning', 'the controller could not be told that nothing runs here; the next try tells it', {
        error: wordsOf(error),
      }),
    )
  }

  /**
   * Resolves when the socket has closed, with the milliseconds it was open and the close code. Throws when it never
   * opened.
   */
  private live(socket: WebSocket, signal: AbortSignal): Promise<{ openMs: number; code: number }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ openMs: number; code: number }>()
    const over = new AbortController()
    const hangUp = () => socket.close(1000, 'agent stops')
    signal.addEventListener('abort', hangUp, { signal: over.signal })
    const opening = setTimeout(() => reject(new Error('the controller does not take up the connection')), OPENING_MS)
    let openedAt = 0
    const heard = () => {
      this.heardAt = performance.now()
    }
    socket.addEventListener('open', () => {
      clearTimeout(opening)
      openedAt = performance.now()
      heard()
      this.socket = socket
      this.every(this.host.heartbeatMs ?? HEARTBEAT_MS, over.signal, () => this.beat(socket))
      this.every(FACTS_MS, over.signal, () => this.sendFacts(false))
      this.every(INVENTORY_MS, over.signal, () => this.sendInventory())
      this.every(TRAFFIC_MS, over.signal, async () => this.sendTraffic())
    })
    socket.addEventListener('pong' as 'message', heard)
    socket.addEventListener('message', ({ data }) => {
      heard()
      this.hear(socket, String(data))
    })
    socket.addEventListener('error', (event) => {
      if (!openedAt) reject(refusedUpgrade((event as ErrorEvent).message))
    })
    socket.addEventListener('close', ({ code }) => {
      over.abort()
      if (this.socket === socket) this.socket = undefined
      resolve({ openMs: openedAt ? Math.round(performance.now() - openedAt) : 0, code })
    })
    return promise.finally(() => {
      clearTimeout(opening)
      if (!openedAt) socket.close()
    })
  }

  private hear(socket: WebSocket, text: string) {
    const frame = frameIn(text)
    if (!frame)
      return log('warning', 'a frame of the controller is not understood; is this agent older?', {
        start: text.slice(0, 80),
      })
    if (frame.type === 'welcome' && !this.mayObey(socket, frame.epoch ?? 0)) return
    // A frame that was on its way when its controller was refused.
    if (socket === this.refused) return
    if (frame.type === 'welcome') {
      this.welcomed(frame.now, frame.controllerVersion)
      this.firstAnswer.resolve()
      if (frame.pins) this.accept(frame.pins)
      for (const crash of this.supervision.recent()) this.send(crash)
      this.sendTraffic()
    }
    if (frame.type === 'traffic-stored') return this.trafficStored(frame.seq)
    if (frame.type === 'console') return void this.consoles.open(frame, this.identity)
    if (frame.type === 'files') return void this.files.open(frame.session, this.identity)
    if (frame.type === 'acceptRelease') return this.updates.accept(frame.version)
    if (frame.type === 'lookForRelease') return this.lookForRelease(true)
    if (frame.type === 'welcome') this.lookForRelease()
    if (frame.type === 'command') void this.obey(socket, frame)
    if (frame.type === 'welcome' || frame.type === 'report') this.report()
  }

  /** Another controller has taken over from one with a lower epoch: it still has the node's records, and no say. */
  private mayObey(socket: WebSocket, epoch: number): boolean {
    const { nodeId } = this.identity
    const highest = this.host.state.controllerEpoch(nodeId)
    if (epoch >= highest) {
      this.host.state.obeyEpoch(nodeId, epoch)
      return true
    }
    this.refused = socket
    this.host.state.noteRefusedEpoch(nodeId, epoch, Date.now())
    log('error', 'this controller is refused, because this node has obeyed a newer one; nothing of it is carried out', {
      controller: this.identity.controller,
      epoch,
      newerEpoch: highest,
      remedy: 'let the address lead to the newer controller, and stop the older one (docs/standby.md)',
    })
    socket.close(closeCodes.outdated, 'an older controller')
    return false
  }

  private welcomed(controllerNow: number, controllerVersion: string) {
    const skewMs = controllerNow - Date.now()
    log('info', 'connected to the controller', {
      controller: this.identity.controller,
      node: this.identity.name,
      controllerVersion,
    })
    if (Math.abs(skewMs) > SKEW_WORTH_A_WORD_MS) {
      log('warning', 'the clocks of this host and of the controller differ; metering and certificates suffer', {
        skewSeconds: Math.round(skewMs / 1000),
      })
    }
  }

  /** The controller, which has just proved itself, names the keys of its next certificates. */
  private accept(pins: readonly string[]) {
    const { pins: before = [] } = this.identity
    if (this.pinSeen === undefined || pins.join() === before.join()) return
    // Such a list would keep this node out at its next connection.
    if (!pins.includes(this.pinSeen))
      return log('warning', 'the pins of the controller lack the key of its own certificate, and are not taken', {
        key: this.pinSeen,
        pins,
      })
    this.keepPins(pins)
    this.identity = { ...this.identity, pins }
    log('info', 'the controller named the keys that its certificate may have', { pins, before })
  }

  private async obey(socket: WebSocket, { key, name, input }: { key: string; name: string; input: unknown }) {
    if (this.stopping) return
    await this.updates.mayObey
    const answer = await this.answerTo(key, name, input)
    // An answer goes to the connection that sent the command; on a new one the controller sends the command again.
    if (socket !== this.socket) return
    this.send(
      'error' in answer ? { type: 'failed', key, error: answer.error } : { type: 'done', key, output: answer.output },
    )
  }

  private async answerTo(key: string, name: string, input: unknown): Promise<Answer> {
    try {
      const command = parseCommand(name, input)
      const work = () => this.host.withFaults(command.name, command.workload, () => command.work(this.host))
      const { kind, turn } = command
      return await this.journal.obey({ key, name, kind, turn }, () => loggingTo(this.jobLog(key), work))
    } catch (error) {
      endAfterDiskError(error)
      return { error: failureOf(error) }
    }
  }

  private jobLog(key: string): JobLog {
    let shown = -1
    let copiedAt = Number.NEGATIVE_INFINITY
    return {
      line: (level: LogLevel, text: string) => this.send({ type: 'log', key, level, text, at: Date.now() }),
      progress: (percent, copied) => {
        const isDue = copied && performance.now() - copiedAt >= COPIED_EVERY_MS
        if (percent === shown && !isDue) return
        shown = percent
        if (copied) copiedAt = performance.now()
        this.send({ type: 'progress', key, percent, ...(copied && { copied }) })
      },
    }
  }

  /** Sends each report on its own: one that fails, because libvirt is not up yet, does not hold back the others. */
  private report() {
    for (const send of [() => this.sendFacts(true), () => this.sendHeartbeat(), () => this.sendInventory()])
      tried(send())
  }

  private async sendFacts(always: boolean) {
    const facts: Facts = { ...(await this.host.facts()), ...this.updates.facts() }
    const text = JSON.stringify(facts)
    if (!always && text === this.factsSent) return
    this.factsSent = text
    this.send({ type: 'facts', facts: fitted(Facts, facts), capabilities: [...capabilities] })
  }

  /** Undefined while the part does not answer: nothing follows from its silence, and the report goes out without it. */
  private async lookAt<T>(part: SilentPart, question: () => Promise<T>): Promise<T | undefined> {
    const probe = this.probes[part]
    const before = probe.silence
    const found = await probe.ask(question).catch(() => undefined)
    const { silence } = probe
    if (!before && silence)
      log('error', `${partWords[part]} does not answer; what runs goes on`, { error: silence.why })
    if (before && !silence) log('info', `${partWords[part]} answers again`)
    return found
  }

  private lookAtVms = async () =>
    this.updates.engine.fault === 'lies'
      ? { ours: [], foreign: [] }
      : this.lookAt<Looked>('hypervisor', () => this.host.hypervisor.look())
  private lookAtContainers = () => this.lookAt('containers', () => this.host.containers.look())

  /** Answers the workloads as they were found. */
  private async sendHeartbeat(): Promise<readonly Seen[]> {
    const [load, pools, vms, containers = []] = await Promise.all([
      this.host.load(),
      this.host.storage.capacities(),
      this.lookAtVms(),
      this.lookAtContainers(),
    ])
    const all = [...(vms?.ours ?? []), ...containers]
    // A heartbeat may tell of an end before its own report does.
    const ends = new Map(containers.flatMap(({ id, end }) => (end ? [[id, end] as const] : [])).slice(0, MOST_ENDS))
    const workloads = all.map((seen) => ({
      ...figuresOnly(seen),
      ...(ends.has(seen.id) && { end: ends.get(seen.id)! }),
    }))
    const silent = silentParts.flatMap((part) => {
      const { silence } = this.probes[part]
      return silence ? [{ part, ...silence }] : []
    })
    this.send(
      fitted(Heartbeat, {
        ...{ type: 'heartbeat', at: Date.now(), ...load, pools, workloads },
        ...(silent.length && { silent }),
      }),
    )
    return all
  }

  private async sendMetrics(seen: readonly Seen[]) {
    const [samples, cards] = await Promise.all([
      this.measuring.turn(seen, () => this.usage()),
      this.host.gpus.samples().catch(() => []),
    ])
    const host = this.measuring.hostTurn(this.host.hostCounters())
    this.send(
      fitted(Metrics, {
        ...{ type: 'metrics', samples: samples.slice(0, MOST_SAMPLES) },
        ...(host && { host }),
        ...(cards.length && { cards }),
      }),
    )
    for (let first = MOST_SAMPLES; first < samples.length; first += MOST_SAMPLES)
      this.send(fitted(Metrics, { type: 'metrics', samples: samples.slice(first, first + MOST_SAMPLES) }))
  }

  private usage = async () => {
    const vms = this.probes.hypervisor.silence ? [] : this.host.hypervisor.usage()
    return (await Promise.all([vms, this.host.containers.usage()])).flat()
  }

  private async sendInventory() {
    const inventory = await inventoryOf(this.host, this.lookAtVms, this.lookAtContainers)
    const disks = Map.groupBy(inventory.volumes, ({ workload }) => workload)
    for (const { workload } of inventory.vms)
      this.host.state.learnPools(
        workload,
        (disks.get(workload) ?? []).map(({ pool }) => pool),
      )
    // Before the inventory: what the controller does not know there is never seen without its addresses. What is silent
    // may have more workloads than the inventory names, so all addresses that are recorded here count then.
    const isWhole = !inventory.silent && !inventory.silentPools
    const parts = await addressReport(this.host, isWhole ? namedIn(inventory) : () => true)
    for (const part of parts) this.send(part)
    this.send(fitted(Inventory, inventory))
  }

  private sendTraffic() {
    const report = this.host.metering.report()
    if (report) this.send(fitted(Traffic, report))
  }

  /** A report that was full has others behind it. */
  private trafficStored(seq: number) {
    const wasFull = this.host.metering.report()?.days.length === MOST_TRAFFIC_DAYS
    this.host.metering.stored(seq)
    if (wasFull) this.sendTraffic()
  }

  private async beat(socket: WebSocket) {
    if (performance.now() - this.heardAt > SILENCE_MS) return (socket as WebSocket & { terminate(): void }).terminate()
    ;(socket as WebSocket & { ping(): void }).ping()
    await this.sendMetrics(await this.sendHeartbeat())
  }

  /** Sends changes of power as they happen. When their source breaks off, a heartbeat reports what was missed. */
  private async watchPower(
    events: (signal: AbortSignal) => AsyncIterable<PowerEvent & { end?: ContainerEnd }>,
    signal: AbortSignal,
  ) {
    while (!signal.aborted) {
      try {
        for await (const event of events(signal)) {
          this.send(fitted(PowerChange, { type: 'power', ...event }))
          this.supervision.wake()
        }
      } catch (error) {
        log('warning', 'the events of the hypervisor or container engine broke off; subscribing again', {
          error: wordsOf(error),
        })
      }
      await sleep(EVENTS_AGAIN_MS, signal)
      if (!signal.aborted) await tried(this.sendHeartbeat())
    }
  }

  private every(ms: number, signal: AbortSignal, work: () => Promise<void>) {
    const timer = setInterval(() => tried(work()), ms)
    signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  private send(frame: FromAgent) {
    if (this.updates.engine.fault === 'mute') return
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame))
  }
}

type Looked = Awaited<ReturnType<Hypervisor['look']>>
const partWords: Record<SilentPart, string> = { hypervisor: 'libvirt', containers: 'the container engine' }

const figuresOnly = ({ off: _, end: __, rxPackets: ___, txPackets: ____, ...figures }: SeenContainer): Figures =>
  figures

const tried = (report: Promise<unknown>) =>
  report.catch((error) => log('error', 'this host cannot be reported on', { error: wordsOf(error) }))

function frameIn(text: string): ToAgent | undefined {
  try {
    const frame: unknown = JSON.parse(text)
    return isToAgent.Check(frame) ? frame : undefined
  } catch {
    return undefined
  }
}

const reasonOf = (code: number) =>
  code === closeCodes.tooMuch
    ? 'the controller closed the connection because this agent sent too much'
    : code === closeCodes.replaced
      ? "another connection with this node's key took the place of this one; is the host or its data directory a copy?"
      : code === closeCodes.outdated
        ? 'the controller is older than one that this node obeyed'
        : 'the connection to the controller is lost'

/** Two agents with one key that both came back at once would replace each other without end. */
const waitAfter = (code: number): number | undefined =>
  code === closeCodes.tooMuch || code === closeCodes.replaced || code === closeCodes.outdated
    ? CUT_OFF_RETRY_MS * (1 + Math.random())
    : undefined

/** Logs why there is no connection. Returns the milliseconds to wait, or undefined where the back-off decides. */
function explain(error: unknown): number | undefined {
  if (error instanceof Refused && error.status === 401) {
    const why = error.has(DECLARED_LOST)
      ? 'this node was declared lost or removed, so it runs nothing; enroll it again as a new node'
      : 'the controller does not know this node, or its credential was revoked; enroll again with a new token'
    log('error', why, { code: error.code })
    return REVOKED_RETRY_MS
  }
  if (error instanceof Refused && error.status === 426) {
    log('error', 'the controller speaks another protocol; update this agent', { message: error.message })
    return REVOKED_RETRY_MS
  }
  log('warning', 'no connection to the controller; trying again', { error: wordsOf(error) })
  return undefined
}

/**
 * Exponential with full jitter, so that a thousand nodes do not reconnect in the same second. The first retry is fast.
 */
const backOffMs = (failures: number) => {
  const longest = failures <= EARLY_FAILURES ? LONGEST_EARLY_RETRY_MS : LONGEST_RETRY_MS
  return 50 + Math.random() * Math.min(longest, FIRST_RETRY_MS * 2 ** failures)
}
