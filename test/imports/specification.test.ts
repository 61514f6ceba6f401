// The sentences of the specification about decisions of an import that can be true before a server moves.
import { describe, expect, test } from 'bun:test'
import { hypervisor, owner, pack, range, server, v4, v6 } from './panel-in-memory.ts'
import {
  begin,
  discovered,
  giveAddresses,
  imported,
  map,
  offered,
  open,
  refused,
  row,
  servers,
  settled,
  withheld,
} from './world.ts'

const path = (p: { id: string }) => `/admin/migrations/${p.id}/mapping`
type Opened = Awaited<ReturnType<typeof open>>
const read = async (p: Opened) => {
  const id = await begin(p)
  await discovered(p, id)
  return Object.assign(p, { id })
}

describe('Point 3', () => {
  test(
    'It can be changed or cleared at any time, even after finishing, with PATCH ' + '/admin/migrations/{id}.',
    async () => {
      using p = await imported()
      const rename = async (name: string | null) => (await p.admin('PATCH', `/admin/migrations/${p.id}`, { name })).name
      for (const status of [
        'draft',
        'discovering',
        'mapping',
        'checking',
        'ready',
        'migrating',
        'verifying',
        'finished',
      ]) {
        p.db.$client.run('UPDATE imports SET status = ?', [status])
        expect([status, await rename(`Old ${status}`), await rename(null)]).toEqual([status, `Old ${status}`, null])
      }
      const audited = (await p.admin('GET', '/admin/audit?limit=50')).data
      expect(audited.filter(({ operation }: any) => operation === 'imports.update').length).toBe(16)
      expect(JSON.stringify(audited)).toContain('Old finished')
    },
  )
})

describe('Point 5', () => {
  test(
    'Mapping chooses: which own package each source package becomes (or Leave out of this import, ' +
      'keeping its servers ' +
      'on the source); what happens to each IP range; which node group of the own platform receives each ' +
      "hypervisor's servers; how each conflict is settled.",
    async () => {
      using p = await open({
        hypervisors: [hypervisor('1'), hypervisor('2')],
        packages: [pack('1'), pack('2')],
        ranges: [range('1', '198.51.100.0/24')],
      })
      const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
      const { id: account } = await p.admin('POST', '/admin/customers', { name: 'Ada', email: 'owner1@source.test' })
      p.other.listed.servers = [
        server(1),
        server(2, { hypervisorId: '2' }),
        server(3, { packageId: '2', hypervisorId: '2' }),
      ]
      const q = await read(p)
      expect((await p.admin('GET', `/admin/migrations/${q.id}`)).left).toMatchObject({
        hypervisors: { rows: 2 },
        ranges: { rows: 1 },
        owners: { rows: 1 },
      })
      await map(p, q.id, {
        hypervisors: [
          { sourceId: '1', choice: 'copy', locationId: p.location },
          { sourceId: '2', choice: 'copy', locationId: oslo },
        ],
        packages: [
          { sourceId: '1', choice: 'own', packageId: p.pack },
          { sourceId: '2', choice: 'leave_out' },
        ],
        ranges: [{ sourceId: '1', choice: 'keep' }],
        owners: [{ sourceId: '1', choice: 'merge' }],
      })
      expect((await settled(p, q.id)).left.decisions).toBe(0)
      const found = await servers(q)
      expect(found.map(({ state, goesTo }: any) => [state, goesTo?.id])).toEqual([
        ['waiting', p.location],
        ['waiting', oslo],
        ['left_out', oslo],
      ])
      expect(found[0]).toMatchObject({ isComplete: true, becomes: { packageId: p.pack, accountId: account } })
      expect(found[2].reason).toBe('Left out of this import with its package')
    },
  )
})

describe('Point 7', () => {
  test(
    'Keep the addresses: a new pool for the range is added when its first server moves; use when the ' +
      'range is or will ' +
      'be routed to the own nodes.',
    async () => {
      using p = await imported()
      const keep = (await row(p, 'ranges', '1')).offers.find(({ choice }: any) => choice === 'keep')
      expect(keep).toMatchObject({ isOffered: true })
      expect(keep.words).toBe('A new pool for it is added when its first server moves. Route the range to your nodes.')
      await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'keep' }] })
      expect((await p.admin('GET', `/admin/migrations/${p.id}/plan`)).poolsToMake).toMatchObject([{ name: 'range-1' }])
      expect((await p.admin('GET', '/admin/ip-pools')).total).toBe(1)
    },
  )

  test(
    'Give copies new addresses: each copy gets IPv4 addresses from the pools of the node it lands on; source IPv6 ' +
      'addresses are dropped.',
    async () => {
      using p = await imported({
        ranges: [
          range('1', '198.51.100.0/24'),
          range('2', '2001:db8:40::/48', { version: 6, first: null, last: null, gateway: 'fe80::1' }),
        ],
        servers: [server(1, { addresses: [v4('198.51.100.11'), v4('198.51.100.12'), v6('2001:db8:40:1::', 64)] })],
      })
      await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'new' }] })
      const [one] = await servers(p)
      expect(one.addresses.map(({ becomes }: any) => becomes)).toEqual(['replaced', 'replaced', 'dropped'])
      expect((await p.admin('GET', `/admin/migrations/${p.id}/plan`)).locations).toMatchObject([
        { id: p.location, newIpv4: 2, freeIpv4: 20 },
      ])
    },
  )
})

describe('Point 8', () => {
  test(
    'Owners who already have an account: servers only go into an existing account that the ' + 'operator chose.',
    async () => {
      for (const kind of ['customer', 'reseller', 'staff'] as const) {
        using p = await open()
        const { id } = kind === 'staff' ? p.staff(['servers.power']) : p.account(kind, 'Known')
        const { email } = p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(id) as { email: string }
        p.other.listed.owners = [owner('1', { email })]
        const q = await read(p)
        const [one] = await servers(q)
        expect([kind, one.isComplete, one.becomes.accountId, one.becomes.newEmail]).toEqual([kind, false, null, null])
        // Nor by a rule that is about something else.
        await p.admin('POST', `${path(q)}/actions/apply-to-owners`, { where: {}, choice: 'create' })
        expect((await servers(q))[0].becomes).toMatchObject({ accountId: null, newEmail: null })
      }
    },
  )

  test(
    'If the separate address (or an imports@<source host> address for servers with unknown owner) is ' +
      'already used by an ' +
      'account this import did not create, that choice is not offered and those servers stay on the source ' +
      'until that ' +
      'account is renamed.',
    async () => {
      using p = await open({ servers: [server(1), server(2, { ownerId: null, ownerEmail: null })] })
      const customer = async (name: string, email: string) =>
        (await p.admin('POST', '/admin/customers', { name, email })).id as string
      await customer('Ada', 'owner1@source.test')
      const taken = [
        await customer('Tagged', 'owner1+solusvm2@source.test'),
        await customer('Imports', 'imports@panel.source.test'),
      ]
      const q = await read(p)
      const rename = (id: string, n: number) =>
        p.admin('PATCH', `/customers/${id}`, { email: `renamed${n}@source.test` })
      for (const [sourceId, choice] of [
        ['1', 'separate'],
        ['unknown', 'one_account'],
      ] as const) {
        expect(withheld(await row(q, 'owners', sourceId), choice)).toContain('Rename that account first.')
        expect(await refused(p, 'PATCH', path(q), { owners: [{ sourceId, choice }] })).toEqual([
          409,
          'choice_not_offered',
        ])
      }
      expect((await servers(q)).map(({ isComplete }: any) => isComplete)).toEqual([false, false])
      for (const [n, id] of taken.entries()) await rename(id, n)
      await map(p, q.id, {
        owners: [
          { sourceId: '1', choice: 'separate' },
          { sourceId: 'unknown', choice: 'one_account' },
        ],
        ranges: [{ sourceId: '1', choice: 'keep' }],
      })
      await settled(p, q.id)
      expect((await servers(q)).map(({ isComplete, becomes }: any) => [isComplete, becomes.newEmail])).toEqual([
        [true, 'owner1+solusvm2@source.test'],
        [true, 'imports@panel.source.test'],
      ])
      // Somebody takes one of the addresses before the start: the choice is asked about again.
      await customer('Late', 'owner1+solusvm2@source.test')
      await map(p, q.id, {})
      await settled(p, q.id)
      expect((await row(q, 'owners', '1')).lapsed).toContain('Choose again.')
      expect((await servers(q))[0].isComplete).toBe(false)
    },
  )
})

describe('Point 10', () => {
  test('Adopt mode: the source hypervisor is enrolled as a node.', async () => {
    using p = await imported()
    expect(offered(await row(p, 'hypervisors', '1'))).not.toContain('adopt')
    expect(withheld(await row(p, 'hypervisors', '1'), 'adopt')).toContain(
      'Install the agent there and enrol it as a node, and it is recognised.',
    )
    const adopt = { hypervisors: [{ sourceId: '1', choice: 'adopt' }] }
    expect(await refused(p, 'PATCH', path(p), adopt)).toEqual([409, 'choice_not_offered'])
    const node = giveAddresses(p, p.addNode(p.location, 'fra-02'), ['192.0.2.11/24'])
    await map(p, p.id, adopt)
    expect((await servers(p)).map(({ way, nodeId }: any) => [way, nodeId])).toEqual([
      ['adopt', node],
      ['adopt', node],
    ])
  })
})
