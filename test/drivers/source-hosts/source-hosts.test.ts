// Source hypervisors that do not exist, as fake nodes reach them.
import { afterAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { handlers, parseCommand } from '../../../agent/commands/index.ts'
import { openJournal } from '../../../agent/controller-link/journal.ts'
import { FakeSourceHosts } from '../../../agent/drivers/source-host/fake.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import type { Host } from '../../../agent/host/host.ts'
import { encryptFor } from '../../../agent/protocol/for-node.ts'
import {
  disksOf,
  type ImportKey,
  type SourceHost,
  sourcePasswordPurpose,
} from '../../../agent/protocol/values/source-hosts.ts'
import { dataDir } from '../../agent/run.ts'

const path = join(dataDir(), 'source-hosts.db')
const [one, two] = ['one', 'two'].map((node) => new FakeSourceHosts(path, node, () => 1_800_000_000_000)) as [
  FakeSourceHosts,
  FakeSourceHosts,
]
afterAll(() => {
  one.close()
  two.close()
})

const nodeId = (n: number) => `nod_${String(n).padStart(26, '0')}`
let addresses = 0
const newHost = (): SourceHost => ({ address: `192.0.2.${++addresses}`, port: 22, hostKey: null })
const keysOf = async (from: string[] = []) => [
  { nodeId: nodeId(1), publicKey: await one.key(), from },
  { nodeId: nodeId(2), publicKey: await two.key(), from },
]

test('a copying node signs in once and adds every copying node’s key, without duplicates', async () => {
  const host = newHost()
  const keys = await keysOf()
  expect(await one.look(host)).toMatchObject({ login: 'refused', facts: null })
  expect(await one.addKeys({ host, password: 'secret', keys })).toMatchObject({ added: 2, present: 0 })
  expect(await one.addKeys({ host, password: 'secret', keys })).toMatchObject({ added: 0, present: 2 })
  for (const node of [one, two]) expect(await node.look(host)).toMatchObject({ login: 'accepted', refusal: null })
  expect(await one.removeKeys(host, [nodeId(2), nodeId(1)])).toEqual({ removed: 2 })
  expect(await one.removeKeys(host, [nodeId(1)])).toEqual({ removed: 0 })
  expect(await two.look(host)).toMatchObject({ login: 'refused' })
})

test('a wrong password, one that is not taken, and a file that cannot be written are told apart', async () => {
  const keys = await keysOf()
  const cases = [
    [{ password: 'right' }, 'source_password_refused'],
    [{ password: null }, 'source_password_disabled'],
    [{ keysNotWritten: true }, 'source_keys_not_written'],
  ] as const
  for (const [described, code] of cases) {
    const host = newHost()
    one.describe(host.address, described)
    expect(one.addKeys({ host, password: 'wrong', keys })).rejects.toMatchObject({ code })
    expect(one.linesAt(host.address)).toEqual([])
  }
})

test('a source that has another host key than at the first contact is refused', async () => {
  const host = newHost()
  const { hostKey } = await one.look(host)
  expect(await one.look({ ...host, hostKey })).toMatchObject({ hostKey })
  one.describe(host.address, { hostKey: `ssh-ed25519 ${'B'.repeat(68)}` })
  expect(one.look({ ...host, hostKey })).rejects.toMatchObject({ code: 'source_host_key_changed' })
})

test.each(['source_unreachable', 'source_ssh_too_old', 'source_invalid'] as const)(
  'a source fails with %s',
  async (fails) => {
    const host = newHost()
    one.describe(host.address, { fails })
    expect(one.look(host)).rejects.toMatchObject({ code: fails })
  },
)

test('servers are told in the order of the question, those that are not there too', async () => {
  const host = newHost()
  expect(one.servers(host, [{ domain: 'v1001' }])).rejects.toMatchObject({ code: 'source_login_refused' })
  one.describe(host.address, {
    lets: 'everyone',
    servers: { v1002: null, v1003: { definition: { firmware: 'uefi' } } },
  })
  const { servers } = await one.servers(
    host,
    ['v1003', 'v1001', 'v1002'].map((domain) => ({ domain })),
  )
  expect(servers.map(({ domain, state }) => [domain, state])).toEqual([
    ['v1003', 'running'],
    ['v1001', 'running'],
    ['v1002', 'absent'],
  ])
  expect(servers.map(({ definition }) => definition?.firmware)).toEqual(['uefi', 'bios', undefined])
  expect(disksOf(servers[1]!.definition!)).toHaveLength(1)
  one.describe(host.address, { lets: 'everyone', fails: 'source_no_libvirt' })
  expect(one.servers(host, [{ domain: 'v1001' }])).rejects.toMatchObject({ code: 'source_no_libvirt' })
})

test('an answer that is longer than a frame is refused and not sent', async () => {
  const servers = Array.from({ length: 100 }, () => ({ domain: 'v1', trouble: 'x'.repeat(11_000) }))
  const host = { sourceHosts: { servers: async () => ({ servers }) } } as unknown as Host
  const input = { host: newHost(), servers: [{ domain: 'v1' }] }
  expect(handlers['source-servers.look'](input, host)).rejects.toMatchObject({ code: 'source_invalid' })
})

test('the password comes encrypted for the node that signs in, and its journal does not have it', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const dir = dataDir()
  const host = openFakeHost(dir, {}, undefined, privateKey)
  const source = newHost()
  const raw = publicKey.export({ format: 'jwk' }).x!
  const adding = (about: string) => ({
    ...{ host: source, password: encryptFor(raw, about, 'canary of root'), keys: [] as ImportKey[] },
  })
  const keys = await keysOf()
  const journal = openJournal(join(dir, 'journal.db'))
  const obey = (key: string, input: object) => {
    const { name, kind, work } = parseCommand('source-host.add-keys', { ...input, keys })
    return journal.obey({ key, name, kind }, () => work(host))
  }
  host.sourceHosts.describe(source.address, { password: 'canary of root' })
  expect(await obey('job_1/other', adding('root password of 192.0.2.250'))).toMatchObject({
    error: { code: 'encrypted_for_another' },
  })
  expect(host.sourceHosts.signInsAt(source.address)).toEqual([])
  expect(await obey('job_1/add', adding(sourcePasswordPurpose(source.address)))).toMatchObject({ output: { added: 2 } })
  expect(host.sourceHosts.signInsAt(source.address)).toEqual(['accepted'])
  journal.close()
  host.close()
  for (const file of ['journal.db', 'journal.db-wal', 'state.db', 'state.db-wal'].map((name) => join(dir, name)))
    if (existsSync(file)) expect(readFileSync(file).includes('canary of root')).toBeFalse()
})
