// The kernel's text about bonds, as kernels write it.
import { expect, test } from 'bun:test'
import { bondIn } from '../../../agent/drivers/vlan/bonding.ts'
import { uplinkVerdict } from '../../../agent/host/doctor.ts'

const activeBackup = `Ethernet Channel Bonding Driver: v6.1.0-18-amd64

Bonding Mode: fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: eno1
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0

Slave Interface: eno1
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 0c:c4:7a:00:00:01
Slave queue ID: 0

Slave Interface: eno2
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 3
Permanent HW addr: 0c:c4:7a:00:00:02
Slave queue ID: 0
`

const lacp = `Ethernet Channel Bonding Driver: v5.10.0-28-amd64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 200
Down Delay (ms): 200
Peer Notification Delay (ms): 0

802.3ad info
LACP rate: fast
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
System MAC address: 0c:c4:7a:00:00:01
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 1
	Actor Key: 15
	Partner Key: 32768
	Partner Mac Address: 00:1c:73:00:00:01

Slave Interface: enp3s0f0
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 1
Permanent HW addr: 0c:c4:7a:00:00:01
Slave queue ID: 0
Aggregator ID: 1
Actor Churn State: none
Partner Churn State: none
details actor lacp pdu:
    system priority: 65535
    port state: 63
details partner lacp pdu:
    system priority: 32768
    port state: 61

Slave Interface: enp3s0f1
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 1
Permanent HW addr: 0c:c4:7a:00:00:02
Slave queue ID: 0
Aggregator ID: 2
Actor Churn State: churned
Partner Churn State: churned
details actor lacp pdu:
    system priority: 65535
    port state: 71
`

const eno = (state: 'up' | 'down', n: number) => ({ name: `eno${n}`, state })

test('a bond with a standby whose link is down', () => {
  expect(bondIn(activeBackup)).toEqual({ mode: 'active-backup', ports: [eno('up', 1), eno('down', 2)] })
})

test('a port with link that the switch does not take into the aggregate is apart', () => {
  expect(bondIn(lacp)).toEqual({
    mode: '802.3ad',
    ports: [
      { name: 'enp3s0f0', state: 'up' },
      { name: 'enp3s0f1', state: 'apart' },
    ],
  })
  expect(bondIn(lacp.replace('Aggregator ID: 2', 'Aggregator ID: 1'))!.ports.map(({ state }) => state)).toEqual([
    'up',
    'up',
  ])
})

test('every mode of the kernel has the name that configurations use', () => {
  const named = (words: string) => bondIn(`Bonding Mode: ${words}\n`)?.mode
  expect(
    [
      ...['load balancing (round-robin)', 'load balancing (xor)', 'fault-tolerance (broadcast)'],
      ...[
        'transmit load balancing',
        'adaptive load balancing',
        'fault-tolerance (active-backup) (fail_over_mac active)',
      ],
    ].map(named),
  ).toEqual(['balance-rr', 'balance-xor', 'broadcast', 'balance-tlb', 'balance-alb', 'active-backup'])
  expect(named('something of tomorrow')).toBe('something of tomorrow')
})

test('a bond without ports has none, and another text is about no bond', () => {
  expect(bondIn(activeBackup.split('Slave Interface')[0]!)).toEqual({ mode: 'active-backup', ports: [] })
  expect(bondIn('')).toBeUndefined()
  expect(bondIn('VLAN Dev name | VLAN ID\n')).toBeUndefined()
})

test('doctor warns of a port that is down, and fails without link or VLANs', () => {
  const uplink = { name: 'bond0', up: true, vlans: [{ first: 20, last: 29 }] }
  const both = { mode: 'active-backup', ports: [eno('up', 1), eno('up', 2)] }
  expect(uplinkVerdict({ ...uplink, bond: both })).toEqual({
    verdict: 'ok',
    found: 'bond0, bond active-backup of eno1 and eno2; VLANs: 20-29',
  })
  expect(uplinkVerdict({ ...uplink, bond: { ...both, ports: [eno('up', 1), eno('down', 2)] } })).toMatchObject({
    verdict: 'warn',
    found: expect.stringContaining('eno2 has no link'),
  })
  expect(uplinkVerdict({ ...uplink, up: false }).verdict).toBe('fail')
  expect(uplinkVerdict({ ...uplink, vlans: [], problem: 'it lacks the module 8021q' })).toMatchObject({
    verdict: 'fail',
    found: 'it lacks the module 8021q',
  })
})
