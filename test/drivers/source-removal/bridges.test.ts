// Is a bridge of servers defined in the node's own network settings, and do the commands that are printed define it?
import { describe, expect, test } from 'bun:test'
import { OURS } from '../../support/source-removal/installations.ts'
import { type Machine, noMachines, scopeOf, withMachine } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'

const BRIDGE = 'viifbr0'
const scope = scopeOf('virtualizor')

type Case = {
  title: string
  files: Record<string, string>
  /** The file that counts; null: none, with the words of the reason. */
  definedIn: string | null
  why?: string
  modes?: Record<string, number>
  enabled?: string[]
}
const IFUP = { '/usr/sbin/ifup': '' }
const NETPLAN = { '/usr/sbin/netplan': '' }
const INIT = { '/etc/init.d/network': '#!/bin/sh\n' }
const netplanOf = (body: string) => `network:\n  version: 2\n  bridges:\n    ${BRIDGE}:\n${body}`
const scripts = '/etc/sysconfig/network-scripts'
const keyfiles = '/etc/NetworkManager/system-connections'
const networkd = '/etc/systemd/network'

const cases: Case[] = [
  { title: 'nothing says anything', files: {}, definedIn: null, why: 'no network settings of this node define it' },
  {
    title: 'netplan defines it',
    files: { ...NETPLAN, '/etc/netplan/01-net.yaml': netplanOf('      interfaces: [eno1]\n      dhcp4: true\n') },
    definedIn: '/etc/netplan/01-net.yaml',
  },
  {
    title: 'netplan defines it in one file and gives it ports in another',
    files: {
      ...NETPLAN,
      '/etc/netplan/01-net.yaml': netplanOf('      dhcp4: true\n'),
      '/etc/netplan/90-ports.yaml': netplanOf('      interfaces: [eno1]\n'),
    },
    definedIn: '/etc/netplan/90-ports.yaml',
  },
  {
    title: 'netplan defines it, and is not installed',
    files: { '/etc/netplan/01-net.yaml': netplanOf('      interfaces: [eno1]\n') },
    definedIn: null,
    why: 'but netplan is not installed',
  },
  {
    title: 'netplan defines it without a port, and it has one now',
    files: { ...NETPLAN, '/etc/netplan/01-net.yaml': netplanOf('      dhcp4: true\n') },
    definedIn: null,
    why: 'without a port, and it has eno1 now',
  },
  {
    title: 'netplan has it in a comment and in a file that it does not read',
    files: {
      ...NETPLAN,
      '/etc/netplan/01-net.yaml':
        `network:\n  version: 2\n  # bridges: {${BRIDGE}: {}}\n` + '  ethernets: {eno1: {dhcp4: true}}\n',
      '/etc/netplan/02-net.yaml.bak': netplanOf('      interfaces: [eno1]\n'),
    },
    definedIn: null,
  },
  {
    title: 'netplan cannot read its file',
    files: { ...NETPLAN, '/etc/netplan/01-net.yaml': `network: {bridges: {${BRIDGE}: {interfaces: [eno1]}` },
    definedIn: null,
  },
  {
    title: '/etc/network/interfaces defines it',
    files: { ...IFUP, '/etc/network/interfaces': `auto ${BRIDGE}\niface ${BRIDGE} inet dhcp\n  bridge_ports eno1\n` },
    enabled: ['networking'],
    definedIn: '/etc/network/interfaces',
  },
  {
    title: 'a file that /etc/network/interfaces names defines it',
    files: {
      ...IFUP,
      '/etc/network/interfaces': 'source /etc/network/interfaces.d/*\n',
      '/etc/network/interfaces.d/br':
        `allow-hotplug ${BRIDGE}\niface ${BRIDGE} inet static\n` + '\tbridge-ports eno1 \\\n\t  eno2\n',
    },
    enabled: ['networking'],
    definedIn: '/etc/network/interfaces.d/br',
  },
  {
    title: 'a folder that /etc/network/interfaces names defines it, by a command',
    files: {
      ...IFUP,
      '/etc/network/interfaces': 'source-directory interfaces.d\n',
      '/etc/network/interfaces.d/br':
        `auto ${BRIDGE}\niface ${BRIDGE} inet manual\n  bridge_ports eno1\n` +
        `  pre-up ip link add ${BRIDGE} type bridge\n`,
    },
    enabled: ['networking'],
    definedIn: '/etc/network/interfaces.d/br',
  },
  {
    title: 'a file defines it that /etc/network/interfaces does not name',
    files: {
      ...IFUP,
      '/etc/network/interfaces': 'auto lo\niface lo inet loopback\n',
      '/etc/network/interfaces.d/br': `auto ${BRIDGE}\niface ${BRIDGE} inet dhcp\n  bridge_ports eno1\n`,
    },
    enabled: ['networking'],
    definedIn: null,
  },
  {
    title: '/etc/network/interfaces defines it, and does not bring it up',
    files: { ...IFUP, '/etc/network/interfaces': `iface ${BRIDGE} inet dhcp\n  bridge_ports eno1\n` },
    enabled: ['networking'],
    definedIn: null,
  },
  {
    title: '/etc/network/interfaces defines it, and the service is not enabled',
    files: { ...IFUP, '/etc/network/interfaces': `auto ${BRIDGE}\niface ${BRIDGE} inet dhcp\n  bridge_ports eno1\n` },
    definedIn: null,
    why: 'but the service networking is not enabled',
  },
  {
    title: 'network-scripts define it',
    files: {
      ...INIT,
      [`${scripts}/ifcfg-${BRIDGE}`]: `DEVICE="${BRIDGE}"\nTYPE='Bridge'\nONBOOT=yes\n`,
      [`${scripts}/ifcfg-eno1`]: `DEVICE=eno1\nBRIDGE=${BRIDGE} # the bridge\n`,
    },
    enabled: ['network'],
    definedIn: `${scripts}/ifcfg-${BRIDGE}`,
  },
  {
    title: 'NetworkManager reads network-scripts that define it',
    files: {
      '/usr/lib64/NetworkManager/1.18/libnm-settings-plugin-ifcfg-rh.so': '',
      [`${scripts}/ifcfg-${BRIDGE}`]: 'TYPE=Bridge\n',
      [`${scripts}/ifcfg-eno1`]: `BRIDGE=${BRIDGE}\n`,
    },
    enabled: ['NetworkManager'],
    definedIn: `${scripts}/ifcfg-${BRIDGE}`,
  },
  {
    title: 'network-scripts do not bring it up',
    files: {
      ...INIT,
      [`${scripts}/ifcfg-${BRIDGE}`]: `DEVICE=${BRIDGE}\nTYPE=Bridge\nONBOOT=no\n`,
      [`${scripts}/ifcfg-${BRIDGE}.bak`]: `DEVICE=${BRIDGE}\nTYPE=Bridge\nONBOOT=yes\n`,
    },
    enabled: ['network'],
    definedIn: null,
  },
  {
    title: 'network-scripts define it, and nothing reads them',
    files: { [`${scripts}/ifcfg-${BRIDGE}`]: `TYPE=Bridge\n`, [`${scripts}/ifcfg-eno1`]: `BRIDGE=${BRIDGE}\n` },
    enabled: ['NetworkManager'],
    definedIn: null,
    why: 'neither the service network nor NetworkManager reads network-scripts',
  },
  {
    title: 'systemd-networkd defines it',
    files: {
      [`${networkd}/br.netdev`]: `[NetDev]\nName=${BRIDGE}\nKind=bridge\n`,
      [`${networkd}/eno1.network`]: `[Match]\nName=eno1\n\n[Network]\nBridge=${BRIDGE}\n`,
    },
    enabled: ['systemd-networkd'],
    definedIn: `${networkd}/br.netdev`,
  },
  {
    title: 'systemd-networkd has an empty file in place of the one that defines it',
    files: {
      [`/usr/lib/systemd/network/br.netdev`]: `[NetDev]\nName=${BRIDGE}\nKind=bridge\n`,
      [`${networkd}/br.netdev`]: '',
    },
    enabled: ['systemd-networkd'],
    definedIn: null,
  },
  {
    title: 'a keyfile of NetworkManager defines it',
    files: {
      [`${keyfiles}/br.nmconnection`]: `[connection]\nid=bridge\nuuid=u-1\ntype=bridge\ninterface-name=${BRIDGE}\n`,
      [`${keyfiles}/port`]:
        '[connection]\nid=port\ntype=ethernet\ninterface-name=eno1\nmaster=u-1\nslave-type=bridge\n',
    },
    modes: { [`${keyfiles}/br.nmconnection`]: 0o600, [`${keyfiles}/port`]: 0o600 },
    enabled: ['NetworkManager'],
    definedIn: `${keyfiles}/br.nmconnection`,
  },
  {
    title: 'a keyfile that others can read counts for nothing',
    files: { [`${keyfiles}/br.nmconnection`]: `[connection]\ntype=bridge\ninterface-name=${BRIDGE}\n` },
    modes: { [`${keyfiles}/br.nmconnection`]: 0o644 },
    enabled: ['NetworkManager'],
    definedIn: null,
  },
  {
    title: 'a keyfile that does not connect by itself',
    files: {
      [`${keyfiles}/br.nmconnection`]: `[connection]\ntype=bridge\ninterface-name=${BRIDGE}\nautoconnect=false\n`,
    },
    modes: { [`${keyfiles}/br.nmconnection`]: 0o600 },
    enabled: ['NetworkManager'],
    definedIn: null,
  },
]

/** Where a host keeps its network, without the bridge: the address lies on the card. */
const hosts: (Case & { settings: string; after: string[] })[] = [
  {
    title: 'netplan',
    settings: 'netplan',
    files: {
      ...NETPLAN,
      '/etc/netplan/50-cloud-init.yaml':
        'network:\n  version: 2\n  ethernets:\n    eno1:\n      addresses: [203.0.113.21/25]\n' +
        '      routes: [{to: default, via: 203.0.113.1}]\n      match: {macaddress: "02:00:00:00:00:01"}\n',
    },
    definedIn: '/etc/netplan/50-cloud-init.yaml',
    after: ['203.0.113.21/25', 'via: 203.0.113.1', 'macaddress: "?02:00:00:00:00:01'],
  },
  {
    title: 'netplan without a word of the card',
    settings: 'netplan',
    files: { ...NETPLAN, '/etc/netplan/01-other.yaml': 'network: {version: 2, ethernets: {eno9: {dhcp4: true}}}\n' },
    definedIn: `/etc/netplan/60-${BRIDGE}.yaml`,
    after: ['203.0.113.99/24', 'eno1'],
  },
  {
    title: '/etc/network/interfaces',
    settings: '/etc/network/interfaces',
    files: {
      ...IFUP,
      '/etc/network/interfaces':
        '# by the installer\nauto lo\niface lo inet loopback\n\nauto eno1\niface eno1 inet static\n' +
        '    address 203.0.113.21/25\n    gateway 203.0.113.1\n    up ethtool -K eno1 tso off\n',
    },
    enabled: ['networking'],
    definedIn: '/etc/network/interfaces',
    after: [
      '# by the installer',
      `iface ${BRIDGE} inet static\n    address 203.0.113.21/25`,
      'iface eno1 inet manual\n    up',
    ],
  },
  {
    title: 'network-scripts',
    settings: 'network-scripts',
    files: {
      ...INIT,
      [`${scripts}/ifcfg-eno1`]:
        'DEVICE=eno1\nHWADDR=02:00:00:00:00:01\nBOOTPROTO=none\nIPADDR=203.0.113.21\nPREFIX=25\n',
    },
    enabled: ['network'],
    definedIn: `${scripts}/ifcfg-${BRIDGE}`,
    after: ['IPADDR=203.0.113.21\nPREFIX=25'],
  },
  {
    title: 'systemd-networkd',
    settings: 'systemd-networkd',
    files: {
      [`${networkd}/10-eno1.network`]:
        '[Match]\nName=eno1\n\n[Network]\nAddress=203.0.113.21/25\nGateway=203.0.113.1\n',
    },
    enabled: ['systemd-networkd'],
    definedIn: `${networkd}/20-${BRIDGE}.netdev`,
    after: [],
  },
  {
    title: 'NetworkManager',
    settings: 'NetworkManager',
    files: {
      [`${keyfiles}/eno1.nmconnection`]:
        '[connection]\nid=eno1\ntype=ethernet\ninterface-name=eno1\n\n' +
        '[ipv4]\naddress1=203.0.113.21/25,203.0.113.1\nmethod=manual\n',
    },
    modes: { [`${keyfiles}/eno1.nmconnection`]: 0o600 },
    enabled: ['NetworkManager'],
    definedIn: `${keyfiles}/${BRIDGE}.nmconnection`,
    after: ['address1=203.0.113.21/25,203.0.113.1'],
  },
]

const PLACES = [
  '/etc/netplan',
  '/etc/network',
  '/etc/sysconfig',
  '/etc/NetworkManager',
  networkd,
  '/usr/lib/systemd/network/br.netdev',
]
async function clear(machine: Machine) {
  await machine.must(
    'rm',
    '-rf',
    ...PLACES,
    '/usr/sbin/ifup',
    '/usr/sbin/netplan',
    '/usr/lib/systemd/system-generators/netplan',
    '/etc/init.d/network',
    '/usr/lib64/NetworkManager',
  )
  await machine.must('rm', '-rf', '/etc/systemd/system/multi-user.target.wants', `/root/network-before-${BRIDGE}`)
  for (const dir of ['/lib/systemd/system', '/usr/lib/systemd/system'])
    await machine.run('sh', '-c', `rm -f ${dir}/*.wants/systemd-networkd.service ${dir}/*.wants/networking.service`)
}
function settle(machine: Machine, { files, modes = {}, enabled = [] }: Case) {
  for (const [path, text] of Object.entries(files)) machine.write(path, text, modes[path] ?? 0o644)
  for (const unit of enabled) machine.enable(unit)
}
const bridgeOf = async (machine: Machine) => (await machine.look(scope)).output!.bridges[0]!

describe.skipIf(note(noMachines(), 'the bridges of servers in network settings'))('a bridge of servers', () => {
  test('is defined where the node’s own settings make it at boot, with its ports, and nowhere else', () =>
    withMachine(async (machine) => {
      await machine.bridge(BRIDGE, 'eno1')
      machine.domain(OURS[0], { bridge: BRIDGE })
      for (const one of cases) {
        await clear(machine)
        settle(machine, one)
        const { definedIn, why } = await bridgeOf(machine)
        expect([one.title, definedIn]).toEqual([one.title, one.definedIn])
        expect([one.title, why]).toEqual([one.title, expect.stringContaining(one.why ?? '')])
      }
    }))

  test('is defined by libvirt itself where it is one of its own networks', () =>
    withMachine(async (machine) => {
      machine.write(
        `/run/domains/${OURS[0]}.xml`,
        "<domain><interface type='network'><source network='default' bridge='virbr0'/></interface></domain>",
      )
      machine.write(
        '/run/networks/default.xml',
        "<network><name>default</name><forward mode='nat'/><bridge name='virbr0'/></network>",
      )
      expect(await bridgeOf(machine)).toMatchObject({ name: 'virbr0', definedIn: 'the network default of libvirt' })
      machine.write('/run/networks/default.xml', "<network><forward mode='bridge'/><bridge name='virbr0'/></network>")
      expect(await bridgeOf(machine)).toMatchObject({ name: 'virbr0', definedIn: null })
    }))

  test('is defined by the printed commands, which keep a copy in /root/network-before-<bridge> and start nothing', () =>
    withMachine(async (machine) => {
      await machine.bridge(BRIDGE, 'eno1')
      await machine.must('ip', 'address', 'add', '203.0.113.99/24', 'dev', BRIDGE)
      machine.domain(OURS[0], { bridge: BRIDGE })
      for (const host of hosts) {
        await clear(machine)
        settle(machine, host)
        const before = machine.files(...PLACES)
        const bridge = await bridgeOf(machine)
        expect([host.title, bridge.definedIn, bridge.settings]).toEqual([host.title, null, host.settings])
        machine.write('/usr/local/sbin/netplan', '#!/bin/sh\necho "netplan $*" >>/run/netplan\n', 0o755)
        machine.write('/run/netplan', '')
        machine.write('/root/commands.sh', bridge.commands!)
        // Twice, as a person may.
        for (const _ of [1, 2]) await machine.must('sh', '-eu', '/root/commands.sh')
        const after = await bridgeOf(machine)
        expect([host.title, after.definedIn]).toEqual([host.title, host.definedIn])
        const text = Object.keys(machine.files(...PLACES)).flatMap((path) =>
          machine.files(path)[path]!.startsWith('file') ? machine.read(path) : [],
        )
        for (const words of host.after)
          expect([host.title, text.join('\n')]).toEqual([host.title, expect.stringMatching(escaped(words))])
        expect(text.join('\n').split('203.0.113.21').length).toBeLessThan(3)
        const copy = machine.files(`/root/network-before-${BRIDGE}`)
        const kept = Object.entries(copy).filter(([, seen]) => seen.startsWith('file'))
        expect(kept.length).toBeGreaterThan(0)
        for (const [path, seen] of kept) {
          const [original] = Object.entries(before).filter(([name]) => name.endsWith(path.slice(path.lastIndexOf('/'))))
          expect([host.title, seen]).toEqual([host.title, original![1]])
        }
        const ran = machine.read('/run/netplan').trim()
        expect([host.title, ran]).toEqual([
          host.title,
          host.settings === 'netplan' ? 'netplan generate\nnetplan generate' : '',
        ])
        expect(bridge.commands).not.toMatch(/netplan (?:try|apply)|ifup|ifdown|systemctl|nmcli|ip link|service /)
      }
    }))
})
/** A pattern of these words, in which `?` after a quote means that it may be missing. */
const escaped = (words: string) =>
  new RegExp(words.replaceAll(/[.*+()[\]{}|^$\\/]/g, '\\$&').replaceAll('\n', '\\s*\\n'))
