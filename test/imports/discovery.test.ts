// Points 1, 2, 3, 4, 10, 14, 17 and 18 of Imports, as far as the other panel is only read.
import { describe, expect, test } from 'bun:test'
import { hypervisor, owner, pack, server, v4 } from './panel-in-memory.ts'
import {
  begin,
  discovered,
  giveAddresses,
  imported,
  map,
  open,
  put,
  refused,
  row,
  rows,
  servers,
  settled,
  TOKEN,
  turn,
} from './world.ts'

describe('the import', () => {
  test("Discovery lists the source's hypervisors, packages, IP pools and servers.", async () => {
    using p = await open()
    const id = await begin(p)
    expect((await p.admin('GET', `/admin/migrations/${id}`)).status).toBe('draft')
    const read = await discovered(p, id)
    expect(read).toMatchObject({
      status: 'mapping',
      panel: 'SolusVM 2',
      accountName: 'admin@source.test',
      servers: { total: 2, waiting: 2 },
      trouble: null,
    })
    for (const part of ['hypervisors', 'packages', 'ranges', 'owners'])
      expect((await p.admin('GET', `/admin/migrations/${id}/mapping/${part}`)).total).toBe(1)
  })

  test('The source address is entered with its port; a link-local address is refused.', async () => {
    using p = await open()
    const body = { kind: 'solusvm2', credentials: { token: TOKEN } }
    const made = await p.admin('POST', '/admin/migrations', { ...body, address: 'https://10.20.0.5:4085' })
    expect(made.address).toBe('https://10.20.0.5:4085')
    expect(await refused(p, 'POST', '/admin/migrations', { ...body, address: 'https://169.254.1.1:443' })).toEqual([
      422,
      'validation_failed',
    ])
    expect(
      await refused(p, 'POST', '/admin/migrations', { ...body, credentials: {}, address: 'https://a.test' }),
    ).toEqual([422, 'validation_failed'])
  })

  test(
    'An import may carry an optional name, shown in the list, at the top of the import and in the ' + 'audit log.',
    async () => {
      using p = await open()
      const id = await begin(p, { name: 'Frankfurt off SolusVM 2' })
      expect((await p.admin('GET', '/admin/migrations')).data[0].name).toBe('Frankfurt off SolusVM 2')
      const audited = await p.admin('GET', '/admin/audit')
      expect(JSON.stringify(audited.data[0])).toContain('Frankfurt off SolusVM 2')
      expect(audited.data[0]).toMatchObject({ operation: 'imports.create' })
      expect(id).toStartWith('imp_')
    },
  )

  test('It can be changed or cleared at any time, even after finishing, with PATCH.', async () => {
    using p = await open()
    const id = await begin(p, { name: 'First' })
    const name = async (value: string | null) =>
      (await p.admin('PATCH', `/admin/migrations/${id}`, { name: value })).name
    expect(await name('Second')).toBe('Second')
    for (const status of ['discovering', 'checking', 'migrating', 'verifying', 'finished']) {
      p.db.$client.run('UPDATE imports SET status = ? WHERE id = ?', [status, id])
      expect(await name(status)).toBe(status)
      expect(await name(null)).toBeNull()
    }
  })

  test(
    'Cancel import deletes an import in which nothing has moved, together with its stored ' + 'credentials.',
    async () => {
      using p = await imported()
      const path = `/admin/migrations/${p.id}/actions/cancel`
      p.db.$client.run("UPDATE import_servers SET state = 'moved' WHERE source_id = '1'")
      expect(await refused(p, 'POST', path)).toEqual([409, 'import_started'])
      p.db.$client.run("UPDATE import_servers SET state = 'rolled_back' WHERE source_id = '1'")
      expect(await p.admin('POST', path)).toMatchObject({ status: 'cancelled', hasCredentials: false })
      expect(await refused(p, 'GET', `/admin/migrations/${p.id}`)).toEqual([404, 'import_not_found'])
      expect((await p.admin('GET', '/admin/migrations')).data).toEqual([])
      await turn(p)
      for (const table of ['servers', 'owners', 'ranges', 'packages', 'hypervisors', 'addresses', 'staged', 'log'])
        expect(p.db.$client.query(`SELECT count(*) AS n FROM import_${table}`).get()).toEqual({ n: 0 })
      expect(p.db.$client.query('SELECT count(*) AS n FROM imports').get()).toEqual({ n: 0 })
      expect(await refused(p, 'POST', path)).toEqual([404, 'import_not_found'])
    },
  )

  test('credentials are stored encrypted and are in no answer, log line or audit line', async () => {
    using p = await imported()
    const stored = p.db.$client.query('SELECT encrypted_credentials AS text FROM imports').get() as { text: string }
    expect(stored.text).not.toContain(TOKEN)
    expect(p.other.credentialsSeen.at(-1)).toEqual({ token: TOKEN })
    const answers = [
      await p.admin('GET', `/admin/migrations/${p.id}`),
      await p.admin('GET', `/admin/migrations/${p.id}/log`),
      await p.admin('GET', '/admin/audit'),
      p.db.$client.query('SELECT * FROM audit').all(),
      p.db.$client.query('SELECT * FROM import_log').all(),
    ]
    expect(JSON.stringify(answers)).not.toContain(TOKEN)
    await p.admin('POST', `/admin/migrations/${p.id}/actions/set-credentials`, { credentials: { token: 'another' } })
    await discovered(p, p.id)
    expect(p.other.credentialsSeen.at(-1)).toEqual({ token: 'another' })
  })

  test('only staff with the permission for imports see one', async () => {
    using p = await imported()
    const able = p.staff(['imports'])
    const unable = p.staff(['servers.see_all'])
    expect((await p.call(able, 'GET', `/admin/migrations/${p.id}`)).status).toBe(200)
    expect((await p.call(unable, 'GET', `/admin/migrations/${p.id}`)).status).toBe(403)
    expect((await p.call(p.customer, 'GET', `/admin/migrations/${p.id}`)).status).toBe(403)
  })
})

describe('the certificate', () => {
  test('the SHA-256 fingerprint is displayed and the operator chooses to trust it.', async () => {
    using p = await open()
    p.other.certificate = 'a1'.repeat(32)
    const id = await begin(p)
    const asked = await discovered(p, id)
    expect(asked).toMatchObject({ status: 'draft', trouble: { code: 'certificate_unknown' } })
    expect(asked.asksFor).toMatchObject({ sha256: 'a1'.repeat(32), isChanged: false })
    expect(asked.asksFor.fingerprint).toStartWith('A1:A1:')
    const trust = `/admin/migrations/${id}/actions/trust`
    expect(await refused(p, 'POST', trust, { sha256: 'b2'.repeat(32) })).toEqual([409, 'certificate_not_asked'])
    expect((await p.admin('POST', trust, { sha256: asked.asksFor.fingerprint })).asksFor).toBeNull()
    expect(await discovered(p, id)).toMatchObject({ status: 'mapping', trusted: 'a1'.repeat(32) })
  })

  test('a certificate that changed later stops the import, and it asks', async () => {
    using p = await imported()
    p.other.certificate = 'c3'.repeat(32)
    p.db.$client.run('UPDATE imports SET trusted_sha256 = ?', ['a1'.repeat(32)])
    p.other.listed.servers = [server(9)]
    const stopped = await discovered(p, p.id)
    expect(stopped).toMatchObject({ status: 'mapping', asksFor: { isChanged: true }, servers: { total: 2 } })
    const { items, data } = (await p.admin('GET', '/admin/overview')) as any
    expect(JSON.stringify(items ?? data ?? (await p.admin('GET', '/admin/overview')))).toContain(
      'The certificate of https://panel.source.test:443 has changed.',
    )
  })
})

describe('a reading', () => {
  test('Before migrating starts, Discover again re-reads the source and resets the mappings.', async () => {
    using p = await imported()
    await map(p, p.id, {
      packages: [{ sourceId: '1', choice: 'leave_out' }],
      owners: [{ sourceId: '1', choice: 'leave_out' }],
    })
    expect(await servers(p)).toMatchObject([{ state: 'left_out' }, { state: 'left_out' }])
    await discovered(p, p.id)
    expect(await row(p, 'packages', '1')).toMatchObject({ choice: 'own', isProposed: true })
    expect(await row(p, 'owners', '1')).toMatchObject({ choice: 'create', isProposed: true })
    expect(await servers(p)).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }])
    p.db.$client.run("UPDATE imports SET status = 'migrating'")
    expect(await refused(p, 'POST', `/admin/migrations/${p.id}/actions/discover`)).toEqual([409, 'import_started'])
  })

  test('what is new, gone or changed since the last reading is shown, and ids stay', async () => {
    using p = await imported()
    const [before] = await servers(p)
    p.other.listed.servers = [server(1, { packageId: '2', vcpus: 4 }), server(3)]
    p.other.listed.packages.push(pack('2', { vcpus: 4 }))
    const read = await discovered(p, p.id)
    expect(read.changes).toEqual({ new: 2, gone: 1, changed: 1 })
    const { data } = await p.admin('GET', `/admin/migrations/${p.id}/changes`)
    expect(data.map(({ list, sourceId, change, words }: any) => [list, sourceId, change, words])).toEqual([
      ['packages', '2', 'new', ''],
      ['servers', '1', 'changed', 'package, vCPUs'],
      ['servers', '2', 'gone', ''],
      ['servers', '3', 'new', ''],
    ])
    expect((await p.admin('GET', `/admin/migrations/${p.id}/changes?change=gone`)).total).toBe(1)
    expect((await servers(p))[0].id).toBe(before.id)
    expect((await discovered(p, p.id)).changes).toEqual({ new: 0, gone: 0, changed: 0 })
  })

  test('nothing is believed of a reading that fails in its last list', async () => {
    using p = await imported()
    const before = await servers(p)
    p.other.listed.owners = [owner('7')]
    for (const code of ['html', 'truncated', 'refused_sign_in', 'broken_pager'] as const) {
      p.other.fails = { list: 'servers', code }
      const read = await discovered(p, p.id)
      expect(read).toMatchObject({ status: 'mapping', trouble: { code }, servers: { total: 2 } })
      expect(await servers(p)).toEqual(before)
      expect(await row(p, 'owners', '7')).toBeUndefined()
    }
    expect(p.db.$client.query('SELECT count(*) AS n FROM import_staged').get()).toEqual({ n: 0 })
    p.other.fails = undefined
    expect((await discovered(p, p.id)).trouble).toBeNull()
  })

  test('a reading that a crash cut off at any record is begun again and ends as if nothing had been', async () => {
    for (const list of ['hypervisors', 'owners', 'servers'] as const) {
      using p = await open()
      p.other.listed.servers = Array.from({ length: 250 }, (_, n) => server(n + 1))
      const id = await begin(p)
      await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
      const at = Promise.withResolvers<void>()
      p.other.onRecord = async (of, n) => {
        if (of !== list || n !== (list === 'servers' ? 210 : 0)) return
        p.other.onRecord = () => {}
        at.resolve()
        // The reading dies with the process: here it is never heard of again.
        await new Promise(() => {})
      }
      p.controller.app.importReadings.turn(p.db, p.controller.app)
      await at.promise
      await p.crash()
      put(p)
      const read = await settled(p, id)
      expect(read).toMatchObject({ status: 'mapping', servers: { total: 250 } })
    }
  })

  test('a reading that a crash cut off while it was applied goes on from there', async () => {
    using p = await open()
    p.other.listed.servers = Array.from({ length: 450 }, (_, n) => server(n + 1))
    const id = await begin(p)
    await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
    // The transaction of the second slice of servers is cut off, and so is everything behind it.
    p.db.$client.run(`CREATE TRIGGER cut BEFORE INSERT ON import_servers
      WHEN (SELECT count(*) FROM import_servers) = 300
      BEGIN SELECT RAISE(ABORT, 'the power fails'); END`)
    const { app } = p.controller
    const failing = Object.assign(Object.create(app.importReadings), { fail: async () => {} })
    failing.turn(p.db, app)
    await failing.settled()
    expect(p.db.$client.query('SELECT status, phase FROM imports').get()).toEqual({
      status: 'discovering',
      phase: 'applying',
    })
    expect(p.db.$client.query('SELECT count(*) AS n FROM import_servers').get()).toEqual({ n: 200 })
    p.db.$client.run('DROP TRIGGER cut')
    const connections = p.other.connections
    await p.crash()
    put(p)
    expect(await settled(p, id)).toMatchObject({ status: 'mapping', servers: { total: 450 } })
    expect(p.other.connections).toBe(connections)
  })

  test('cancelling breaks a reading off, and nothing of it is left', async () => {
    using p = await open()
    const id = await begin(p)
    await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
    const at = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    p.other.onRecord = async (list) => {
      if (list !== 'owners') return
      at.resolve()
      await go.promise
    }
    const { app } = p.controller
    app.importReadings.turn(p.db, app)
    await at.promise
    expect(await refused(p, 'POST', `/admin/migrations/${id}/actions/discover`)).toEqual([409, 'import_busy'])
    await p.admin('POST', `/admin/migrations/${id}/actions/cancel`)
    app.importReadings.turn(p.db, app)
    go.resolve()
    await app.importReadings.settled()
    await turn(p)
    expect(await refused(p, 'GET', `/admin/migrations/${id}`)).toEqual([404, 'import_not_found'])
    expect(p.db.$client.query('SELECT count(*) AS n FROM import_staged').get()).toEqual({ n: 0 })
  })

  test('progress is shown while it reads', async () => {
    using p = await open()
    const id = await begin(p)
    await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
    const go = Promise.withResolvers<void>()
    const at = Promise.withResolvers<void>()
    p.other.onRecord = async (list, n) => {
      if (list !== 'servers' || n !== 1) return
      at.resolve()
      await go.promise
    }
    const { app } = p.controller
    app.importReadings.turn(p.db, app)
    await at.promise
    const { progress, phase } = await p.admin('GET', `/admin/migrations/${id}`)
    expect(phase).toBe('reading')
    expect(progress).toContainEqual({ list: 'owners', read: 1, total: 1 })
    go.resolve()
    await app.importReadings.settled()
  })
})

describe('what is known of servers at once', () => {
  test('per-server refusals are known as soon as the panel was read', async () => {
    using p = await imported({
      servers: [
        server(1, { virtualization: 'container' }),
        server(2, { virtualization: 'other' }),
        server(3, { isWindows: true }),
        server(4, { domain: null }),
        server(5, { hypervisorId: null }),
        server(6),
      ],
    })
    const found = await servers(p)
    expect(found.map(({ state, reason }: any) => [state, reason])).toEqual([
      ['refused', 'OpenVZ or LXC container (stays on source, containers cannot run on KVM)'],
      ['refused', 'Only KVM servers managed by libvirt can be imported'],
      ['refused', 'Windows guest (stays on source, not supported by imports)'],
      ['refused', 'The other panel does not tell the name of its libvirt domain'],
      ['refused', 'The other panel does not tell on which hypervisor it is'],
      ['waiting', null],
    ])
  })

  test("the source's template name is converted to a readable name, or Imported from ... when absent.", async () => {
    using p = await imported({ servers: [server(1, { osName: 'AlmaLinux 9' }), server(2, { osName: null })] })
    expect((await servers(p)).map(({ os }: any) => os)).toEqual(['AlmaLinux 9', 'Imported from SolusVM 2'])
  })

  test('servers moved earlier are skipped with the note Already moved by an earlier import', async () => {
    using p = await imported()
    p.db.$client.run("UPDATE import_servers SET state = 'moved' WHERE source_id = '1'")
    const second = await begin(p)
    await discovered(p, second)
    const again = Object.assign(p, { id: second })
    expect((await servers(again)).map(({ state, reason }: any) => [state, reason])).toEqual([
      ['already_moved', 'Already moved by an earlier import'],
      ['waiting', null],
    ])
    expect((await p.admin('GET', `/admin/migrations/${second}/plan`)).servers).toMatchObject({
      coming: 1,
      alreadyMoved: 1,
    })
  })

  test('a server of a package that is gone, of an unknown owner or of no range is not lost', async () => {
    using p = await imported({
      servers: [
        server(1, { packageId: '99', packageName: 'Old', vcpus: 3, memoryMb: 3072, diskGb: 30 }),
        server(2, { ownerId: null, ownerEmail: null }),
        server(3, { addresses: [v4('192.88.99.7')] }),
        server(4, { ownerId: '77', ownerEmail: 'Late@Source.test' }),
      ],
    })
    expect((await rows(p, 'packages')).map(({ name, servers: n }: any) => [name, n])).toEqual([
      ['SSD-1', 3],
      ['Old', 1],
    ])
    expect((await rows(p, 'owners')).map(({ sourceId, email }: any) => [sourceId, email])).toEqual([
      ['1', 'owner1@source.test'],
      ['email:late@source.test', 'late@source.test'],
      ['unknown', null],
    ])
    expect(await row(p, 'ranges', 'unknown')).toMatchObject({ name: 'Addresses in no range', servers: 1 })
  })
})

describe('hypervisors', () => {
  test(
    "It is recognised by address: its address in the source panel must equal the node's management " +
      'address or one of its own addresses.',
    async () => {
      using p = await open()
      const second = giveAddresses(p, p.addNode(p.location, 'fra-02'), ['198.18.0.4/24', '198.18.0.5/24'])
      const { address } = p.db.$client
        .query<{ address: string }, []>(
          "SELECT facts ->> '$.managementAddress' AS address FROM nodes WHERE name = 'fra-01'",
        )
        .get()!
      p.other.listed.hypervisors = [
        hypervisor('1', { name: 'fra-02' }),
        hypervisor('2', { address: '198.18.0.5' }),
        hypervisor('3', { address: 'h3.source.test', addresses: ['198.18.0.99'] }),
        hypervisor('4', { address: 'h4.source.test', addresses: [address] }),
      ]
      p.other.listed.servers = [server(1), server(2, { hypervisorId: '2' }), server(3, { hypervisorId: '3' })]
      const id = await begin(p)
      await discovered(p, id)
      const q = Object.assign(p, { id })
      expect((await rows(q, 'hypervisors')).map(({ node }: any) => node?.id ?? null)).toEqual([
        null,
        second,
        null,
        p.node.id,
      ])
      expect(await row(q, 'hypervisors', '2')).toMatchObject({ choice: 'adopt', isProposed: true })
    },
  )

  test('Server names are never used to recognise a node; ambiguous ones are refused.', async () => {
    using p = await open()
    giveAddresses(p, p.addNode(p.location, 'kvm-1'), ['198.18.0.5/24'])
    giveAddresses(p, p.addNode(p.location, 'fra-03'), ['198.18.0.5/24'])
    p.other.listed.hypervisors = [hypervisor('1'), hypervisor('2', { address: '198.18.0.5' })]
    const id = await begin(p)
    await discovered(p, id)
    const q = Object.assign(p, { id })
    const [first, second] = await rows(q, 'hypervisors')
    expect(first.node).toBeNull()
    expect(second.offers.find(({ choice }: any) => choice === 'adopt').words).toContain('ambiguous')
    expect(
      await refused(p, 'PATCH', `/admin/migrations/${id}/mapping`, {
        hypervisors: [{ sourceId: '2', choice: 'adopt' }],
      }),
    ).toEqual([409, 'choice_not_offered'])
  })
})
