// Point 16 of imports in the specification, and the end of its point 17: what is asked, chosen, warned of and refused.
import { describe, expect, test } from 'bun:test'
import { changeImport } from '../../../src/imports/import-records/queries.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { hypervisor, server } from '../panel-in-memory.ts'
import { begin, discovered, refused } from '../world.ts'
import { adopt, choose, finish, finished, look, ran } from './finished.ts'

const servers = [server(1), server(2), server(3)]
const removed = (p: { fingerprint(but: string[]): string }) => p.fingerprint(['audit', 'job_log', 'jobs'])

describe('source removal', () => {
  test('Optional removal of the source software from adopted nodes, asked per node after finishing', async () => {
    using p = await finished({ listed: { hypervisors: [hypervisor('1'), hypervisor('2')], servers }, nodes: 2 })
    const { nodes, isAsked, neverTouched } = await p.admin('GET', p.path)
    // Nothing of the second hypervisor was adopted.
    expect(nodes.map(({ node, servers, choice }: any) => [node.name, servers, choice])).toEqual([['fra-01', 3, null]])
    expect(isAsked).toBe(true)
    expect(neverTouched).toContain('libvirt')
    for (const status of ['migrating', 'verifying', 'ready'] as const) {
      write(p.db, (tx) => changeImport(tx, p.id, { status }))
      expect((await p.admin('GET', p.path)).isAsked).toBe(false)
      const body = { nodeId: p.node.id, choice: 'agent' }
      expect(await refused(p, 'POST', p.path, body)).toEqual([409, 'import_not_moved'])
      expect(await refused(p, 'POST', `${p.path}/run`, { nodeId: p.node.id })).toEqual([409, 'import_not_moved'])
    }
  })

  test('Choices: keep it, or remove it through the node agent, or run listed manual commands as root', async () => {
    using p = await finished({ listed: { servers } })
    const shown = await look(p)
    expect(shown.preview.items.map(({ name }: { name: string }) => name)).toEqual([
      ...['/etc/cron.d/virtualizor', '/var/spool/cron/root', 'virtualizor.service', 'virtnetwork.service'],
      ...['/usr/local/virtualizor', '/usr/local/emps'],
    ])
    expect(shown.preview.commands).toContain('/usr/local/virtualizor')
    for (const choice of ['keep', 'manual'] as const) {
      expect((await choose(p, choice)).choice).toBe(choice)
      const run = await refused(p, 'POST', `${p.path}/run`, { nodeId: p.node.id })
      expect(run).toEqual([409, 'source_removal_not_chosen'])
    }
    await choose(p, 'agent')
    expect(await ran(p)).toMatchObject({ state: 'succeeded', kind: 'import_removal', nodeId: p.node.id })
    expect(await refused(p, 'POST', p.path, { nodeId: p.node.id, choice: 'delete' })).toEqual([
      422,
      'validation_failed',
    ])
  })

  test('The choice can be changed, and who chose is in the audit log', async () => {
    using p = await finished({ listed: { servers } })
    for (const choice of ['agent', 'keep', 'manual', 'agent'] as const) {
      await choose(p, choice)
      expect((await look(p)).choice).toBe(choice)
    }
    await ran(p)
    await choose(p, 'keep')
    expect(await look(p)).toMatchObject({ choice: 'keep', state: 'removed', canRestore: true })
    expect(p.auditLines().filter(({ operation }) => operation === 'source-removal.choose').length).toBe(5)
  })

  test('A removal says where everything is, and a restore puts all of it back', async () => {
    using p = await finished({ listed: { servers } })
    await choose(p, 'agent')
    const before = (await look(p)).preview
    const job = await ran(p)
    const shown = await look(p)
    expect(shown).toMatchObject({ state: 'removed', canRestore: true, failure: null, jobId: job.id })
    expect(shown.result.folder).toMatch(/^\/root\/removed-/)
    expect(shown.result.items.length).toBe(before.items.length)
    expect(shown.preview.items).toEqual([])
    const { lines } = await p.admin('GET', `/jobs/${job.id}/log`)
    const log = lines.map(({ text }: { text: string }) => text).join('\n')
    for (const { name } of before.items) expect(log).toContain(name)
    expect(await refused(p, 'POST', `${p.path}/run`, { nodeId: p.node.id })).toEqual([409, 'source_removed'])
    expect(await ran(p, 'restore')).toMatchObject({ state: 'succeeded', kind: 'import_removal_restore' })
    expect(await look(p)).toMatchObject({ state: 'restored', canRestore: false, result: null, preview: before })
    expect(await refused(p, 'POST', `${p.path}/restore`, { nodeId: p.node.id })).toEqual([409, 'source_not_removed'])
    // It can be removed again, under another name.
    expect((await ran(p)).state).toBe('succeeded')
  })

  test('It changes nothing while libvirt still holds a server that is not the panel’s', async () => {
    using p = await finished({ listed: { servers } })
    p.node.agent.host.sourceRemovals.describe({ holds: ['v901', 'vps-902'] })
    await choose(p, 'agent')
    const shown = await look(p)
    expect(shown.preview.foreign).toEqual(['v901', 'vps-902'])
    expect(shown.blocked).toEqual(['libvirt there holds 2 domains that are not Berth’s: v901, vps-902.'])
    expect(await ran(p)).toMatchObject({ state: 'failed', errorCode: 'removal_foreign_domains' })
    expect(await look(p)).toMatchObject({
      state: 'failed',
      canRestore: false,
      failure: { code: 'removal_foreign_domains', words: expect.stringContaining('Nothing was changed') },
      preview: shown.preview,
    })
  })

  test('Where a server does not run any more everything is put back, and the page says so', async () => {
    using p = await finished({ listed: { servers } })
    p.node.agent.host.sourceRemovals.describe({ losesServer: true })
    await choose(p, 'agent')
    const { preview } = await look(p)
    expect(await ran(p)).toMatchObject({ state: 'failed', errorCode: 'removal_undone' })
    const shown = await look(p)
    expect(shown).toMatchObject({ state: 'failed', canRestore: false, preview })
    expect(shown.failure.words).toContain('Everything was put back')
  })

  test('For kind B it leaves the network service and prints commands where a bridge is not defined', async () => {
    using p = await finished({ listed: { servers } })
    p.node.agent.host.sourceRemovals.describe({ undefinedBridges: ['viifbr1'] })
    await choose(p, 'agent')
    const { preview } = await look(p)
    expect(preview.networkStays).toBe(true)
    const [, missing] = preview.bridges
    expect(missing).toMatchObject({ name: 'viifbr1', definedIn: null })
    expect(missing.commands).toContain('netplan generate')
    expect(missing.commands).not.toMatch(/netplan (try|apply)/)
    await ran(p)
    const { result } = await look(p)
    expect(result.left.map(({ name }: { name: string }) => name)).toEqual([
      ...['virtnetwork.service', '/usr/local/virtualizor', '/usr/local/emps'],
    ])
  })

  test('It warns while servers are still on the source', async () => {
    using p = await finished({ listed: { servers } })
    expect((await look(p)).warnings).toEqual([])
    using other = await finished({ listed: { servers: [...servers, server(4, { state: 'stopped' })] } })
    other.db.$client.run('DELETE FROM import_moves WHERE rowid = 1')
    other.db.$client.run("UPDATE import_servers SET state = 'left_out' WHERE source_id = '4'")
    expect((await look(other)).warnings).toEqual([
      { code: 'servers_at_source', words: '1 server of it is still on the source.' },
    ])
  })

  test('It warns while the source’s own panel runs on the node', async () => {
    using p = await finished({ listed: { servers, hypervisors: [hypervisor('1', { isPanel: true })] } })
    expect((await look(p)).warnings.map(({ code }: { code: string }) => code)).toEqual(['panel_runs_here'])
    using a = await finished({ kind: 'solusvm2', listed: { servers } })
    expect((await look(a)).warnings).toEqual([])
    a.node.agent.host.sourceRemovals.describe({ panelRunsHere: true })
    expect((await look(a)).warnings.map(({ code }: { code: string }) => code)).toEqual(['panel_runs_here'])
  })

  test('It warns while rollback is still open', async () => {
    using p = await finished({ listed: { servers } })
    Object.assign(p.other.listed, { servers: [server(11), server(12)] })
    const second = await begin(p, { kind: 'virtualizor' })
    await discovered(p, second)
    adopt(p, second, p.node.id)
    write(p.db, (tx) => changeImport(tx, second, { status: 'verifying' }))
    expect((await look(p)).warnings).toContainEqual({
      code: 'roll_back_open',
      words: '2 servers here can still be rolled back in an import that is not finished.',
    })
    finish(p, second)
    expect((await look(p)).warnings).toEqual([])
  })

  test('The source software is not removed from the master while a server elsewhere depends on it', async () => {
    const hypervisors = [hypervisor('1', { isPanel: true }), hypervisor('2')]
    using p = await finished({ listed: { hypervisors, servers: [...servers, server(4, { hypervisorId: '2' })] } })
    await choose(p, 'agent')
    expect((await look(p)).blocked).toEqual(['1 server on other hypervisors still depends on the master.'])
    const before = removed(p)
    expect(await refused(p, 'POST', `${p.path}/run`, { nodeId: p.node.id })).toEqual([409, 'source_still_needed'])
    expect(removed(p)).toBe(before)
    // Another import moves it: then nothing depends on the master any more.
    const second = await begin(p, { kind: 'virtualizor' })
    await discovered(p, second)
    adopt(p, second, p.addNode(p.location, 'hel-v2').id, '2')
    finish(p, second)
    expect((await look(p)).blocked).toEqual([])
    expect((await ran(p)).state).toBe('succeeded')
  })

  test('A node of another import, of a copy, or of nobody is refused as a field', async () => {
    using p = await finished({ listed: { servers } })
    const stranger = p.addNode(p.location, 'fra-09')
    for (const nodeId of [stranger.id, 'nod_00000000000000000000000000', 'x']) {
      expect(await refused(p, 'POST', p.path, { nodeId, choice: 'agent' })).toEqual([422, 'validation_failed'])
      expect(await refused(p, 'POST', `${p.path}/run`, { nodeId })).toEqual([422, 'validation_failed'])
      expect(await refused(p, 'POST', `${p.path}/restore`, { nodeId })).toEqual([422, 'validation_failed'])
    }
  })

  test('A person can name the control server’s key by its fingerprint, and take that back', async () => {
    using p = await finished({ kind: 'solusvm2', listed: { servers } })
    const controlKey = `SHA256:${'k'.repeat(43)}`
    const body = { nodeId: p.node.id, choice: 'agent' }
    expect(await refused(p, 'POST', p.path, { ...body, controlKey: 'ssh-rsa AAAA' })).toEqual([
      422,
      'validation_failed',
    ])
    expect((await p.admin('POST', p.path, { ...body, controlKey })).controlKey).toBe(controlKey)
    expect((await choose(p, 'agent')).controlKey).toBe(controlKey)
    const { id } = await ran(p)
    expect(JSON.stringify(p.job(id).input)).toContain(controlKey)
    expect((await p.admin('POST', p.path, { ...body, controlKey: null })).controlKey).toBeNull()
  })

  test('Commands of a node are shown without characters that nobody can read', async () => {
    using p = await finished({ listed: { servers } })
    p.node.agent.host.sourceRemovals.describe({ commands: 'mv a b\u202e\n\tmv c d\x1b[31m' })
    expect((await look(p)).preview.commands).toBe('mv a b\\u202e\n\tmv c d\\x1b[31m')
  })

  test('A preview lists every file and service that would be touched, as a spreadsheet too', async () => {
    using p = await finished({ listed: { servers } })
    const { preview } = await look(p)
    const { status, body } = await p.call(p.owner, 'GET', `${p.path}.csv`)
    expect(status).toBe(200)
    const lines = String(body).trim().split('\r\n').join('\n').split('\n')
    expect(lines.length).toBe(1 + preview.items.length)
    for (const { name, becomes } of preview.items)
      expect(lines.some((line: string) => line.includes(name) && line.includes(becomes))).toBe(true)
  })

  test('A node that is away, silent or older says why there is no preview', async () => {
    using p = await finished({ listed: { servers } })
    p.node.agent.host.sourceRemovals.describe({ isSilent: true })
    expect(await look(p)).toMatchObject({ preview: null, previewProblem: 'libvirt on the node does not answer.' })
    p.node.agent.disconnect()
    expect(await look(p)).toMatchObject({ preview: null, previewProblem: 'The node does not answer.' })
  })

  test('While a removal is at work nobody changes the choice, and no second one begins', async () => {
    using p = await finished({ listed: { servers } })
    await choose(p, 'agent')
    p.node.agent.disconnect()
    const { jobId } = await p.admin('POST', `${p.path}/run`, { nodeId: p.node.id })
    const body = { nodeId: p.node.id }
    // The job itself writes meanwhile, so its row alone is compared.
    const row = () => p.db.$client.query('SELECT * FROM source_removals').all()
    const before = row()
    for (const [path, more] of [
      [p.path, { choice: 'keep' }],
      [`${p.path}/run`, {}],
      [`${p.path}/restore`, {}],
    ] as const) {
      const reply = await p.call(p.owner, 'POST', path, { ...body, ...more })
      expect([reply.status, reply.body.error?.code]).toEqual([409, 'in_use'])
    }
    expect(row()).toEqual(before)
    p.node.agent.connect()
    await eventually(() => p.job(jobId).state === 'succeeded')
  })
})
