// A machine becomes a node, stays one, or gets a new credential.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { call, firstOf } from '../controller/admin.ts'
import { panelPort } from '../controller/settings.ts'
import type { Flags } from '../flags.ts'
import { type Machine, place, setting, settingLines, textOf } from '../machine/machine.ts'
import { agentEnv, controllerAuthority, controllerEnv, identityFile, usedToken } from '../machine/paths.ts'
import { Failed } from '../machine/report.ts'
import { BRIDGE } from './bridge.ts'
import { type Identity, identityOf, isOwnController, isSameController } from './identity.ts'

/** `controllerUrl`: where this node finds its controller; without one it stays with the one that it has. */
export type Enrolment = Pick<Flags, 'mode' | 'token' | 'name' | 'ca' | 'pin' | 'uplink' | 'vlans'> & {
  controllerUrl?: string
  bridge: string
}

/** Answers what the line of the step says. Throws `Failed`. */
export function enrol(machine: Machine, wanted: Enrolment): string {
  const identity = identityOf(machine.paths)
  if (identity)
    return hasNewToken(machine, identity, wanted)
      ? renewCredential(machine, identity, wanted)
      : stayEnrolled(machine, identity, wanted)
  const { controllerUrl = '', bridge, mode, name, pin } = wanted
  const token = mode === 'agent' ? (wanted.token ?? '') : newEnrolment(machine, bridge)
  writeAgentSettings(machine, wanted, controllerUrl)
  const called = mode === 'agent' && name ? ['--name', name] : []
  join(machine, token, [
    ...['--controller', controllerUrl, '--bridge', bridge],
    ...(pin ? ['--pin', pin] : []),
    ...called,
    ...uplinkArgs(wanted),
  ])
  noteToken(machine, token)
  return controllerUrl
}

/** The same line may be run again: a token that made this machine a node, or renewed it, does nothing more. */
const digestOf = (token: string) => `${createHash('sha256').update(token).digest('hex')}\n`
const noteToken = (machine: Machine, token: string) => place(machine, usedToken(machine.paths), 0o600, digestOf(token))
const hasNewToken = ({ paths }: Machine, identity: Identity, { mode, token, controllerUrl }: Enrolment) =>
  mode === 'agent' &&
  token !== undefined &&
  (controllerUrl === undefined || isSameController(paths, identity, controllerUrl)) &&
  digestOf(token) !== textOf(usedToken(paths))

/** "Renew credential" in the panel prints its line. The present key agrees to the new one; data, name, place stay. */
function renewCredential(machine: Machine, identity: Identity, wanted: Enrolment): string {
  const { token = '', name, bridge } = wanted
  const pin = wanted.pin ?? identity.pins?.join() ?? ''
  // The bridge that the operator named once, unless this run names another.
  const on = bridge === BRIDGE ? (identity.bridge ?? BRIDGE) : bridge
  writeAgentSettings(machine, wanted, identity.controller)
  const isNew = join(machine, token, [
    ...['--controller', identity.controller, '--bridge', on],
    ...(pin ? ['--pin', pin] : []),
    ...(name ? ['--name', name] : []),
    ...uplinkArgs(wanted),
  ])
  noteToken(machine, token)
  const now = identityOf(machine.paths) ?? identity
  const how = isNew ? 'with a new credential' : 'as before: the token was used already'
  return `node ${now.name}, ${now.nodeId}, of ${now.controller}, ${how}`
}

/** A node keeps its identity. Its controller may have got another address: HTTPS since, or another name. */
function stayEnrolled(machine: Machine, identity: Identity, wanted: Enrolment): string {
  const { mode, token, controllerUrl } = wanted
  const { paths } = machine
  const isElsewhere =
    controllerUrl !== undefined &&
    controllerUrl !== identity.controller &&
    !(mode === 'agent' && isSameController(paths, identity, controllerUrl))
  if (isElsewhere) {
    if (mode === 'agent' && token)
      throw new Failed(
        `This machine is a node of ${identity.controller} already, under the name ${identity.name}.`,
        `If that controller is at ${controllerUrl} now, leave --token-file out. To make this machine a new node: ` +
          './install.sh --uninstall --purge, then this line again.',
      )
    const file = identityFile(paths)
    const moved = { ...JSON.parse(readFileSync(file, 'utf8')), controller: controllerUrl }
    place(machine, file, 0o600, `${JSON.stringify(moved, null, 2)}\n`)
  }
  const { controller, name, nodeId } = identityOf(paths)!
  writeAgentSettings(machine, wanted, controller)
  const uplink = uplinkArgs(wanted)
  // The agent follows it within a minute, without a restart.
  if (uplink.length) machine.exec.run(paths.program as '/', ['agent', 'uplink', ...uplink])
  return `node ${name}, ${nodeId}, of ${controller}`
}

const uplinkArgs = ({ uplink, vlans }: Pick<Enrolment, 'uplink' | 'vlans'>) => [
  ...(uplink ? ['--uplink', uplink] : []),
  ...(vlans ? ['--vlans', vlans] : []),
]

/** Answers false where the token had made this very node before. Throws `Failed` with what the controller said. */
function join(machine: Machine, token: string, args: readonly string[]): boolean {
  const { exec, paths, report } = machine
  const noProxy = Object.fromEntries(
    ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name) => [name, undefined]),
  )
  // The token comes by standard input: every user can read what stands on a command line.
  const { code, out, err } = exec.ask(paths.program as '/', ['agent', 'enroll', ...args, '--token-file', '-'], {
    input: `${token}\n`,
    env: { ...noProxy, ...settingsIn(agentEnv(paths)) },
  })
  report.write(out + err)
  if (code === 0) return true
  const words = err.trimEnd().split('\n').at(-1) ?? ''
  const [refusal = '', ...rest] = words.split(': ')
  // A node of before the used token was noted may be made anew by the line that made it: it does nothing more.
  if (refusal === 'enrollment_not_valid' && identityOf(paths) && !existsSync(usedToken(paths))) return false
  throw new Failed(
    `The controller refused: ${rest.join(': ')}`,
    refusal === 'forbidden'
      ? 'On the controller, ./install.sh --controller --domain NAME gives it HTTPS; then use that address here. In a ' +
          'lab, ./install.sh --controller --insecure there.\n' +
          'After that run the same command again; the token was not used.'
      : 'What is done already is not done twice: run the command again with what it asks for.',
  )
}

/** On plain HTTP by the operator's own choice, which install.sh has checked, or to this machine itself. */
export function writeAgentSettings(machine: Machine, { ca, mode }: Pick<Flags, 'ca' | 'mode'>, controllerUrl: string) {
  const { paths } = machine
  if (ca) place(machine, controllerAuthority(paths), 0o644, readFileSync(ca, 'utf8'))
  const isEncrypted = controllerUrl.startsWith('https:')
  // The agent trusts the authorities that the machine trusts.
  const trusted = existsSync(controllerAuthority(paths))
    ? controllerAuthority(paths)
    : isEncrypted && existsSync(paths.authorities)
      ? paths.authorities
      : undefined
  const hasPanel = mode !== 'agent' || isOwnController(paths, controllerUrl)
  place(
    machine,
    agentEnv(paths),
    0o644,
    settingLines('Written by install.sh. Your own settings go into agent.local.env beside this file.', {
      PANEL_AGENT_INSECURE: isEncrypted ? undefined : '1',
      // The panel of an all-in-one machine: its servers reach no other port of the machine.
      PANEL_AGENT_HOST_PORTS: hasPanel
        ? `80,443,${panelPort(setting(controllerEnv(paths), 'PANEL_LISTEN'))}`
        : undefined,
      NODE_EXTRA_CA_CERTS: trusted,
    }),
  )
}

/** The node of an all-in-one machine joins by itself: the first location is made for it if there is none. */
function newEnrolment(machine: Machine, bridge: string): string {
  const locationId = firstOf(machine, 'locations.list') ?? call(machine, 'locations.create', { name: 'Home' }).id
  return call(machine, 'nodes.enroll', { locationId, bridge }).token
}
