// An import in which a person has everything to decide: for the tests of pages, and for their pictures.
import { hypervisor, type Listed, owner, pack, range, server, v4, v6 } from './panel-in-memory.ts'
import { begin, discovered, giveAddresses, open, settled } from './world.ts'

const names = ['kvm-fra-01', 'kvm-fra-02', 'kvm-fra-03', 'kvm-fra-04']
const company = ['Lumen Analytics', 'Nordlys Verlag', 'Fjord Hosting', 'Cyan & Co', 'Atelier Nord', 'Kestrel']

const emails = { customer: 'it@halden.example', staff: 'jonas@berth.example', reseller: 'admin@polder.example' }

const listed = (): Listed => ({
  hypervisors: names.map((name, i) => hypervisor(String(i + 1), { name, isPanel: i === 0, location: null })),
  packages: [
    pack('1', { name: 'SSD-1', ...{ vcpus: 2, memoryMb: 2048, diskGb: 20 } }),
    pack('2', { name: 'SSD-8', ...{ vcpus: 4, memoryMb: 8192, diskGb: 120 } }),
    pack('3', { name: 'Reseller-XL', ...{ vcpus: 12, memoryMb: 49_152, diskGb: 900 } }),
    pack('4', { name: 'Old-512', ...{ vcpus: 1, memoryMb: 512, diskGb: 10 } }),
  ],
  ranges: [
    range('1', '198.51.100.0/24', { name: 'fra-a' }),
    range('2', '203.0.113.0/25', { name: 'fra-b' }),
    range('3', '10.0.40.0/24', { name: 'internal', reach: 'internal' }),
    range('4', '2001:db8:40::/48', {
      ...{ name: 'fra-v6', version: 6, first: '2001:db8:40::1', last: '2001:db8:40:ffff::', gateway: 'fe80::1' },
    }),
  ],
  addresses: {},
  owners: [
    ...company.map((name, i) => owner(String(i + 1), { name, email: `host${i + 1}@${name.split(' ')[0]}.example` })),
    owner('20', { name: 'Halden Technik', email: emails.customer }),
    owner('21', { name: 'J. Weber', email: emails.staff }),
    owner('22', { name: 'Polder Media', email: emails.reseller, kind: 'reseller' }),
  ].map((one) => ({ ...one, email: one.email!.toLowerCase() })),
  servers: Array.from({ length: 64 }, (_, i) =>
    server(i + 1, {
      name: `shop-${i + 1}.${company[i % company.length]!.split(' ')[0]!.toLowerCase()}.example`,
      hypervisorId: String((i % 4) + 1),
      packageId: String((i % 4) + 1),
      diskGb: [20, 120, 900, 10][i % 4]!,
      ownerId: i % 13 === 12 ? null : i % 11 === 10 ? String(20 + (i % 3)) : String((i % company.length) + 1),
      ownerEmail: null,
      virtualization: i % 16 === 15 ? 'container' : 'kvm',
      isWindows: i % 20 === 19,
      addresses: [
        v4(i % 9 === 8 ? `10.0.40.${10 + i}` : i % 2 ? `198.51.100.${10 + i}` : `203.0.113.${10 + i}`),
        ...(i % 3 ? [] : [v6(`2001:db8:40:${i + 1}::1`)]),
      ],
    }),
  ),
})

/** A panel, another one with 64 servers, and one import that has read it twice; a hypervisor of it is a node here. */
export async function richImport() {
  const p = await open()
  const reseller = p.account('reseller', 'Polder Media')
  const known = { [p.customer.id]: emails.customer, [p.owner.id]: emails.staff, [reseller.id]: emails.reseller }
  for (const [id, email] of Object.entries(known))
    p.db.$client.run('UPDATE accounts SET email = ? WHERE id = ?', [email, id])
  await p.admin('POST', '/admin/packages', { name: 'KVM 8G', vcpus: 4, memoryMb: 8192, diskGb: 160 })
  await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })
  giveAddresses(p, p.node, ['192.0.2.14'])
  const all = listed()
  Object.assign(p.other.listed, all, { servers: all.servers.slice(0, 61) })
  const id = await begin(p, { name: 'Frankfurt off SolusVM 2' })
  await discovered(p, id)
  p.other.listed.servers = all.servers.slice(2)
  await discovered(p, id)
  await settled(p, id)
  return Object.assign(p, { id })
}
