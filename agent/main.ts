// `berth agent …`: the half of Berth that runs on a node.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Connection } from './controller-link/connection.ts'
import {
  confirmStopped,
  controllerUrl,
  type Destination,
  enroll,
  isDeclaredLost,
} from './controller-link/controller.ts'
import { stopAll } from './controller-link/declared-lost.ts'
import {
  consentTo,
  type Identity,
  isEnrolled,
  keepPins,
  keepUplink,
  makeDataDir,
  newKey,
  readIdentity,
  uplinkFrom,
  uplinkIn,
} from './controller-link/identity.ts'
import { type Journal, openJournal } from './controller-link/journal.ts'
import { crashInjection } from './crash-injection.ts'
import { CARD_TOOL, cardTool } from './drivers/gpu/card-tool.ts'
import { Failure, failureOf, wordsOf } from './failure.ts'
import { doctor } from './host/doctor.ts'
import { fakeSettingsIn, openFakeHost } from './host/fake-host.ts'
import type { Host } from './host/host.ts'
import { openRealHost } from './host/real-host.ts'
import { startVms, watchFirewall } from './host/startup.ts'
import { Supervision } from './host/supervision.ts'
import { log } from './log.ts'
import { fitted } from './protocol/bounds.ts'
import { forbidCoreDumps } from './protocol/linux/core-dumps.ts'
import { keepProgramPagesReleased } from './protocol/linux/program-memory.ts'
import { hostTime, MonotonicClock, OBSERVED_EVERY_MS } from './protocol/monotonic-clock.ts'
import { pinsFrom } from './protocol/pin.ts'
import { releaseKeyFrom } from './protocol/release/signature.ts'
import { trustedKeys } from './protocol/release/trusted-keys.ts'
import { ServiceManager } from './protocol/systemd.ts'
import { Facts, PROTOCOL, vlansText } from './protocol/wire.ts'
import { sleep } from './sleep.ts'
import { openEngine } from './update/engine.ts'
import { FakeEngine } from './update/fake.ts'
import { sweepDownloads, Updates } from './update/updates.ts'
import { VERSION } from './version.ts'

const HELP: Record<string, string> = {
  '': `berth agent: runs virtual machines on this host for a Berth controller

  berth agent enroll    join a controller
  berth agent run       carry out its commands
  berth agent uplink    the interface that leads out of this host, and the VLANs on it
  berth agent doctor    what this host can do, and the remedy for what is missing
  berth agent version

Each takes --help.`,
  enroll: `berth agent enroll --controller URL --token-file FILE [--pin PINS] [--name NAME] [--bridge BRIDGE]
                         [--uplink INTERFACE] [--vlans LIST] [--data-dir DIR] [--fake]

  --controller  address of the controller; https, or http on this very host
                (in a lab PANEL_AGENT_INSECURE=1 allows http elsewhere)
  --token-file  a file with the enrolment token from the node page, or - for standard input; works once, for an hour
  --token       the token itself; every user of this machine can read it in the list of processes
  --pin         keys that the controller's certificate may have, with commas: sha256//... (default: every key)
  --name        what this host is called (default: its host name)
  --bridge      bridge for the virtual machines; must exist
  --uplink      interface that leads out of this host, a network card or a bond (default: as before, or none)
  --vlans       VLANs on it for servers: all, or numbers and ranges such as 20,100-199
  --data-dir    default /var/lib/berth-agent
  --fake        a node without machines, to try the panel`,
  run: `berth agent run [--data-dir DIR] [--fake]

Connects to the controller and carries out its commands until SIGTERM. Virtual machines run on when it ends.`,
  uplink: `berth agent uplink [--uplink INTERFACE [--vlans LIST]] [--none] [--data-dir DIR]

Shows the interface that leads out of this host, and the VLANs on it for servers; or changes them, which the agent
follows within a minute. Servers stay in their VLAN, also when it is taken out of the list.

  --uplink      a network card or a bond, which the host's own configuration makes
  --vlans       all, or numbers and ranges such as 20,100-199; left out: none, and the uplink is only watched
  --none        names none any more`,
  doctor: `berth agent doctor [--data-dir DIR] [--fake]

One line for each thing a node needs: ok, warn or fail, what was found, and the remedy. Exit 1 if anything fails.`,
  version: 'berth agent version',
}

const STOP_MS = 10_000
const DAY_MS = 86_400_000

const options = {
  controller: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  pin: { type: 'string' },
  name: { type: 'string' },
  bridge: { type: 'string' },
  uplink: { type: 'string' },
  vlans: { type: 'string' },
  none: { type: 'boolean', default: false },
  'data-dir': { type: 'string', default: '/var/lib/berth-agent' },
  fake: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const
type Given = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

/**
 * Runs `berth agent ARGS`. Returns the exit code: 0 done, 1 refused (code and message on standard error), 2 wrong use.
 */
export async function agentCommand(args: string[]): Promise<number> {
  const [command = '', ...rest] = args
  if (command === '--help' || command === '-h' || command === 'help') return print(HELP[''] ?? '')
  if (command === CARD_TOOL) return await cardTool(rest)
  const given = parse(rest)
  if (!(command in HELP) || command === '' || typeof given === 'string')
    return wrongUse(command, typeof given === 'string' ? given : `no such verb: ${command || '(none)'}`)
  if (given.help) return print(HELP[command] ?? '')
  if (command === 'enroll' && !(given.controller && (given.token || given['token-file'])))
    return wrongUse(command, '--controller and --token-file are needed')
  if (command === 'enroll' && given.token && given['token-file'])
    return wrongUse(command, '--token and --token-file do not go together')
  try {
    if (command === 'enroll') return await enrollHere(given)
    if (command === 'run') return await runHere(given)
    if (command === 'uplink') return uplinkHere(given)
    if (command === 'doctor') return await doctor(given['data-dir'], given.fake)
    return print(VERSION)
  } catch (error) {
    const { code, message } = failureOf(error)
    process.stderr.write(`${code}: ${error instanceof Failure ? wordsOf(error) : message}\n`)
    return 1
  }
}

async function enrollHere(given: Given): Promise<number> {
  const controller = controllerUrl(given.controller ?? '')
  const pins = pinsFrom(given.pin ?? '')
  if (!pins) throw new Failure('invalid_pin', '--pin takes up to ten of sha256//BASE64=, separated by commas')
  const token = await enrolmentToken(given)
  const dataDir = given['data-dir']
  makeDataDir(dataDir)
  const host = given.fake
    ? openFakeHost(dataDir, {
        ...(given.name && { hostname: given.name }),
        ...(given.bridge && { bridge: given.bridge }),
      })
    : openRealHost(dataDir)
  const uplink = uplinkGiven(given)
  if (given.bridge) await host.network.mustHaveBridge(given.bridge)
  const facts = { ...(await host.facts()), hostname: given.name ?? hostname() }
  const machineId = host.machineId()
  if (isEnrolled(dataDir)) await stopFormer(host, readIdentity(dataDir), { controller, pins })
  host.close()
  const key = newKey(dataDir)
  const consent = consentTo(dataDir, token, key.publicKey)
  const { nodeId, name } = await enroll(
    controller,
    {
      token,
      protocol: PROTOCOL,
      publicKey: key.publicKey,
      facts: fitted(Facts, facts),
      ...(machineId && { machineId }),
      ...(consent && { consent }),
    },
    pins,
  )
  key.keep({
    controller,
    nodeId,
    name,
    fake: given.fake,
    ...(given.bridge && { bridge: given.bridge }),
    ...uplink,
    ...(pins.length && { pins }),
  })
  return print(`This host is node ${name} (${nodeId}) of ${controller}. Next: berth agent run`)
}

/** That of the flags, or that from before. Throws `invalid_uplink`. */
function uplinkGiven({ uplink, vlans = '', 'data-dir': dataDir }: Given) {
  if (uplink !== undefined) {
    if (!uplinkFrom(uplink, '')) throw new Failure('invalid_uplink', `--uplink ${uplink} is no name of an interface`)
    if (!uplinkFrom(uplink, vlans))
      throw new Failure('invalid_uplink', '--vlans takes all, or numbers and ranges from 1 to 4094 such as 20,100-199')
    return { uplink, vlans }
  }
  if (vlans) throw new Failure('invalid_uplink', '--vlans needs --uplink: the interface on which they are carried')
  if (!isEnrolled(dataDir)) return {}
  const before = readIdentity(dataDir)
  return before.uplink === undefined ? {} : { uplink: before.uplink, vlans: before.vlans ?? '' }
}

function uplinkHere(given: Given): number {
  const dataDir = given['data-dir']
  readIdentity(dataDir)
  if (given.none) keepUplink(dataDir, null)
  else if (given.uplink !== undefined || given.vlans !== undefined) {
    const { uplink = '', vlans = '' } = uplinkGiven(given)
    keepUplink(dataDir, { uplink, vlans })
  }
  const now = uplinkIn(dataDir)
  return print(now ? `${now.name}, VLANs: ${vlansText(now.vlans)}` : 'No uplink is named: this node carries no VLANs.')
}

/**
 * As another node it would start what ran here, which may run elsewhere by now. The controller may have got another
 * address meanwhile, so it is asked at the one from before and at the present one.
 */
async function stopFormer(host: Host, former: Identity, now: Destination) {
  const epoch = host.state.controllerEpoch(former.nodeId)
  const both = [former, { ...former, ...now }]
  const isLost = await Promise.all(both.map((one) => isDeclaredLost(one, epoch)))
  if (!isLost.includes(true) || !(await stopAll(host, (_, work) => work()))) return
  // Without an answer its addresses are held for the usual time.
  for (const one of both.filter((_, i) => isLost[i])) await confirmStopped(one).catch(() => {})
}

const LONGEST_TOKEN_FILE = 1000

/** The token of `--token-file`, without the line's end, or of `--token`. Throws `no_token`. */
async function enrolmentToken({ token, 'token-file': file = '-' }: Given): Promise<string> {
  if (token) {
    process.stderr.write(
      'warning: every user of this machine can read --token in the list of processes; ' +
        'use --token-file FILE, or --token-file - for standard input\n',
    )
    return token
  }
  const where = file === '-' ? 'standard input' : file
  const text = await (file === '-' ? Bun.stdin : Bun.file(file)).text().catch((error: Error) => {
    throw new Failure('no_token', `${where} cannot be read: ${error.message}`)
  })
  const found = text.trim()
  if (!found || found.length > LONGEST_TOKEN_FILE || /\s/.test(found))
    throw new Failure('no_token', `${where} does not hold an enrolment token alone`)
  return found
}

async function runHere(given: Given): Promise<number> {
  const dataDir = given['data-dir']
  makeDataDir(dataDir)
  const identity = readIdentity(dataDir)
  controllerUrl(identity.controller)
  const fake = given.fake || identity.fake
  const host = fake
    ? openFakeHost(
        dataDir,
        { hostname: identity.name, ...(identity.bridge && { bridge: identity.bridge }) },
        hostTime.wall,
        identity.key,
      )
    : openRealHost(dataDir, identity)
  const time = new MonotonicClock(hostTime)
  const journal = openJournal(join(dataDir, 'journal.db'), crashInjection(dataDir), time.now)
  log('info', 'agent starts', { version: VERSION, node: identity.name, controller: identity.controller, fake })
  const supervision = new Supervision(host, journal.inTurn, time.now)
  const observing = setInterval(() => {
    const jump = time.observe()
    if (jump) log('warning', 'the clock of this host was set', jump)
  }, OBSERVED_EVERY_MS)
  sweepDownloads(dataDir)
  const { program, releaseKeys = [] } = fake ? fakeSettingsIn(dataDir) : {}
  const fakeEngine = fake ? new FakeEngine(dataDir, program) : undefined
  const keys = [...trustedKeys(), ...releaseKeys.map(releaseKeyFrom)]
  const updates = new Updates(fakeEngine ?? openEngine(dataDir), host, { dataDir, keys })
  const keep = (pins: readonly string[]) => keepPins(dataDir, pins)
  const connection = new Connection(identity, host, journal, supervision, keep, updates)
  const working = new AbortController()
  if (fakeEngine) {
    fakeEngine.onEnd = () => connection.beginAnew()
    fakeEngine.onRestart = () => {
      updates.begin(working.signal)
      connection.beginAnew()
    }
  }
  await live(host, journal, supervision, connection, updates, working)
  fakeEngine?.close()
  clearInterval(observing)
  log('info', 'agent stops; vms run on')
  return 0
}

/**
 * A node that was declared lost must not start what may run elsewhere by now, so the first start waits for the
 * controller's answer. One whose controller is away serves on: it starts after this limit.
 */
const ANSWER_LIMIT_MS = 10_000
const heard = (host: Host, { answered }: Connection, signal: AbortSignal): Promise<void> =>
  host.state.wanted().length ? Promise.race([answered, sleep(ANSWER_LIMIT_MS, signal)]) : Promise.resolve()

/** Works until SIGTERM or SIGINT. Running commands then have ten seconds to end and to be answered. */
async function live(
  host: Host,
  journal: Journal,
  supervision: Supervision,
  connection: Connection,
  updates: Updates,
  work: AbortController,
) {
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  void startVms(host, supervision, work.signal, heard(host, connection, work.signal)).then(() => {
    void supervision.stay(work.signal)
    void watchFirewall(host, work.signal)
    void host.privateNetworking.stay(work.signal)
  })
  void host.metering.stay(work.signal, (error) =>
    log('error', 'the traffic of the vms cannot be counted; trying again', { error: wordsOf(error) }),
  )
  void host.gpus
    .stay(work.signal)
    .catch((error) => log('error', 'the cards of this host are not watched any more', { error: wordsOf(error) }))
  updates.begin(work.signal)
  const connected = connection.stay(work.signal)
  const pruning = setInterval(() => journal.prune(), DAY_MS)
  // The event loop has to turn, and the state to be readable. Libvirt and storage may hang: that is no fault of ours.
  const manager = new ServiceManager((text, about) => log('warning', text, about))
  manager.ready(() => host.state.frozen())
  forbidCoreDumps()
  keepProgramPagesReleased()
  await asked
  manager.stopping()
  connection.stopAccepting()
  await journal.quiet(STOP_MS)
  clearInterval(pruning)
  await Promise.race([host.metering.sample().catch(() => {}), Bun.sleep(2000)])
  work.abort()
  await Promise.race([connected, Bun.sleep(500)])
}

function parse(args: string[]): Given | string {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    return (error as Error).message
  }
}

function print(text: string): number {
  process.stdout.write(text + '\n')
  return 0
}

function wrongUse(command: string, problem: string): number {
  process.stderr.write(`${problem}\n\n${HELP[command] ?? HELP['']}\n`)
  return 2
}
