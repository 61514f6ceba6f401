// The policy of a server's port as its node gets it: the server's firewall with the shared ones, and the limits of its
// package.
import type { PortPolicy } from '../../../agent/protocol/firewall.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { settingValue, switchSetting, wholeSetting } from '../../kernel/setting.ts'
import { type ServerFirewall, serverFirewall, sharedOn } from './queries.ts'
import { letsSshIn, onNode, type StoredRule } from './rule.ts'

const LATER =
  'A change reaches the servers by itself, a thousand of them within half a minute, and those of a node that is away ' +
  'when it is back.'
export const closesSmtp = switchSetting({
  name: 'firewalls.close_smtp',
  title: 'Mail from servers is closed',
  words: `Servers cannot connect to TCP port 25, except those that staff or their package allow. ${LATER}`,
  weakens: 'never',
  default: true,
})
export const closesSubmission = switchSetting({
  name: 'firewalls.close_submission',
  title: 'Mail submission is closed too',
  words: `The same for TCP ports 465 and 587, on which customers use mail accounts elsewhere. ${LATER}`,
  weakens: 'never',
  default: false,
})
export const newConnections = wholeSetting({
  name: 'firewalls.new_connections',
  title: 'New connections per server',
  words: `New TCP connections that a server may open per second, unless its package sets another limit. ${LATER}`,
  weakens: 'never',
  default: 500,
  minimum: 1,
  maximum: 1_000_000,
  unit: 'a second',
})
export const packets = wholeSetting({
  name: 'firewalls.packets',
  title: 'Packets per server',
  words: `Packets that a server may send per second, unless its package sets another limit. ${LATER}`,
  weakens: 'never',
  default: 200_000,
  minimum: 100,
  maximum: 100_000_000,
  unit: 'a second',
})
export const firewallSettings = [closesSmtp, closesSubmission, newConnections, packets]

/** The rules of the server's own firewall and, after them, of the shared ones. */
export const rulesOn = (tx: Db, { id, rules }: Pick<ServerFirewall, 'id' | 'rules'>): StoredRule[] => [
  ...rules,
  ...sharedOn(tx, id).flatMap((shared) => shared.rules),
]

/** Can anybody begin an SSH connection to the server? */
export function isSshOpen(tx: Db, serverId: string): boolean {
  const firewall = serverFirewall(tx, serverId)
  return !firewall.enabled || letsSshIn(rulesOn(tx, firewall), firewall.defaultIn)
}

/** May the server connect to mail servers? */
export const isSmtpAllowed = (tx: Db, { id, packageId }: { id: string; packageId: string }): boolean =>
  serverFirewall(tx, id).smtpAllowed ?? packageById(tx, packageId)?.smtpAllowed ?? false

/** The limits of a package's servers, by itself and the settings. `mailPorts` are open where SMTP is allowed. */
export function limitsOf(tx: Db, sold: ReturnType<typeof packageById>) {
  return {
    smtpAllowed: sold?.smtpAllowed ?? false,
    mailPorts: [
      ...(settingValue(tx, closesSmtp) ? [25] : []),
      ...(settingValue(tx, closesSubmission) ? [465, 587] : []),
    ],
    newConnectionsPerSecond: sold?.newConnectionsPerSecond ?? settingValue(tx, newConnections),
    packetsPerSecond: sold?.packetsPerSecond ?? settingValue(tx, packets),
  }
}

/** The policy of a server at this moment. */
export function policyOf(tx: Db, server: { id: string; packageId: string }): PortPolicy {
  const firewall = serverFirewall(tx, server.id)
  const { smtpAllowed, mailPorts, ...rates } = limitsOf(tx, packageById(tx, server.packageId))
  return {
    revision: firewall.revision,
    closedPorts: (firewall.smtpAllowed ?? smtpAllowed) ? [] : mailPorts,
    ...rates,
    firewall: firewall.enabled
      ? { in: firewall.defaultIn, out: firewall.defaultOut, rules: rulesOn(tx, firewall).map(onNode) }
      : null,
  }
}
