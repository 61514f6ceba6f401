// The target of live migrations. The source's virsh speaks with this node's libvirt through the filter alone, and the
// vm arrives paused: it runs on only when `resume` is called.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, isIP, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { Failure, failureOf, wordsOf } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { Host } from '../../host/host.ts'
import { limitVm } from '../../host/start-vm.ts'
import { log } from '../../log.ts'
import { hostTime } from '../../protocol/monotonic-clock.ts'
import { presenceOf } from '../../protocol/values/move-recovery.ts'
import { uuidOf } from '../hypervisor/domain-xml.ts'
import { answerOn, type CopyMode, type Question } from './control.ts'
import { type Reach, reachOf } from './host-reach.ts'
import { join, listenAt } from './relay.ts'
import { AnswerFilter, CallFilter, migrateFlags } from './rpc-filter.ts'
import { type MigrationSockets, makeSocketDirs, removeSockets, socketPath } from './sockets.ts'
import { parseStrictXml } from './strict-xml.ts'

/** How long a try that was cut may take to end here. */
const EARLIER_LIMIT_MS = 45_000
const POLL_MS = 200
const LIBVIRT = '/run/libvirt/libvirt-sock'
const { live, persist, undefineSource, paused, copyDisks } = migrateFlags
const always = live + persist + undefineSource + paused
const flagsFor: Record<CopyMode, number> = { all: always + copyDisks, none: always }

export type ArrivalParts = Pick<Host, 'hypervisor' | 'network' | 'portSecurity' | 'state'>
/** `expects`: set by `prepare`; before it nothing is passed to libvirt. */
type Arrival = MigrationSockets & {
  servers: Server[]
  streams: Set<Duplex>
  expects?: { reach: Reach; flags: number }
  speaking: boolean
}

export class Arrivals {
  private arrivals = new Map<string, Arrival>()

  constructor(
    private parts: ArrivalParts,
    private libvirt = LIBVIRT,
    private now = hostTime.wall,
  ) {}

  /** Lets the vm of this transfer arrive, until `forget`. It must be defined here, and off. */
  async expect({ transfer, workload }: MigrationSockets) {
    if (this.arrivals.has(transfer)) return
    const arrival: Arrival = { transfer, workload, servers: [], streams: new Set(), speaking: false }
    this.arrivals.set(transfer, arrival)
    makeSocketDirs(arrival)
    const accept = (stream: Duplex, use: (stream: Duplex) => unknown) => {
      arrival.streams.add(stream)
      stream.once('close', () => arrival.streams.delete(stream))
      use(stream)
    }
    arrival.servers = [
      await listenAt(socketPath(arrival, 'libvirt'), (stream) => accept(stream, () => this.speak(arrival, stream))),
      await listenAt(socketPath(arrival, 'control'), (stream) =>
        accept(stream, () => answerOn(stream, (question) => this.answer(arrival, question))),
      ),
    ]
  }

  /** Nothing arrives for this transfer any more. What has arrived stays as it is. */
  async forget(transfer: string) {
    const arrival = this.arrivals.get(transfer)
    if (!arrival) return
    this.arrivals.delete(transfer)
    for (const server of arrival.servers) server.close()
    for (const stream of arrival.streams) stream.destroy()
    removeSockets(arrival)
  }

  /** The answer to the source, which may be why it is refused. */
  private async answer(arrival: Arrival, question: Question): Promise<object> {
    try {
      return await this.prepare(arrival, question)
    } catch (error) {
      const { code, message } = failureOf(error)
      return { refused: { code, message } }
    }
  }

  private async prepare(arrival: Arrival, question: Question): Promise<object> {
    if (question.ask === 'arrived') return { stoppedAt: readStop(arrival) }
    if (question.ask === 'look') return { presence: await this.presence(arrival.workload) }
    const { workload } = arrival
    const { hypervisor, portSecurity, state } = this.parts
    await this.discardEarlier(arrival)
    const power = await hypervisor.power(workload)
    if (power !== 'stopped' && power !== 'crashed')
      throw new Failure('migration_failed', `${workload} is ${power} here, and must be defined and off`)
    if (!state.hasPortRules(workload))
      throw new Failure('no_port_rules', `${workload} has no firewall rules on this node yet`)
    // The rules of its tap are in force before libvirt makes the tap.
    await portSecurity.ensureFor(workload)
    const definition = await virsh('dumpxml', '--inactive', uuidOf(workload))
    arrival.expects = { reach: reachOf(parseStrictXml(definition)), flags: flagsFor[question.copies] }
    writeStop(arrival, undefined)
    return { definition }
  }

  /** One whose memory has not arrived is nothing that could run on. */
  private async presence(workload: string) {
    if ((await this.parts.hypervisor.power(workload)) === 'absent') return 'absent'
    const state = await stateOf(workload)
    return isArriving(state) ? 'off' : presenceOf(state).presence
  }

  /**
   * An earlier try of this transfer may have left a vm that is paused. The source has the running one, or it would not
   * ask, and this one has never run here.
   */
  private async discardEarlier({ transfer, workload }: Arrival) {
    const { hypervisor, state } = this.parts
    if (state.transfer(transfer)?.owns) return
    for (const until = performance.now() + EARLIER_LIMIT_MS; performance.now() < until; await Bun.sleep(POLL_MS)) {
      if ((await hypervisor.power(workload)) !== 'paused') return
      // libvirt ends one whose memory has not arrived by itself, once it knows that the source has gone.
      if (!isArriving(await stateOf(workload))) await hypervisor.stop(workload, 0)
    }
  }

  /** One connection to libvirt, through the filters. */
  private async speak(arrival: Arrival, stream: Duplex) {
    const { expects } = arrival
    if (!expects || arrival.speaking) {
      log('warning', 'a connection to libvirt was refused', { transfer: arrival.transfer, prepared: !!expects })
      return stream.destroy()
    }
    arrival.speaking = true
    const calls = new CallFilter(
      {
        ...expects,
        migrateUri: `unix://${socketPath(arrival, 'mig')}`,
        disksUri: `unix://${socketPath(arrival, 'nbd')}`,
      },
      (stoppedForMs) => writeStop(arrival, this.now() - stoppedForMs),
    )
    const answers = new AnswerFilter({ onPrepared: () => void this.limit(arrival.workload) })
    const refusal = await join(stream, connect(this.libvirt), { toFar: calls, toNear: answers })
    arrival.speaking = false
    if (refusal === undefined) return
    log('warning', 'a message to libvirt was refused', { transfer: arrival.transfer, refusal })
  }

  /** The limits of the vm, once its tap is there and before it runs. */
  private async limit(workload: string) {
    const port = this.parts.state.port(workload)
    if (!port) return
    try {
      await limitVm(this.parts, workload, port)
    } catch (error) {
      log('warning', 'a vm that arrives could not be limited', { workload, error: wordsOf(error) })
    }
  }

  /**
   * Lets a vm run on that has arrived, and tells the neighbours; one that runs or is off stays as it is. Answers when,
   * by this node's clock in milliseconds since 1970; null where it did not. Throws `migration_failed` while its memory
   * arrives, and `hypervisor_silent`.
   */
  async resume(workload: string): Promise<{ resumedAt: number | null }> {
    const { hypervisor, portSecurity } = this.parts
    // All at once, because the guest stands still meanwhile.
    const [power, state] = await Promise.all([
      hypervisor.power(workload),
      stateOf(workload, true),
      portSecurity.ensureFor(workload),
    ])
    if (power !== 'paused') return { resumedAt: null }
    if (isArriving(state)) throw new Failure('migration_failed', `${workload} is ${state}: it has not arrived`)
    await virsh('resume', uuidOf(workload))
    const resumedAt = Math.round(this.now())
    void this.announce(workload)
    await this.limit(workload)
    return { resumedAt }
  }

  /** QEMU has announced the MAC address; this tells the addresses too. */
  private async announce(workload: string) {
    const rules = this.parts.state.portRulesOf(workload)
    if (!rules) return
    const single = rules.ipv6.filter((prefix) => prefix.endsWith('/128')).map((prefix) => prefix.slice(0, -4))
    const addresses = [...rules.ipv4, ...this.parts.state.floating(workload), ...single].filter((one) => isIP(one))
    try {
      await this.parts.network.announce(rules, [...new Set(addresses)])
    } catch (error) {
      log('warning', 'the addresses of a vm that arrived could not be announced', { workload, error: wordsOf(error) })
    }
  }
}

const stopFile = (arrival: Arrival) => `${socketPath(arrival, 'control')}.stopped-at`

/** Kept in a file, because the agent may end between the arrival and the question when it was. */
function writeStop(arrival: Arrival, at: number | undefined) {
  writeFileSync(stopFile(arrival), at === undefined ? '' : String(Math.round(at)), { mode: 0o600 })
}

function readStop(arrival: Arrival): number | null {
  try {
    return Number(readFileSync(stopFile(arrival), 'utf8')) || null
  } catch {
    return null
  }
}

const stateOf = async (workload: string, mayFail = false) => {
  const args = ['-c', 'qemu:///system', 'domstate', '--reason', uuidOf(workload)]
  return (await run('virsh', args, { mayFail, quietly: true, limitSeconds: 60 })).out.trim()
}
/** In the words of libvirt. */
const isArriving = (state: string) => state === 'paused (migrating)'

const virsh = async (...args: string[]) =>
  (await run('virsh', ['-c', 'qemu:///system', ...args], { quietly: true, limitSeconds: 60 })).out.trim()
