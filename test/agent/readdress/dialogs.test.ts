// The dialog with the guest agent of a guest that changes its addresses, as QEMU's guest agent words it.
import { expect, test } from 'bun:test'
import { readdress } from '../../../agent/commands/vms/readdress.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { LibvirtGuestAgent, type Virsh } from '../../../agent/drivers/guest-agent/libvirt.ts'
import type { Host } from '../../../agent/host/host.ts'

const workload = 'srv_00000000000000000000000001'
const MAC = '02:00:00:00:00:0a'
const [OLD, NEW] = ['203.0.113.10', '198.51.100.10']
const input = {
  ...{ workload, mac: MAC, leave: [OLD], resolvers: ['192.0.2.53'] },
  addresses: [`${NEW}/24`, '2001:db8:2::2/64'],
  gateways: [
    { version: 4, via: '198.51.100.1', isOnLink: false },
    { version: 6, via: 'fe80::1', isOnLink: false },
  ],
} as const

const base64 = (text: string) => Buffer.from(text).toString('base64')
type Question = { execute: string; arguments?: { path: string; arg: string[] } }
type Guest = {
  /** `guest-get-osinfo` */
  os: object
  name: string
  /** The output of its programs, and the code with which they end. */
  ran?: { code: number; out: string }
  /** It does what it is told. */
  obeys?: boolean
}
/** A guest behind libvirt, with the programs that it was told to run. */
function guestThat({ os, name, ran = { code: 0, out: '' }, obeys = true }: Guest, power = 'running') {
  const started: string[][] = []
  let addresses = [OLD, 'fe80::c00:ff:fe00:a']
  const answer = ({ execute, arguments: given }: Question): unknown => {
    if (execute === 'guest-info') return { version: '7.2.0', supported_commands: [] }
    if (execute === 'guest-get-host-name') return { 'host-name': 'WIN-1' }
    if (execute === 'guest-get-osinfo') return os
    if (execute === 'guest-network-get-interfaces')
      return [
        { name: 'lo', 'hardware-address': '00:00:00:00:00:00', 'ip-addresses': [] },
        {
          name,
          'hardware-address': MAC,
          'ip-addresses': addresses.map((one) => ({
            'ip-address-type': one.includes(':') ? 'ipv6' : 'ipv4',
            'ip-address': one,
            prefix: one.includes(':') ? 64 : 24,
          })),
          statistics: { 'rx-bytes': 1 },
        },
      ]
    if (execute === 'guest-exec') {
      started.push([given!.path, ...given!.arg])
      if (obeys) addresses = [NEW, '2001:db8:2::2', 'fe80::c00:ff:fe00:a']
      return { pid: 4711 }
    }
    if (execute === 'guest-exec-status')
      return { exited: true, exitcode: 0, 'out-data': base64(ran.out), 'err-data': base64(`${ran.code}\n`) }
    throw new Error(`nobody asks for ${execute}`)
  }
  const virsh: Virsh = async (line) => {
    const question = JSON.parse(/'(.*)'\n$/.exec(line)![1]!) as Question
    return { out: `${JSON.stringify({ return: answer(question) })}\n`, err: '' }
  }
  // A node without rules for it announces nothing.
  const state = { portRulesOf: () => undefined }
  const hypervisor = { power: async () => power }
  const host = { hypervisor, state, guestAgent: new LibvirtGuestAgent(virsh) } as unknown as Host
  return { host, started, virsh }
}
const lines: string[] = []
const log = { line: (level: string, text: string) => void lines.push(`${level}: ${text}`), progress: () => {} }
const ask = async (host: Host) => {
  lines.length = 0
  return loggingTo(log, () => readdress['guest.readdress'](structuredClone(input) as any, host))
}

const windows = {
  os: {
    ...{ name: 'Microsoft Windows', 'kernel-release': '20348', version: 'Microsoft Windows Server 2022' },
    ...{
      variant: 'server',
      'pretty-name': 'Windows Server 2022 Standard',
      'version-id': '2022',
      'variant-id': 'server',
    },
    ...{ 'kernel-version': '10.0', machine: 'x86_64', id: 'mswindows' },
  },
  name: 'Ethernet Instance 0',
}
const linux = {
  os: {
    ...{ name: 'Debian GNU/Linux', 'kernel-release': '6.1.0-18-amd64', version: '12 (bookworm)', id: 'debian' },
    ...{ 'pretty-name': 'Debian GNU/Linux 12 (bookworm)', 'version-id': '12', machine: 'x86_64' },
  },
  name: 'eth0',
}

test('Windows is told by one script of PowerShell, and says afterwards that it has done so', async () => {
  const { host, started } = guestThat(windows)
  expect(await ask(host)).toEqual({ guest: 'applied', os: 'windows' })
  expect(started).toHaveLength(1)
  const [program, ...args] = started[0]!
  expect([program, args.slice(0, -1)]).toEqual(['powershell.exe', ['-NoProfile', '-NonInteractive', '-EncodedCommand']])
  expect(Buffer.from(args.at(-1)!, 'base64').toString('utf16le').split('\n')).toEqual([
    "$ErrorActionPreference = 'Stop'",
    "$card = Get-NetAdapter | Where-Object MacAddress -eq '02-00-00-00-00-0A'",
    "if (-not $card) { throw 'no such card' }",
    '$at = $card.ifIndex',
    'Set-NetIPInterface -InterfaceIndex $at -AddressFamily IPv4 -Dhcp Disabled',
    'Set-NetIPInterface -InterfaceIndex $at -AddressFamily IPv6 -Dhcp Disabled -RouterDiscovery Disabled',
    "$leave = @('203.0.113.10')",
    'Get-NetIPAddress -InterfaceIndex $at | Where-Object { $leave -contains $_.IPAddress } | ' +
      'Remove-NetIPAddress -Confirm:$false',
    "Get-NetRoute -InterfaceIndex $at | Where-Object { '0.0.0.0/0', '::/0' -contains $_.DestinationPrefix } | " +
      'Remove-NetRoute -Confirm:$false',
    "if (-not (Get-NetIPAddress -InterfaceIndex $at | Where-Object IPAddress -eq '198.51.100.10')) " +
      "{ New-NetIPAddress -InterfaceIndex $at -IPAddress '198.51.100.10' -PrefixLength 24 | Out-Null }",
    "if (-not (Get-NetIPAddress -InterfaceIndex $at | Where-Object IPAddress -eq '2001:db8:2::2')) " +
      "{ New-NetIPAddress -InterfaceIndex $at -IPAddress '2001:db8:2::2' -PrefixLength 64 | Out-Null }",
    "New-NetRoute -InterfaceIndex $at -DestinationPrefix '0.0.0.0/0' -NextHop '198.51.100.1' | Out-Null",
    "New-NetRoute -InterfaceIndex $at -DestinationPrefix '::/0' -NextHop 'fe80::1' | Out-Null",
    "Set-DnsClientServerAddress -InterfaceIndex $at -ServerAddresses @('192.0.2.53')",
  ])
  // Asked again, it is as it should be, and nothing is run.
  expect(await ask(host)).toEqual({ guest: 'applied', os: 'windows' })
  expect(started).toHaveLength(1)
})

test('Linux is told by one script of its shell, with the addresses as parameters', async () => {
  const { host, started } = guestThat({ ...linux, ran: { code: 0, out: 'Connection activated\nby=network_manager\n' } })
  expect(await ask(host)).toEqual({ guest: 'applied', os: 'linux' })
  expect(started).toHaveLength(1)
  expect(started[0]!.slice(-6)).toEqual([
    ...['eth0', MAC, `${NEW}/24 2001:db8:2::2/64`, '4,198.51.100.1,0 6,fe80::1,0', '192.0.2.53', OLD],
  ])
  expect(lines).toEqual(['info: NetworkManager keeps its addresses.'])
})

test('what lasts until the next boot is said', async () => {
  const { host } = guestThat({ ...linux, ran: { code: 0, out: 'by=until_boot\n' } })
  expect(await ask(host)).toEqual({ guest: 'applied', os: 'linux' })
  expect(lines.join()).toMatch(/^warning: .*until its next boot/)
})

test('a guest that says that it has done so, and has not, is not believed', async () => {
  const { host } = guestThat({ ...linux, ran: { code: 0, out: 'by=networkd\n' }, obeys: false })
  expect(await ask(host)).toEqual({ guest: 'refused', os: 'linux' })
  expect(lines.join()).toMatch(/its card does not have the addresses/)
})

test('a script that fails, or an interface with a name that Linux does not give, is a refusal', async () => {
  const failing = guestThat({ ...linux, ran: { code: 1, out: 'Error: <b>\u001b[31mno</b>\n' }, obeys: false })
  expect(await ask(failing.host)).toEqual({ guest: 'refused', os: 'linux' })
  expect(lines.join()).toMatch(/its script ended with 1: Error: <b>/)
  expect(lines.join()).not.toContain('\u001b')
  const hostile = guestThat({ ...linux, name: 'eth0; reboot', obeys: false })
  expect(await ask(hostile.host)).toEqual({ guest: 'refused', os: 'linux' })
  expect(hostile.started).toEqual([])
})

test('a guest whose agent may not run programs says so, with the lines to run by hand', async () => {
  const { host, virsh, started } = guestThat(linux)
  const blocked: Virsh = async (line, seconds) =>
    line.includes('"guest-exec"')
      ? {
          out: '',
          err:
            "error: internal error: unable to execute QEMU agent command 'guest-exec': " +
            'Command guest-exec has been disabled: the command is not allowed',
        }
      : virsh(line, seconds)
  expect(await ask({ ...host, guestAgent: new LibvirtGuestAgent(blocked) } as Host)).toEqual({
    ...{ guest: 'refused', os: 'linux' },
  })
  expect(started).toEqual([])
  const connection = '"$(nmcli -g GENERAL.CONNECTION device show eth0)"'
  expect(lines.slice(0, 3)).toEqual([
    'warning: Its guest agent may not run programs. Run these lines inside, as root, such as in the console:',
    `warning: nmcli connection modify ${connection} ipv4.method 'manual' ipv4.addresses '${NEW}/24' ` +
      "ipv4.gateway '198.51.100.1' ipv4.dns '192.0.2.53' ipv6.method 'manual' ipv6.addresses '2001:db8:2::2/64' " +
      "ipv6.gateway 'fe80::1' ipv6.dns ''",
    `warning: nmcli connection up ${connection}`,
  ])
})

test('a server that is off is not asked, and one without a guest agent is silent', async () => {
  expect(await ask(guestThat(linux, 'stopped').host)).toEqual({ guest: 'off', os: null })
  const { host } = guestThat(linux)
  const silent: Virsh = async () => ({ out: '', err: 'error: Guest agent is not responding: not connected' })
  expect(await ask({ ...host, guestAgent: new LibvirtGuestAgent(silent) } as Host)).toEqual({
    guest: 'silent',
    os: null,
  })
})
