// The agent of one node in this process: the product's commands over a fake host, a journal on disk, and frames to the
// real hub.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { FilesLink, type QuestionSocket } from '../../../agent/backup-files/files-link.ts'
import { parseCommand } from '../../../agent/commands/index.ts'
import { ConsoleLink } from '../../../agent/console/console-link.ts'
import { addressReport, namedIn } from '../../../agent/controller-link/address-report.ts'
import type { Identity } from '../../../agent/controller-link/identity.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { openJournal } from '../../../agent/controller-link/journal.ts'
import type { SeenContainer } from '../../../agent/drivers/container/container.ts'
import { failureOf, UndeclaredFailure } from '../../../agent/failure.ts'
import { type FakeSettings, openFakeHost } from '../../../agent/host/fake-host.ts'
import type { Fault, Hang } from '../../../agent/host/faults.ts'
import { Probe } from '../../../agent/probe.ts'
import type { Power, ToAgent } from '../../../agent/protocol/wire.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import type { SocketHandler } from '../../../src/kernel/net/socket-endpoint.ts'
import type { Hub } from '../../../src/kernel/nodes/hub.ts'

/** Shorter than an agent's, so that tests need not wait. */
const ASK_LIMIT_MS = 100

type Options = {
  nodeId: string
  key: KeyObject
  /** Directory of its data. */
  home: string
  settings: Partial<FakeSettings>
  /** That of the controller which runs now: a restarted controller has another. */
  hub(): Hub
  /** The controller's end of a question about files of backups. */
  joinFiles(nodeId: string, session: string): SocketHandler | undefined
  now(): number
  /** Called before and after each command; throws `InjectedCrash` where the agent is to die. */
  crash(moment: 'before' | 'after', command: { key: string; name: string }): void
}
export type FakeAgent = ReturnType<typeof fakeAgent>

/** Connects when told to. */
export function fakeAgent({ nodeId, key, home, settings, hub, joinFiles, now, crash }: Options) {
  mkdirSync(home, { recursive: true })
  let host = openFakeHost(home, { bootMs: 0, imageBytes: 1024 ** 3, ...settings }, now, key)
  let journal = openJournal(`${home}/journal.db`, crash)
  let life = 0
  const probe = new Probe(ASK_LIMIT_MS)
  let socket: any
  let identity: Identity | undefined
  let consoles: ConsoleLink | undefined
  /** Failures that no command declares: the test fails with the first one at its end. */
  const undeclared: UndeclaredFailure[] = []
  const watched = (work: Promise<unknown>) =>
    work.catch((error: unknown) => {
      if (error instanceof UndeclaredFailure) undeclared.push(error)
      throw error
    })
  /** Frames about releases, which a test answers for the agent. */
  const aboutReleases: ('lookForRelease' | 'acceptRelease')[] = []
  const say = (from: any, frame: unknown) => from === socket && hub().message(from, JSON.stringify(frame))
  async function hear(from: any, frame: ToAgent, myLife: number) {
    if (frame.type === 'traffic-stored') return host.metering.stored(frame.seq)
    if (frame.type === 'files') return answerOver(joinFiles(nodeId, frame.session))
    if (frame.type === 'lookForRelease' || frame.type === 'acceptRelease') return void aboutReleases.push(frame.type)
    if (frame.type === 'console') return identity && consoles?.open(frame, identity)
    if (frame.type !== 'command') return
    const { key } = frame
    try {
      const command = parseCommand(frame.name, frame.input)
      const log = {
        line: (level: any, text: string) => say(from, { type: 'log', key, level, text, at: Date.now() }),
        progress: (percent: number) => say(from, { type: 'progress', key, percent }),
      }
      const answer = await journal.obey({ key, ...command }, () =>
        loggingTo(log, () => host.withFaults(command.name, command.workload, () => watched(command.work(host)))),
      )
      if (life === myLife)
        say(
          from,
          'error' in answer
            ? { type: 'failed', key, error: answer.error }
            : { type: 'done', key, output: answer.output },
        )
    } catch (error) {
      if (life !== myLife) return
      if (error instanceof InjectedCrash) return agent.restart()
      say(from, { type: 'failed', key, error: failureOf(error) })
    }
  }
  /** The real question and answer, over a socket in memory. */
  function answerOver(controllers: SocketHandler | undefined) {
    if (!controllers) return
    const heard: ((event: { data: unknown }) => void)[] = []
    const gone: (() => void)[] = []
    let isOpen = true
    const close = () => {
      if (!isOpen) return
      isOpen = false
      for (const tell of gone) tell()
      controllers.closed(theirs, 1000)
    }
    const theirs: any = {
      send: (data: string) =>
        queueMicrotask(() => {
          if (isOpen) for (const tell of heard) tell({ data })
        }),
      close: () => queueMicrotask(close),
    }
    const mine: QuestionSocket = {
      send: (data) =>
        void queueMicrotask(
          () => isOpen && controllers.message(theirs, typeof data === 'string' ? data : Buffer.from(data)),
        ),
      close: () => queueMicrotask(close),
      addEventListener: (type: string, tell: any) => void (type === 'close' ? gone : heard).push(tell),
    }
    void new FilesLink(host.backupFiles).answer(mine).catch(() => {})
    controllers.opened(theirs)
  }
  const agent = {
    home,
    settings,
    aboutReleases,
    get host() {
      return host
    },
    connect() {
      const myLife = life
      const mine: any = {
        data: { nodeId },
        send: (text: string) => void queueMicrotask(() => void hear(mine, JSON.parse(text), myLife)),
        close: () => hub().closed(mine),
      }
      socket = mine
      hub().opened(mine, { type: 'welcome', nodeId, controllerVersion: 'test', now: now() })
    },
    disconnect() {
      const gone = socket
      socket = undefined
      if (gone) hub().closed(gone)
    },
    /** As an enrolment anew: its next life has another key, which the controller does not know yet. */
    rekey() {
      key = generateKeyPairSync('ed25519').privateKey
      agent.restart()
      agent.disconnect()
    },
    /** The agent dies and comes back over the same host. */
    restart() {
      life++
      host.close()
      journal.close()
      host = openFakeHost(home, { bootMs: 0, imageBytes: 1024 ** 3, ...settings }, now, key)
      journal = openJournal(`${home}/journal.db`, crash)
      agent.disconnect()
      agent.connect()
    },
    /** From now on it opens consoles, at this controller and with this key. */
    opensConsoles(as: Identity) {
      identity = as
      consoles = new ConsoleLink(host.consoles)
    },
    /** So many bytes go through the port of the vm with this number. */
    flow: (number: number, sentBytes: number, receivedBytes: number) =>
      host.counters.flow(`bth${number}`, { sentBytes, receivedBytes }),
    /** Counts the traffic, and reports it as the agent does every five minutes. */
    async meter() {
      await host.metering.sample()
      const report = host.metering.report()
      if (report) say(socket, report)
    },
    /** A frame of any kind. */
    say: (frame: unknown) => void say(socket, frame),
    /** Reports what is on the host, as the agent does after it connected. */
    async look() {
      const [vms, { volumes, silent: silentPools }, instances, workspaces] = await Promise.all([
        probe.ask(() => host.hypervisor.look()).catch(() => undefined),
        host.storage.volumes(),
        host.containers.look(),
        host.workspaces.list(),
      ])
      const { ours, foreign } = vms ?? { ours: [], foreign: [] }
      const { silence } = probe
      const all: readonly SeenContainer[] = [...ours, ...instances]
      const workloads = all.map(({ id, power, cpuMs, rxBytes, txBytes, end }) => {
        return { id, power, cpuMs, rxBytes, txBytes, ...(end && { end }) }
      })
      const load = await host.load()
      const pools = await host.storage.capacities()
      say(socket, {
        ...{ type: 'heartbeat', at: now(), ...load, pools, workloads },
        ...(silence && { silent: [{ part: 'hypervisor', ...silence, since: now() }] }),
      })
      const powers = (all: readonly { id: string; power: Power }[]) =>
        all.map(({ id, power }) => ({ workload: id, power }))
      const inventory = {
        ...{ vms: powers(ours), volumes, foreign, containers: powers(instances), workspaces },
        ...(!vms && { silent: ['hypervisor' as const] }),
        ...(silentPools.length && { silentPools }),
      }
      const isWhole = vms && !silentPools.length
      for (const part of await addressReport(host, isWhole ? namedIn(inventory) : () => true)) say(socket, part)
      say(socket, { type: 'inventory', ...inventory })
    },
    fault(...faults: (Fault | Hang)[]) {
      writeFileSync(`${home}/faults.json`, JSON.stringify(faults))
    },
    close() {
      life++
      consoles?.closeAll()
      host.close()
      journal.close()
      if (undeclared[0]) throw undeclared[0]
    },
  }
  return agent
}
