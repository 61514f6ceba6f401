// A machine with a controller and its agent, and other nodes, whose agents go from version to version.
import { readFileSync, writeFileSync } from 'node:fs'
import { unverified } from '../../../agent/protocol/release/archive.ts'
import { platformHere } from '../../../agent/protocol/release/manifest.ts'
import { signed } from '../../../agent/protocol/release/signature.ts'
import { readUpgradeHistory, upgradeFolder } from '../../../agent/protocol/release/upgrade.ts'
import { PROTOCOL } from '../../../agent/protocol/wire.ts'
import { migrations } from '../../../migrations/index.ts'
import { addSignature, makeRelease } from '../../../src/app/release/make.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Edit, testKey } from './builds.ts'
import type { Lab } from './lab.ts'

/** Writes the release of a program that `built` made, as the key of these tests signs it. */
export function releaseOf(
  program: string,
  version: string,
  to: string,
  more: { schema?: string; protocol?: number } = {},
) {
  const usual = { protocol: PROTOCOL, schema: migrations.at(-1)!.name, platform: platformHere }
  const says = { ...usual, ...more, version }
  const about = { minimumVersion: '0.1.0', date: '2026-11-27', notes: '', keyId: testKey.key.id }
  makeRelease(to, { programs: [{ path: program, says }], bill: '{}\n', ...about, level: 1 })
  addSignature(to, signed(unverified(to).text, testKey.secret), [testKey.key])
  return to
}

/** `codes`: one of them is the reason why it goes back. `finding`: the controller's, where the node has a server. */
type Broken = { is: string; edits: Edit[]; codes: string[]; finding?: string; isSlow?: true; trialSeconds?: number }
const atStart = "log('info', 'agent starts'"
const begins = (first: string) => [{ file: 'agent/main.ts', before: atStart, after: `${first}; ${atStart}` }]
const HANGS_AFTER_MS = 8000

/** Versions whose agents are broken. `isSlow`: nothing says that it is broken but the end of its trial. */
export const brokenAgents: Broken[] = [
  { is: 'does not start', edits: begins("throw new Error('no luck')"), codes: ['does_not_start'] },
  {
    is: 'starts and cannot connect',
    edits: [{ file: 'agent/protocol/wire.ts', before: "'/agent/v1/challenge'", after: "'/agent/v0/challenge'" }],
    codes: ['not_accepted'],
    isSlow: true,
  },
  {
    is: 'connects and lies about its inventory',
    edits: [
      { file: 'agent/controller-link/inventory.ts', before: 'vms: powers(vms?.ours ?? [])', after: 'vms: []' },
      // To itself, too.
      { file: 'agent/update/checks.ts', before: 'const findings = [', after: 'return []; const findings = [' },
    ],
    codes: ['not_accepted'],
    finding: 'web01',
    isSlow: true,
  },
  {
    is: 'hangs when it has run for a while',
    edits: begins(`setTimeout(() => { for (;;); }, ${HANGS_AFTER_MS})`),
    // The watchdog ends it, and it hangs again.
    codes: ['not_accepted', 'does_not_start'],
    isSlow: true,
    // It is not accepted before it hangs.
    trialSeconds: 60,
  },
]

type Ended = { code: number; out: string; err: string }
type Node = { id: string; name: string; agentVersion: string; connected: boolean }
type Member = { id: string; name: string; state: string; fromVersion: string; sentBytes: number; findings: string[] }
export type RollOut = {
  id: string
  state: string
  pausedBy: string | null
  failedNode: { name: string } | null
  reason: string | null
  members: Member[]
}

const SUPERVISOR = '/usr/local/lib/berth/berth-host host services'

/** `run`: of a command there as root; `at`: the path here of one there. */
export class Fleet {
  constructor(
    readonly run: (command: string) => Promise<Ended>,
    readonly at: (path: string) => string,
    readonly url: string,
  ) {}

  must = async (command: string) => {
    const { code, out, err } = await this.run(command)
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}\n${err}`)
    return out.trim()
  }
  admin = async (operation: string, body: object = {}) =>
    JSON.parse(await this.must(`berth admin ${operation} '${JSON.stringify(body)}'`))

  /** Starts the controller and the agent of a machine, which is the node `name`. Answers the fleet and its location. */
  static async on(lab: Lab, url: string, name: string) {
    const fleet = new Fleet((command) => lab.run(command), lab.at, url)
    const settings = { PANEL_LISTEN: new URL(url).host, PANEL_DATA_DIR: '/var/lib/berth', PANEL_PUBLIC_URL: url }
    const lines = Object.entries(settings).map(([key, value]) => `${key}="${value}"\n`)
    lab.write('/etc/berth/services', 'berth\nberth-agent\n')
    lab.write('/etc/berth/controller.env', lines.join(''))
    lab.write('/etc/berth/agent.env', '')
    await fleet.must(`${SUPERVISOR} start berth`)
    await eventually(async () => (await lab.run(`curl -sf ${url}/api/v1/status`)).code === 0, 30)
    const { id: locationId } = await fleet.admin('locations.create', { name: 'Here' })
    const { token } = await fleet.admin('nodes.enroll', { locationId })
    await fleet.must(`echo ${token} | berth agent enroll --name ${name} --controller ${url} --token-file -`)
    await fleet.must(`${SUPERVISOR} start`)
    return { fleet, locationId: locationId as string }
  }

  /** Enrols the agent of a machine of its own, whose supervisor runs it. It reaches the controller under its `url`. */
  async addReal(name: string, locationId: string, lab: Lab) {
    const { token } = await this.admin('nodes.enroll', { locationId })
    lab.write('/etc/berth/services', 'berth-agent\n')
    lab.write('/etc/berth/agent.env', '')
    const enroll = `berth agent enroll --name ${name} --controller ${this.url} --token-file -`
    const { code, err } = await lab.run(`echo ${token} | ${enroll} && ${SUPERVISOR} start`)
    if (code !== 0) throw new Error(`the agent of ${name} was not started: ${err}`)
  }

  /** Puts a release where the controller looks for releases. */
  async offer(release: string, version: string) {
    const to = `/var/lib/berth/upgrade/incoming/berth-${version}.release`
    writeFileSync(this.at(`${to}.part`), readFileSync(release))
    await this.must(`chown berth: ${to}.part && mv ${to}.part ${to}`)
  }

  nodes = async (): Promise<Node[]> => (await this.admin('nodes.list')).data
  node = async (name: string) => (await this.nodes()).find((node) => node.name === name)!
  versions = async () => Object.fromEntries((await this.nodes()).map(({ name, agentVersion }) => [name, agentVersion]))
  connected = async () => (await this.nodes()).filter((node) => node.connected).length

  /** The roll-out when this holds, or after the time is over. */
  async until(id: string, holds: (rollOut: RollOut) => boolean, seconds: number): Promise<RollOut> {
    for (const end = Date.now() + seconds * 1000; ; await Bun.sleep(500)) {
      const rollOut: RollOut = await this.admin('roll-outs.get', { id })
      if (holds(rollOut) || Date.now() > end) return rollOut
    }
  }

  /** The updates of the agent on the controller's machine. */
  history = () => readUpgradeHistory(this.at(upgradeFolder('berth-agent')))
}
export const statesOf = ({ members }: RollOut) => Object.fromEntries(members.map(({ name, state }) => [name, state]))
