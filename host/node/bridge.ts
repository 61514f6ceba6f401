// The guests' bridge and their way out. Made at every boot; doing it again changes nothing.
import { existsSync, writeFileSync } from 'node:fs'
import { type Machine, setting } from '../machine/machine.ts'

/** The bridge that is made where the operator names none. */
export const BRIDGE = 'berthbr0'
const TABLE = 'berth_uplink'

export const networkEnv = ({ paths }: Machine) => `${paths.settings}/network.env`

/** `berth host network up|down|is-up`. Answers the exit code. */
export function networkCommand(machine: Machine, [command, ...more]: readonly string[]): number {
  if (more.length === 0 && command === 'up') return saying(() => networkUp(machine))
  else if (more.length === 0 && command === 'down') networkDown(machine)
  else if (more.length === 0 && command === 'is-up') return isNetworkUp(machine) ? 0 : 1
  else {
    console.error('network up|down|is-up')
    return 2
  }
  return 0
}

function saying(work: () => void): number {
  try {
    work()
    return 0
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
}

const settingsOf = (machine: Machine) => ({
  bridge: setting(networkEnv(machine), 'BRIDGE'),
  subnet: setting(networkEnv(machine), 'SUBNET'),
  gateway: setting(networkEnv(machine), 'GATEWAY'),
})

/** Packets that stay inside the subnet keep their address, also where bridged packets pass through the IP rules. */
export const uplinkRules = (subnet: string) => `table ip ${TABLE}
delete table ip ${TABLE}
table ip ${TABLE} {
  chain out {
    type nat hook postrouting priority 100; policy accept;
    ip saddr ${subnet} ip daddr != ${subnet} masquerade
  }
}
`

export function networkUp(machine: Machine) {
  const { exec } = machine
  const { bridge, subnet, gateway } = settingsOf(machine)
  if (!existsSync(`/sys/class/net/${bridge}`))
    exec.run('ip', ['link', 'add', 'name', bridge, 'type', 'bridge', 'stp_state', '0', 'forward_delay', '0'])
  exec.run('ip', ['address', 'replace', `${gateway}/${subnet.split('/')[1]}`, 'dev', bridge])
  exec.run('ip', ['link', 'set', bridge, 'up'])
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1\n')
  exec.run('nft', ['-f', '-'], { input: uplinkRules(subnet) })
  // Docker and some firewalls drop what is forwarded unless a rule of theirs says otherwise.
  if (!/^-P FORWARD DROP$/m.test(exec.ask('iptables', ['-S', 'FORWARD']).out)) return
  for (const way of ['-i', '-o'])
    if (exec.ask('iptables', ['-C', ...forwardRule(way, bridge)]).code !== 0)
      exec.run('iptables', ['-I', ...forwardRule(way, bridge)])
}

const forwardRule = (way: string, bridge: string) => ['FORWARD', way, bridge, '-j', 'ACCEPT']

export function networkDown(machine: Machine) {
  const { exec } = machine
  const { bridge } = settingsOf(machine)
  if (!bridge) return
  exec.ask('nft', ['delete', 'table', 'ip', TABLE])
  for (const way of ['-i', '-o']) exec.ask('iptables', ['-D', ...forwardRule(way, bridge)])
  exec.ask('ip', ['link', 'delete', bridge])
}

export function isNetworkUp(machine: Machine): boolean {
  const { exec } = machine
  const { bridge, gateway } = settingsOf(machine)
  return (
    exec.ask('nft', ['list', 'table', 'ip', TABLE]).code === 0 &&
    exec.ask('ip', ['-4', 'address', 'show', 'dev', bridge, 'up']).out.includes(`inet ${gateway}/`)
  )
}

/** The nth address of a network in CIDR form, counted from its first; negative: from the one behind its last. */
export function addressIn(cidr: string, n: number): string {
  const [address = '', bits = ''] = cidr.split('/')
  const size = 2 ** (32 - Number(bits))
  const value = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
  const found = Math.floor(value / size) * size + (n < 0 ? size + n : n)
  return [24, 16, 8, 0].map((shift) => Math.floor(found / 2 ** shift) % 256).join('.')
}
