// The software of the two panels on a hypervisor, as the facts about them describe it.
import type { Machine } from './machine.ts'

export const OURS = ['srv_00000000000000000000000001', 'srv_00000000000000000000000002'] as const
/** Folders in which a removal of each kind may change something, but not their own times. */
export const PLACES = [
  ...[
    '/usr/local/virtualizor',
    '/usr/local/emps',
    '/usr/local/solus',
    '/usr/local/solusnxt',
    '/etc/cron.d',
    '/etc/cron.daily',
    '/etc/systemd/system',
    '/etc/systemd/system/multi-user.target.wants',
  ],
  ...[
    '/etc/init.d',
    '/var/virtualizor',
    '/var/spool/cron',
    '/var/log/solus',
    '/etc/solus',
    '/etc/netplan',
    '/etc/network',
  ],
  ...['/root/.ssh', '/etc/sysconfig', '/etc/NetworkManager', '/run/units', '/run/containers', '/run/domains'],
  ...['0', '1', '2', '3', '4', '5', '6'].map((level) => `/etc/rc${level}.d`),
]

export const CRONTAB = [
  '# the operator’s own',
  'MAILTO=root',
  '*/5 * * * * /usr/local/emps/bin/php /usr/local/virtualizor/scripts/cron.php > /dev/null 2>&1',
  '17 3 * * * /root/backup.sh',
  '*/10 * * * * /usr/local/emps/bin/emps-check',
  '',
].join('\n')

/** Virtualizor, whose network service makes the bridge `viifbr0`. */
export async function installVirtualizor(machine: Machine) {
  machine.write('/usr/local/virtualizor/universal.php', '<?php $globals["pass"] = "canary";', 0o600)
  machine.write('/usr/local/virtualizor/scripts/cron.php', '<?php')
  machine.write('/usr/local/virtualizor/hooks/empty', '')
  machine.link('/usr/local/virtualizor/current', 'scripts/cron.php')
  machine.write('/usr/local/emps/bin/php', '#!/bin/sh\n', 0o755)
  machine.write('/usr/local/emps/etc/my.cnf', '[mysqld]', 0o640)
  machine.write('/var/virtualizor/kvm/debian-12.img', 'a template')
  machine.write('/var/virtualizor/log/panel.log', 'lines')
  await machine.must('chown', '-R', '33:44', '/usr/local/emps/etc')
  await machine.must('touch', '-h', '-d', '2021-02-03T04:05:06.123456789Z', '/usr/local/virtualizor/current')
  await machine.must('touch', '-d', '2020-02-03T04:05:06.5Z', '/usr/local/emps/etc/my.cnf', '/usr/local/virtualizor')
  machine.script('virtualizor')
  machine.script('virtnetwork', '[ "$1" != stop ] || ip link delete viifbr0')
  machine.script('zzvirtservice', '[ "$1" != stop ] || rm -f /run/domains/*.running')
  machine.write(
    '/etc/cron.d/virtualizor',
    '*/5 * * * * root /usr/local/emps/bin/php /usr/local/virtualizor/x.php\n',
    0o600,
  )
  machine.write('/etc/cron.d/own', '0 1 * * * root /usr/bin/true\n')
  machine.write('/var/spool/cron/root', CRONTAB, 0o600)
  await machine.must('touch', '-d', '2022-01-01T00:00:00.25Z', '/var/spool/cron/root')
  await machine.bridge('viifbr0', 'eno1')
  for (const name of OURS) machine.domain(name, { bridge: 'viifbr0' })
}

/** The bridge of Virtualizor in /etc/network/interfaces, which ifupdown reads. */
export function defineInInterfaces(machine: Machine, bridge = 'viifbr0', port = 'eno1') {
  machine.write('/usr/sbin/ifup', '', 0o755)
  machine.enable('networking')
  machine.write(
    '/etc/network/interfaces',
    `auto lo\niface lo inet loopback\n\nauto ${bridge}\niface ${bridge} inet static\n    address 203.0.113.21/25\n` +
      `    gateway 203.0.113.1\n    bridge_ports ${port}\n`,
  )
}

const key = (digit: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${digit.repeat(43)}`
export const KEYS = {
  operator: `${key('o')} anna@laptop`,
  control: `from="192.0.2.10" ${key('c')} solus-control@master`,
  support: `${key('s')} support@solusvm.com`,
  berth: `no-pty ${key('b')} berth-import:nod_00000000000000000000000001`,
}

/** The agent of SolusVM 2, and the containers of the panel itself. */
export async function installSolusVm2(machine: Machine) {
  machine.write('/usr/local/solus/bin/agent', '#!/bin/sh\n', 0o755)
  machine.write('/usr/local/solus/cache/debian.qcow2', 'an image')
  machine.write('/etc/solus/agent.json', '{"computer_resource_id": 3, "token": "canary"}', 0o600)
  machine.write('/var/log/solus/agent.log', 'lines')
  machine.unit('solus-agent', '/usr/local/solus/bin/agent --config /etc/solus/agent.json', {
    dir: '/usr/lib/systemd/system',
  })
  machine.unit('metrics-of-solus', '/usr/local/solus/bin/metrics')
  machine.unit('own-service', '/usr/bin/true')
  machine.write('/etc/cron.d/solus-clean', '5 4 * * * root /usr/local/solus/bin/clean\n')
  machine.write(
    '/etc/cron.d/mixed',
    'PATH=/usr/bin\n1 2 * * * root /usr/local/solus/bin/report\n3 4 * * * root /usr/bin/true\n',
  )
  const keys = [KEYS.operator, '# a comment about solus', KEYS.control, KEYS.support, KEYS.berth, '']
  machine.write('/root/.ssh/authorized_keys', keys.join('\n'), 0o600)
  await machine.must('touch', '-d', '2022-01-01T00:00:00.75Z', '/root/.ssh/authorized_keys')
  machine.container('c1', 'solus_api_1', 'registry.solus.io/api:2', 'true', 'always', '0', 'false')
  machine.container('c2', 'queue', 'registry.solus.io/rabbit', 'false', 'on-failure', '4', 'false')
  machine.container('c3', 'web', 'nginx:1', 'true', 'unless-stopped', '0', 'false')
  await machine.bridge('br0', 'eno1')
  for (const name of OURS) machine.domain(name)
}
