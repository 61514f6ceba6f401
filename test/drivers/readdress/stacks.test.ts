// The addresses of a running Linux are changed by the agent's command, with the real parts of a system that keep the
// network of a card: at once, after a reboot, and back. ifupdown is tested beside this; the files of older Red Hat
// systems have no package in Debian. BERTH_LONG=1, because the root is made by mmdebstrap.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { note } from '../tools.ts'
import { type BootedGuest, bootedGuest, RESOLVER, type Router, router } from './booted-guest.ts'

setDefaultTimeout(900_000)
const isPossible = process.env['BERTH_LONG'] === '1' && process.getuid?.() === 0 && Bun.which('mmdebstrap')
const isLeftOut = note(
  isPossible ? undefined : 'needs BERTH_LONG=1, root, mmdebstrap',
  'new addresses in booted Linuxes',
)

const OLD = {
  addresses: ['2001:db8:1::2/64', '203.0.113.10/24'],
  gateways: ['203.0.113.1', '2001:db8:1::1'],
}
const NEW = {
  addresses: ['198.51.100.10/24', '198.51.100.11/24', '2001:db8:2::2/64'],
  gateways: ['198.51.100.1', 'fe80::1'],
}
const bare = (list: readonly string[]) => list.map((one) => one.split('/')[0]!)
const change = (to: typeof OLD, from: typeof OLD) => ({
  addresses: [...to.addresses],
  gateways: to.gateways.map((via) => ({
    version: via.includes(':') ? (6 as const) : (4 as const),
    via,
    isOnLink: false,
  })),
  resolvers: [RESOLVER],
  leave: bare(from.addresses),
})

const keyfile = `[connection]
id=Wired
type=ethernet
interface-name=eth0
[ipv4]
method=manual
address1=203.0.113.10/24,203.0.113.1
dns=203.0.113.1;
[ipv6]
method=manual
address1=2001:db8:1::2/64,2001:db8:1::1
`
const networkd = `[Match]
Name=eth0
[Network]
Address=203.0.113.10/24
Gateway=203.0.113.1
Address=2001:db8:1::2/64
Gateway=2001:db8:1::1
DNS=203.0.113.1
IPv6AcceptRA=no
`
const netplan = `network:
  version: 2
  RENDERER
  ethernets:
    eth0:
      addresses: [203.0.113.10/24, '2001:db8:1::2/64']
      routes: [{to: default, via: 203.0.113.1}, {to: '::/0', via: '2001:db8:1::1'}]
      nameservers: {addresses: [203.0.113.1]}
`
const cloudInitNetwork = netplan.replace('network:\n', '').replaceAll(/^ {2}/gm, '').replace('RENDERER\n', '')
const NO_CLOUD = 'var/lib/cloud/seed/nocloud'
const without = { cloudInit: { 'etc/cloud/cloud-init.disabled': '' } }
const managed = { 'etc/NetworkManager/conf.d/other.conf': '[keyfile]\nunmanaged-devices=interface-name:eth0\n' }

const stacks: Readonly<Record<string, { files: Record<string, string>; by: string; enabled?: readonly string[] }>> = {
  'a file of systemd-networkd': {
    files: {
      'etc/systemd/network/20-wired.network': networkd,
      ...managed,
      ...without.cloudInit,
    },
    ...{ by: 'systemd-networkd', enabled: ['systemd-networkd'] },
  },
  'netplan, which tells systemd-networkd': {
    files: {
      'etc/netplan/50-other.yaml': netplan.replace('RENDERER', 'renderer: networkd'),
      ...managed,
      ...without.cloudInit,
    },
    by: 'systemd-networkd',
  },
  'a keyfile of NetworkManager': {
    files: { 'etc/NetworkManager/system-connections/Wired.nmconnection': keyfile, ...without.cloudInit },
    by: 'NetworkManager',
  },
  'netplan, which tells NetworkManager': {
    files: {
      'etc/netplan/50-other.yaml': netplan.replace('RENDERER', 'renderer: NetworkManager'),
      ...without.cloudInit,
    },
    by: 'NetworkManager',
  },
  'the cloud-init of another platform, which wrote for netplan': {
    files: {
      ...managed,
      'etc/cloud/cloud.cfg.d/99-other.cfg': 'datasource_list: [NoCloud, None]\n',
      [`${NO_CLOUD}/meta-data`]: 'instance-id: other-41\nlocal-hostname: shop\n',
      [`${NO_CLOUD}/user-data`]: '#cloud-config\n{}\n',
      [`${NO_CLOUD}/network-config`]: cloudInitNetwork,
    },
    by: 'systemd-networkd',
  },
}

describe.skipIf(isLeftOut)('a booted Linux whose network is kept by', () => {
  let world: Router
  beforeAll(async () => {
    world = await router(['203.0.113.1/24', '198.51.100.1/24', '2001:db8:1::1/64', '2001:db8:2::1/64'])
  })
  afterAll(() => world?.end())

  async function isLive(guest: BootedGuest, seen: typeof OLD) {
    await guest.has(seen)
    for (const target of [RESOLVER, seen.gateways[0]!, '2001:db8::53'])
      expect([target, await guest.reaches(target)]).toEqual([target, true])
  }

  for (const [name, { files, by, enabled }] of Object.entries(stacks))
    test(`${name} has new addresses at once and after a reboot, and the old ones again`, async () => {
      const guest = await bootedGuest(world, files, enabled)
      try {
        await isLive(guest, OLD)
        for (const _ of ['first', 'a second time']) {
          const said = await guest.readdress(change(NEW, OLD))
          if (said) expect(said).toBe(`${by} keeps its addresses.`)
          await isLive(guest, NEW)
          expect(await guest.resolves('shop.example')).toBe(true)
        }
        await guest.reboot()
        await isLive(guest, NEW)
        expect(await guest.resolves('forum.example')).toBe(true)
        await guest.readdress(change(OLD, NEW))
        await isLive(guest, OLD)
        await guest.reboot()
        await isLive(guest, OLD)
      } finally {
        await guest.end()
      }
    })
})
