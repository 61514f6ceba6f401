// The line that a person runs on the new machine: it fetches install.sh from the controller and runs it.
import { readFileSync } from 'node:fs'
import { commandLine, quoted } from '../../../agent/protocol/shell-quote.ts'
import type { AppConfig } from '../../kernel/register.ts'

/** The path under which the controller serves install.sh, to everybody. */
export const INSTALLER_PATH = '/install.sh'

/** Names in the directory where the line is run: an install.sh of a checkout stays what it is. */
const SCRIPT = 'berth-install.sh'
const AUTHORITY = 'berth-ca.crt'

/** The network of the new machine as its operator names it; without a name it takes what it finds, or makes. */
export type NodeNetwork = { bridge?: string | null; uplink?: string; vlans?: string }

type Config = Pick<AppConfig, 'publicUrl' | 'agentInsecure' | 'agentCa' | 'agentPins'>

/**
 * Returns a line for a shell. The token comes by standard input: every user of the machine can read what stands on a
 * command line. An authority that the node cannot know (PANEL_AGENT_CA) is in the line itself, so that nothing is
 * fetched from a host that has not proved to be the controller.
 */
export function enrolCommand(config: Config, token: string, network: NodeNetwork = {}): string {
  const { bridge, uplink, vlans } = network
  const { publicUrl, agentInsecure, agentCa, agentPins } = config
  const isEncrypted = publicUrl.startsWith('https:')
  const authority = isEncrypted && agentCa ? authorityIn(agentCa) : undefined
  // Root runs nothing that came in the clear, unless the operator has said that this is a lab.
  const fetches = isEncrypted || agentInsecure
  const trust = [
    ...(authority ? ['--cacert', AUTHORITY] : []),
    ...(agentPins.length ? ['--pinnedpubkey', agentPins.join(';')] : []),
  ]
  const steps = [
    authority && `echo ${Buffer.from(authority).toString('base64')} | base64 -d >${AUTHORITY}`,
    fetches && commandLine('curl', ['-fsS', ...trust, '-o', SCRIPT, publicUrl + INSTALLER_PATH]),
    `printf %s ${quoted(token)} | ${commandLine('sudo', [
      ...(fetches ? ['bash', SCRIPT] : ['./install.sh']),
      '--agent',
      ...['--controller', publicUrl],
      ...(authority ? ['--ca', AUTHORITY] : []),
      ...(agentPins.length ? ['--pin', agentPins.join()] : []),
      ...['--token-file', '-'],
      ...(bridge ? ['--bridge', bridge] : []),
      ...(uplink ? ['--uplink', uplink] : []),
      ...(vlans ? ['--vlans', vlans] : []),
      ...(!isEncrypted && agentInsecure ? ['--insecure'] : []),
    ])}`,
  ]
  return steps.filter((step) => step !== false && step !== undefined).join(' && ')
}

/** The certificates in the file, and nothing else that may lie in it; undefined where there is none. */
function authorityIn(file: string): string | undefined {
  const text = textOf(file)
  const found = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g)
  return found?.map((certificate) => `${certificate}\n`).join('')
}

/** Empty where the file cannot be read: Caddy makes its authority after the controller has started. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
