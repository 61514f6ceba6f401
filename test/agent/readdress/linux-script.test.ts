// The script that changes the addresses of a running Linux, in small root file systems with this host's shell. It is
// noted for what the programs of a distribution are asked; the files are those that cloud-init and installers write.
// With BusyBox's shell and its own programs it runs in test/drivers/real-guest.test.ts.
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { READDRESS } from '../../../agent/drivers/guest-agent/readdress/linux-script.ts'
import { missing, note } from '../../drivers/tools.ts'

const chroot = Bun.which('chroot')
const lacking = (await missing('busybox', 'ldd')) ?? (chroot && process.getuid?.() === 0 ? undefined : 'not root')
const isLeftOut = note(lacking, 'changing the addresses of a Linux in a root file system')

const MAC = '02:00:00:00:00:0a'
const OLD = '203.0.113.10'
const before = `1: lo    inet 127.0.0.1/8 scope host lo
2: eth0    inet ${OLD}/24 brd 203.0.113.255 scope global eth0
2: eth0    inet6 2001:db8:1::2/64 scope global
2: eth0    inet6 fe80::2/64 scope link`
const asked = {
  addresses: ['198.51.100.10/24', '198.51.100.11/24', '2001:db8:2::2/64'],
  gateways: ['4,198.51.100.1,0', '6,fe80::1,0'],
  resolvers: ['192.0.2.53', '2001:db8::53'],
  leave: [OLD, '2001:db8:1::2'],
}

/** A program that notes its call, and what it does beside that. */
const noting = (name: string, then = '') => `#!/bin/sh\necho "${name} $*" >>/calls\n${then}\n`
const programs = {
  ip: noting('ip', `case "$*" in *"address show"*) cat /addresses ;; *"route del"*) exit 1 ;; esac`),
  nmcli: noting('nmcli', `case "$*" in *--active*) echo 4f0c-uuid:eth0; echo 77aa:eth1 ;; esac`),
  networkctl: noting('networkctl', `case "$*" in *list*) echo "  2 eth0 ether routable configured" ;; esac`),
  sleep: noting('sleep'),
} as const

const trees: string[] = []
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true })
})

/** A root file system with these programs and files. */
function guest(has: readonly (keyof typeof programs)[], files: Readonly<Record<string, string>> = {}) {
  const tree = mkdtempSync(join(tmpdir(), 'berth-guest-'))
  trees.push(tree)
  const put = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(`${tree}/${path}`), { recursive: true })
    writeFileSync(`${tree}/${path}`, text)
  }
  const program = (path: string, from: string) => {
    put(path, readFileSync(from))
    chmodSync(`${tree}/${path}`, 0o755)
  }
  program('bin/busybox', Bun.which('busybox')!)
  // BusyBox's own shell would run its `ip` instead of the one here.
  program('bin/sh', '/bin/sh')
  const { stdout } = Bun.spawnSync(['ldd', '/bin/sh'])
  for (const [library] of stdout.toString().matchAll(/\/\S+\.so\S*/g)) program(library, library)
  for (const applet of ['awk', 'grep', 'mkdir', 'chmod', 'cat']) symlinkSync('busybox', `${tree}/bin/${applet}`)
  put('addresses', before)
  put('dev/null', '')
  for (const name of ['ip', 'sleep', ...has] as const) {
    put(`usr/sbin/${name}`, programs[name])
    chmodSync(`${tree}/usr/sbin/${name}`, 0o755)
  }
  for (const [path, text] of Object.entries(files)) put(path, text)
  return {
    put,
    run({ addresses, gateways, resolvers, leave } = asked) {
      writeFileSync(`${tree}/calls`, '')
      const lists = [addresses, gateways, resolvers, leave].map((list) => list.join(' '))
      const { exitCode, stdout, stderr } = Bun.spawnSync(
        [chroot!, tree, '/bin/sh', '-s', '--', 'eth0', MAC, ...lists],
        { env: {}, stdin: new TextEncoder().encode(READDRESS) },
      )
      const calls = readFileSync(`${tree}/calls`, 'utf8').trim().split('\n')
      return { code: exitCode, said: `${stdout}${stderr}`.trim(), calls }
    },
    read: (path: string) => (existsSync(`${tree}/${path}`) ? readFileSync(`${tree}/${path}`, 'utf8') : undefined),
  }
}

describe.skipIf(isLeftOut)('a running Linux', () => {
  test('where NetworkManager has the card is told by it alone', () => {
    const g = guest(['nmcli', 'networkctl'], { 'etc/network/interfaces': 'iface eth0 inet dhcp\n' })
    const { code, said, calls } = g.run()
    expect([code, said]).toEqual([0, 'by=network_manager'])
    expect(calls).toEqual([
      'nmcli -t -f UUID,DEVICE,NAME connection show --active',
      'nmcli -e no -g ipv4.routes connection show 4f0c-uuid',
      'nmcli -e no -g ipv6.routes connection show 4f0c-uuid',
      'nmcli connection modify 4f0c-uuid ' +
        'ipv4.method manual ipv4.addresses 198.51.100.10/24,198.51.100.11/24 ipv4.gateway 198.51.100.1 ' +
        'ipv4.dns 192.0.2.53 ' +
        'ipv6.method manual ipv6.addresses 2001:db8:2::2/64 ipv6.gateway fe80::1 ipv6.dns 2001:db8::53',
      'nmcli connection up 4f0c-uuid',
    ])
    expect(g.read('etc/network/interfaces')).toBe('iface eth0 inet dhcp\n')
  })

  test('that NetworkManager refuses is left as it is', () => {
    const g = guest(['nmcli'], { 'etc/network/interfaces': 'iface eth0 inet dhcp\n' })
    g.put('usr/sbin/nmcli', noting('nmcli', 'case "$*" in *modify*) exit 4 ;; *show*) echo 4f0c:eth0 ;; esac'))
    const { code, calls } = g.run()
    expect([code, calls.length]).toEqual([1, 4])
    expect(g.read('etc/network/interfaces')).toBe('iface eth0 inet dhcp\n')
  })

  test('loses the old gateways that netplan gave NetworkManager as routes, and keeps its other routes', () => {
    const g = guest(['nmcli'])
    const routes =
      'case "$*" in *ipv4.routes*) echo "0.0.0.0/0 203.0.113.1, 10.0.0.0/8 203.0.113.9" ;; ' +
      '*ipv6.routes*) echo "::/0 2001:db8:1::1" ;; *"connection show"*) echo 4f0c:eth0 ;; esac'
    g.put('usr/sbin/nmcli', noting('nmcli', routes))
    const { code, calls } = g.run()
    expect(code).toBe(0)
    expect(calls[3]).toContain('ipv4.dns 192.0.2.53 ipv4.routes 10.0.0.0/8 203.0.113.9 ipv6.method')
    expect(calls[3]).toEndWith('ipv6.dns 2001:db8::53 ipv6.routes ')
  })

  test('where netplan tells NetworkManager gets a connection of its own, which netplan does not make anew', () => {
    const g = guest(['nmcli'])
    const answers =
      'case "$*" in *--active*) echo 4f0c:eth0:netplan-eth0 ;; *connection.uuid*) echo 91ab ;; *delete*) exit 10; esac'
    g.put('usr/sbin/nmcli', noting('nmcli', answers))
    const { code, said, calls } = g.run()
    expect([code, said]).toEqual([0, 'by=network_manager'])
    expect(calls[2]).toBe('nmcli connection clone 4f0c addresses-eth0')
    const changed = calls.find((call) => call.includes('modify'))
    expect(changed).toStartWith(
      'nmcli connection modify 91ab connection.autoconnect yes connection.autoconnect-priority 100 ipv4.method manual',
    )
    expect(calls.at(-1)).toBe('nmcli connection up 91ab')
  })

  test('without IPv6 addresses is told that it has none', () => {
    const g = guest(['nmcli'])
    const { calls } = g.run({ ...asked, addresses: ['198.51.100.10/24'], gateways: ['4,198.51.100.1,0'] })
    expect(calls[3]).toContain('ipv6.method link-local ipv6.addresses  ipv6.gateway  ipv6.dns')
  })

  test('where systemd-networkd has the card, also by netplan, gets a file that comes before all others', () => {
    const netplan = 'network: {version: 2}\n'
    const g = guest(['networkctl'], { 'etc/netplan/50-cloud-init.yaml': netplan })
    for (const _ of [1, 2]) {
      const { code, said, calls } = g.run({ ...asked, gateways: ['4,192.0.2.1,1', '6,fe80::1,0'] })
      expect([code, said]).toEqual([0, 'by=networkd'])
      expect(calls).toContain('networkctl reload')
      expect(calls).toContain('networkctl reconfigure eth0')
      expect(calls).toContain(`ip address del ${OLD}/24 dev eth0`)
    }
    expect(
      g.read('etc/systemd/network/05-addresses-eth0.network'),
    ).toBe(`# Written when the addresses of this server changed.
[Match]
MACAddress=${MAC}
[Network]
DHCP=no
IPv6AcceptRA=no
Address=198.51.100.10/24
Address=198.51.100.11/24
Address=2001:db8:2::2/64
DNS=192.0.2.53
DNS=2001:db8::53
[Route]
Gateway=192.0.2.1
GatewayOnLink=yes
[Route]
Gateway=fe80::1
`)
    expect(g.read('etc/netplan/50-cloud-init.yaml')).toBe(netplan)
  })

  test('with ifupdown has its own stanzas replaced, in every file, and those of other cards kept', () => {
    const g = guest([], {
      'etc/network/interfaces': `source /etc/network/interfaces.d/*
auto lo
iface lo inet loopback
auto eth1
iface eth1 inet static
    address 10.20.0.5/24
`,
      'etc/network/interfaces.d/50-cloud-init': `auto eth0
iface eth0 inet static
    address ${OLD}/24
    gateway 203.0.113.1

auto eth0:0
iface eth0:0 inet static
    address 203.0.113.11/24

iface eth0 inet6 static
    address 2001:db8:1::2/64
iface eth00 inet manual
`,
    })
    for (const _ of [1, 2]) expect(g.run()).toMatchObject({ code: 0, said: 'by=ifupdown' })
    expect(g.read('etc/network/interfaces.d/50-cloud-init')).toBe('auto eth0\niface eth00 inet manual\n')
    expect(g.read('etc/network/interfaces')).toBe(`source /etc/network/interfaces.d/*
auto lo
iface lo inet loopback
auto eth1
iface eth1 inet static
    address 10.20.0.5/24
iface eth0 inet static
    # Written when the addresses of this server changed.
    address 198.51.100.10/24
    gateway 198.51.100.1
    dns-nameservers 192.0.2.53
iface eth0 inet static
    # Written when the addresses of this server changed.
    address 198.51.100.11/24
iface eth0 inet6 static
    # Written when the addresses of this server changed.
    address 2001:db8:2::2/64
    gateway fe80::1
    dns-nameservers 2001:db8::53
`)
  })

  test('with the scripts of older Red Hat systems keeps what else its file says', () => {
    const file = 'etc/sysconfig/network-scripts/ifcfg-eth0'
    const g = guest([], {
      [file]:
        `DEVICE=eth0\nBOOTPROTO=none\nHWADDR=${MAC}\nIPADDR=${OLD}\nNETMASK=255.255.255.0\nMTU=1450\n` +
        'GATEWAY=203.0.113.1\n',
    })
    for (const _ of [1, 2]) expect(g.run()).toMatchObject({ code: 0, said: 'by=sysconfig' })
    expect(g.read(file)).toBe(
      `DEVICE=eth0\nHWADDR=${MAC}\nMTU=1450\nBOOTPROTO=none\nIPADDR0=198.51.100.10\nPREFIX0=24\n` +
        'IPADDR1=198.51.100.11\nPREFIX1=24\nGATEWAY=198.51.100.1\nIPV6INIT=yes\nIPV6_AUTOCONF=no\n' +
        'IPV6ADDR=2001:db8:2::2/64\nIPV6_DEFAULTGW=fe80::1\nDNS1=192.0.2.53\nDNS2=2001:db8::53\n',
    )
  })

  const OFF = 'etc/cloud/cloud.cfg.d/99-network-by-berth.cfg'
  const cloudInit = (instance: string) => ({
    'etc/cloud/cloud.cfg.d/90_dpkg.cfg': 'datasource_list: [ NoCloud, None ]\n',
    'var/lib/cloud/data/instance-id': `${instance}\n`,
  })
  for (const [keeper, has] of [
    ['NetworkManager', ['nmcli']],
    ['systemd-networkd', ['networkctl']],
    ['ifupdown', []],
  ] as const)
    test(`with ${keeper} and a cloud-init of another platform is not given its network by that any more`, () => {
      const g = guest(has, { ...cloudInit('41'), 'etc/network/interfaces': 'iface eth0 inet dhcp\n' })
      for (const _ of [1, 2]) expect(g.run().code).toBe(0)
      expect(g.read(OFF)).toBe('network: {config: disabled}\n')
    })

  test('with a cloud-init that has its network from a seed of ours goes on taking it from the next one', () => {
    const g = guest(['networkctl'], cloudInit('job_01m8exkvvje8xtbtt9baye1ptr'))
    expect(g.run()).toMatchObject({ code: 0, said: 'by=networkd' })
    expect(g.read(OFF)).toBeUndefined()
  })

  test('without cloud-init gets no file of it', () => {
    const g = guest(['networkctl'])
    expect(g.run().code).toBe(0)
    expect(g.read(OFF)).toBeUndefined()
  })

  test('of which nobody is known to keep the network has the addresses until its next boot', () => {
    const g = guest([])
    const { code, said, calls } = g.run({ ...asked, gateways: ['4,192.0.2.1,1'] })
    expect([code, said]).toEqual([0, 'by=until_boot'])
    const first = calls.indexOf('ip address add 198.51.100.10/24 dev eth0')
    const gone = calls.indexOf(`ip address del ${OLD}/24 dev eth0`)
    expect(first >= 0 && first < gone).toBe(true)
    expect(calls).toContain('ip address del 2001:db8:1::2/64 dev eth0')
    expect(calls.filter((call) => /del (127|fe80)/.test(call))).toEqual([])
    // Those of its network go with an address.
    expect(calls.lastIndexOf('ip address add 198.51.100.10/24 dev eth0')).toBeGreaterThan(gone)
    expect(calls.slice(-3)).toEqual([
      'ip -4 route replace 192.0.2.1 dev eth0',
      'ip -4 route replace default via 192.0.2.1 dev eth0',
      'ip -6 route del default dev eth0',
    ])
  })
})
