import {
  type ImageSource,
  type PortRules,
  type Seed,
  type Speed,
  usualMachine,
  type Vm,
  type Volume,
} from '../../agent/protocol/wire.ts'

/** The id `srv_…` with the number at its end. */
export const workloadId = (n: number) => `srv_${String(n).padStart(26, '0')}`
export const volumeOf = (n: number, format: Volume['format'] = 'qcow2', generation = 0): Volume => ({
  workload: workloadId(n),
  generation,
  pool: 'local',
  format,
})
export const macOf = (n: number) => `52:54:00:00:00:${n.toString(16).padStart(2, '0')}`
export const portRulesOf = (n: number): PortRules => ({
  workload: workloadId(n),
  tap: `bth${n}`,
  mac: macOf(n),
  ipv4: [`10.77.0.${10 + n}`],
  ipv6: [`2001:db8:77:${n}::/64`],
})
/** No limit of any kind. */
export const unlimited: Speed = { inMbps: null, outMbps: null, cpuPercent: null }
export const vmOf = (n: number, more: Partial<Vm> = {}): Vm => ({
  workload: workloadId(n),
  hostname: `web${n}.example.com`,
  vcpus: 1,
  memoryMb: 128,
  volume: volumeOf(n),
  network: { bridge: 'br0', tap: `bth${n}`, mac: macOf(n) },
  speed: unlimited,
  seeded: true,
  restartPolicy: 'on_failure',
  ...usualMachine,
  ...more,
})
export const seedOf = (n: number): Seed => ({
  workload: workloadId(n),
  metaData: { 'instance-id': workloadId(n), 'local-hostname': `web${n}` },
  userData: { hostname: `web${n}`, ssh_authorized_keys: ['ssh-ed25519 AAAA someone'] },
  networkConfig: {
    version: 2,
    ethernets: { eth0: { match: { macaddress: macOf(n) }, addresses: [`10.77.0.${10 + n}/24`] } },
  },
})
export const imageSource: ImageSource = {
  id: 'img_00000000000000000000000001',
  url: 'https://images.example.com/tiny.qcow2',
  format: 'qcow2',
  checksum: `sha256:${'0'.repeat(64)}`,
}
