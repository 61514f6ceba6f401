// Servers of source hypervisors that do not exist, as fake nodes bring them here.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseCommand } from '../../../../agent/commands/index.ts'
import { openDatabase } from '../../../../agent/database.ts'
import { type FakeSourceServer, OWN } from '../../../../agent/drivers/source-host/fake.ts'
import type { FakeMoving } from '../../../../agent/drivers/source-host/fake-servers.ts'
import { FakeLayers } from '../../../../agent/drivers/storage/fake-layers.ts'
import { openFakeHost } from '../../../../agent/host/fake-host.ts'
import type { SourceDisk, SourceDrive, SourceHost } from '../../../../agent/protocol/values/source-hosts.ts'
import type { CommandName, Input, Output } from '../../../../agent/protocol/wire.ts'
import { portRulesOf, vmOf, volumeOf } from '../../../agent/examples.ts'
import { dataDir } from '../../../agent/run.ts'
import { adoptionsContract } from '../adopting/adoptions-contract.ts'
import { copiesContract } from './copies-contract.ts'
import { serversContract } from './servers-contract.ts'

const GiB = 1024 ** 3
const dir = dataDir()
const node = openFakeHost(dir, { poolBytes: 1000 * GiB })
const contents = openDatabase(join(dir, 'fake.db'), 'select 1')
afterAll(() => {
  contents.close()
  node.close()
})
const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
  (await parseCommand(name, input).work(node)) as Output<N>

const host: SourceHost = { address: '192.0.2.10', port: 22, hostKey: null }
node.sourceHosts.describe(host.address, { lets: 'everyone', servers: { v404: null } })

let servers = 0
const describedServer = (
  kind: 'transient' | 'persistent',
  moving: FakeMoving = {},
  definition: FakeSourceServer['definition'] = {},
) => {
  const domain = `v${1000 + ++servers}`
  const all = Object.fromEntries(described.map(({ name, ...one }) => [name, one]))
  described.push({ name: domain, isPersistent: kind === 'persistent', moving, definition })
  all[domain] = { isPersistent: kind === 'persistent', moving, definition }
  node.sourceHosts.describe(host.address, { lets: 'everyone', servers: { ...all, v404: null } })
  return domain
}
const described: (Pick<FakeSourceServer, 'definition'> & {
  name: string
  isPersistent: boolean
  moving: FakeMoving
})[] = []

describe('one server of a fake source', () => {
  const state = async (domain: string) => (await node.sourceHosts.servers(host, [{ domain }])).servers[0]!.state
  serversContract(() => ({
    node: node.sourceServers,
    host,
    server: async (kind) => describedServer(kind),
    state,
    kept: async (domain) => node.sourceHosts.moving.keptAt(host.address, domain),
    power: async (domain, to) =>
      node.sourceHosts.moving.setPower(host.address, domain, to === 'on' ? 'running' : 'off'),
  }))

  test('its troubles are told apart, and leave it as it was', async () => {
    const cases = [
      [{ isNotKept: true }, 'source_definition_not_kept', () => {}],
      [{ doesNotStop: true }, 'source_not_stopped', (of: Input<'source-host.save'>) => stop(of)],
    ] as const
    const stop = async (of: Input<'source-host.save'>) => {
      await obey('source-host.stop', { ...of, graceSeconds: 1 })
    }
    for (const [moving, code, more] of cases) {
      const of = { host, domain: describedServer('transient', moving) }
      const tried = async () => {
        await obey('source-host.save', of)
        await more(of)
      }
      expect(tried()).rejects.toMatchObject({ code })
      await tried().catch(() => {})
      expect(await state(of.domain)).toBe('running')
    }
    const of = { host, domain: describedServer('transient', { doesNotStart: true }) }
    const { definition } = await obey('source-host.save', of)
    await stop(of)
    expect(obey('source-host.start', { ...of, definition })).rejects.toMatchObject({ code: 'source_not_started' })
    expect(await state(of.domain)).toBe('absent')
  })
})

describe('copies from a fake source', () => {
  const path = '/var/lib/libvirt/images/2/0'
  const virtualBytes = 20 * GiB
  copiesContract(() => ({
    copies: node.sourceCopies,
    servers: node.sourceServers,
    pool: node.storage.pool('local'),
    server: async () => {
      const drives: SourceDrive[] = [
        {
          ...{ target: 'vda', device: 'disk', bus: 'virtio', holder: 'file', path, format: 'qcow2', virtualBytes },
          ...{ isReadOnly: false, isSeed: false, allocatedBytes: GiB, pool: null, backing: null, snapshots: 0 },
          trouble: null,
        },
      ]
      const domain = describedServer('transient', { content: 'first', writtenSince: 'second' }, { drives })
      const drive: SourceDisk = { path, format: 'qcow2', holder: 'file', virtualBytes, backing: null }
      return { host, domain, drive, volume: volumeOf(900 + servers), sizeBytes: 25 * GiB }
    },
    write: async () => {},
    isSame: async ({ volume }) =>
      new FakeLayers(contents).read((await node.storage.pool('local').disk(volume)).path) === 'second',
  }))
})

describe('a copy from a fake source', () => {
  let copies = 0
  const usualDrive: SourceDrive = {
    ...{ target: 'vda', device: 'disk', bus: 'virtio', holder: 'file', path: '/var/lib/libvirt/images/1/0' },
    ...{ format: 'qcow2', isReadOnly: false, isSeed: false, virtualBytes: 20 * GiB, allocatedBytes: GiB, pool: null },
    ...{ backing: null, snapshots: 0, trouble: null },
  }
  const drive: SourceDisk = {
    ...{ path: '/var/lib/libvirt/images/1/0', format: 'qcow2', holder: 'file', virtualBytes: 20 * GiB, backing: null },
  }
  const copyOf = (moving: FakeMoving, more: Partial<Input<'source-host.copy'>> = {}) => {
    const domain = describedServer('transient', { content: 'first', ...moving })
    const copy = `ims_${String(++copies).padStart(26, '0')}`
    const input = { copy, host, domain, drive, volume: volumeOf(100 + copies), sizeBytes: 25 * GiB, maxMbps: null }
    const pass = (which: 'running' | 'off') => obey('source-host.copy', { ...input, pass: which, ...more })
    const off = async () => {
      await obey('source-host.save', { host, domain })
      await obey('source-host.stop', { host, domain, graceSeconds: 1 })
    }
    const content = async () => {
      const disk = await node.storage.pool('local').disk(input.volume)
      return new FakeLayers(contents).read(disk.path)
    }
    const size = () => node.storage.pool('local').sizeBytes(input.volume)
    const discard = () => obey('source-host.discard', { copy, volume: input.volume })
    return { ...input, content, discard, off, pass, size }
  }

  test('two passes bring what was written between them, and the volume is there after the second', async () => {
    const one = copyOf({ writtenSince: 'second' })
    const first = await one.pass('running')
    expect(first.copiedBytes).toBe(first.totalBytes)
    expect(await one.size()).toBeUndefined()
    await one.off()
    const second = await one.pass('off')
    expect(second.changedBlocks).toBeLessThan(first.changedBlocks / 50)
    expect([await one.size(), await one.content()]).toEqual([25 * GiB, 'second'])
    expect(await one.pass('off')).toEqual(second)
    await one.discard()
    await one.discard()
    expect([await one.size(), await one.content()]).toEqual([undefined, undefined])
  })

  test('the plain way brings all of a server that is off', async () => {
    const one = copyOf({})
    expect(one.pass('off')).rejects.toMatchObject({ code: 'source_started' })
    await one.off()
    const { copiedBytes, totalBytes } = await one.pass('off')
    expect(copiedBytes).toBe(totalBytes)
    expect(await one.content()).toBe('first')
  })

  test('what happens at the source or here ends it, and leaves no volume', async () => {
    const cases = [
      [{ startsAtPercent: 50 }, 'source_started'],
      [{ readErrorAt: 10 * GiB }, 'source_read_error'],
      [{ cutAtPercent: 35 }, 'source_unreachable'],
      [{ arrivesDifferent: true }, 'checksum_differs'],
    ] as const
    for (const [moving, code] of cases) {
      const one = copyOf(moving)
      await one.off()
      expect(await one.pass('off').catch((error) => error)).toMatchObject({ code })
      expect(await one.size()).toBeUndefined()
    }
    const large = copyOf({}, { sizeBytes: 2000 * GiB })
    expect(await large.pass('running').catch((error) => error)).toMatchObject({ code: 'pool_full' })
    const changed = copyOf({}, { drive: { ...drive, virtualBytes: 21 * GiB } })
    node.sourceHosts.describe('192.0.2.11', {
      lets: 'everyone',
      servers: { [changed.domain]: { definition: { drives: [usualDrive] } } },
    })
    const there = { ...host, address: '192.0.2.11' }
    const input = { ...changed, drive: { ...drive, virtualBytes: 21 * GiB }, host: there, pass: 'running' as const }
    const { content: _c, discard: _d, off: _o, size: _s, ...given } = input
    expect(await obey('source-host.copy', given).catch((error) => error)).toMatchObject({ code: 'source_disk_changed' })
  })

  test('a disk that another one made is left alone, and so is one that a vm has', async () => {
    const one = copyOf({})
    await obey('volume.make', { volume: one.volume, sizeBytes: GiB })
    expect(await one.pass('running').catch((error) => error)).toMatchObject({ code: 'volume_differs' })
    await one.discard()
    expect(await one.size()).toBe(GiB)
    const two = copyOf({})
    await two.off()
    await two.pass('off')
    const { workload } = two.volume
    await obey('vm.define', vmOf(1, { workload, volume: two.volume, seeded: false }))
    await obey('firewall.allow', { ...portRulesOf(1), workload })
    await obey('vm.start', { workload })
    expect(await two.discard().catch((error) => error)).toMatchObject({ code: 'volume_in_use' })
    expect(await two.size()).toBe(25 * GiB)
    await obey('vm.remove', { workload })
    await two.discard()
    expect(await two.size()).toBeUndefined()
  })

  test('a copy is ended by its discarding, goes on after a cut, and has the limit that it is told', async () => {
    const slow = copyOf({ ms: 60_000 })
    const ended = slow.pass('running').catch((error) => error)
    await Bun.sleep(20)
    await obey('source-host.limit', { copy: slow.copy, maxMbps: 100 })
    expect(node.sourceCopies.limitOf(slow.copy)).toBe(100)
    await slow.discard()
    expect(await ended).toMatchObject({ code: 'source_copy_ended' })
    const cut = copyOf({ cutAtPercent: 50, cuts: 1 })
    expect(await cut.pass('running').catch((error) => error)).toMatchObject({ code: 'source_unreachable' })
    await cut.pass('running')
    await cut.off()
    await cut.pass('off')
    expect(await cut.content()).toBe('first')
  })
})

describe('an adoption on a fake hypervisor of another panel', () => {
  let adoptions = 0
  const pool = node.storage.pool('local')
  const layers = new FakeLayers(contents)
  const all: Record<string, FakeSourceServer> = {}
  const server = (isPersistent: boolean, moving: FakeMoving = {}) => {
    const n = ++adoptions
    const domain = `own${n}`
    all[domain] = { isPersistent, moving: { content: `disk ${n}`, ...moving } }
    node.sourceHosts.describe(OWN, { servers: all })
    const path = `/var/lib/own/${n}`
    const drive: SourceDisk = { path, format: 'qcow2', holder: 'file', virtualBytes: 20 * GiB, backing: null }
    return { domain, drive, volume: volumeOf(20 + n) }
  }
  const state = async (domain: string) => (await node.sourceHosts.ownServers([{ domain }]))[0]!.state
  const isThere = contents.query<{ n: number }, [string]>('select count(*) n from outside_disks where path = ?')
  adoptionsContract(() => ({
    obey,
    server: async (kind) => server(kind === 'persistent'),
    state,
    content: async ({ domain, drive, volume }) =>
      layers.read((await pool.disk(volume)).path) ?? layers.read(drive.path) ?? all[domain]!.moving!.content!,
    isAtSource: async ({ drive, volume }) =>
      isThere.get(drive.path)!.n > 0 || !layers.read((await pool.disk(volume)).path),
    power: async (domain) => node.sourceHosts.moving.setPower(OWN, domain, 'running'),
  }))

  const offOf = async (moving: FakeMoving) => {
    const { domain, drive, volume } = server(true, moving)
    const of = { host: null, domain }
    const { definition } = await obey('source-host.save', of)
    await obey('source-host.stop', { ...of, graceSeconds: 1 })
    const input = { domain, drive, volume }
    const adopt = () => obey('source-host.adopt', { ...input, sizeBytes: 20 * GiB })
    const giveBack = () => obey('source-host.give-back', { ...input, definition })
    return { ...input, of, definition, adopt, giveBack }
  }

  test('its troubles are told apart, and what was done goes back', async () => {
    const cases = [
      [{ diskIsElsewhere: true }, 'source_disk_elsewhere', 'off'],
      [{ diskIsGone: true }, 'no_volume', 'off'],
      [{ startsBeforeUndefining: true }, 'source_started', 'running'],
      [{ staysDefined: true }, 'source_not_undefined', 'off'],
    ] as const
    for (const [moving, code, after] of cases) {
      const { adopt, domain, giveBack, volume } = await offOf(moving)
      expect(await adopt().catch((error) => error)).toMatchObject({ code })
      await giveBack()
      expect([await pool.sizeBytes(volume), await state(domain)]).toEqual([undefined, after])
    }
    const { adopt, giveBack, domain } = await offOf({ isNotDefined: true })
    await adopt()
    expect(await giveBack().catch((error) => error)).toMatchObject({ code: 'source_not_defined' })
    expect(await state(domain)).toBe('absent')
  })

  test('a disk with which a vm runs, or that has snapshots, is not given back', async () => {
    const { adopt, giveBack, volume } = await offOf({})
    await adopt()
    const vm = vmOf(Number(volume.workload.slice(4)), { volume, seeded: false })
    await obey('vm.define', vm)
    await obey('firewall.allow', portRulesOf(Number(volume.workload.slice(4))))
    await obey('vm.start', { workload: volume.workload })
    expect(await giveBack().catch((error) => error)).toMatchObject({ code: 'volume_in_use' })
    await obey('vm.stop', { workload: volume.workload, graceSeconds: 0 })
    await obey('volume.snapshot', { vm: { ...vm, volume: { ...volume, layer: 1 } }, from: 0 })
    expect(await giveBack().catch((error) => error)).toMatchObject({ code: 'layer_in_use' })
    await obey('volume.merge', { vm, from: 1, into: 0 })
    await giveBack()
    expect(await pool.sizeBytes(volume)).toBeUndefined()
  })
})
