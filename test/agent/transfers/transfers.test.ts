// Moves between two fake nodes, by the commands that a controller sends.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseCommand } from '../../../agent/commands/index.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { type FakeSettings, openFakeHost } from '../../../agent/host/fake-host.ts'
import { Supervision } from '../../../agent/host/supervision.ts'
import { type CommandName, type Copied, type Input, type Output, serialOf } from '../../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, vmOf, volumeOf, workloadId } from '../examples.ts'
import { dataDir } from '../run.ts'

const GiB = 2 ** 30
const transfer = `trf_${'1'.repeat(26)}`
const workload = workloadId(1)
const volume = volumeOf(1)
const extra = { ...volumeOf(1), workload: `vol_${'9'.repeat(26)}` }
const vm = vmOf(1, { seeded: false })
const inAnHour = () => Date.now() + 3_600_000

function node(settings: Partial<FakeSettings> = {}, dir = dataDir()) {
  const host = openFakeHost(dir, { bootMs: 0, imageBytes: GiB, ...settings })
  const disks = new FakeLayers(new Database(join(dir, 'fake.db'), { strict: true }))
  const progress: Copied[] = []
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await loggingTo({ line: () => {}, progress: (_, copied) => void (copied && progress.push(copied)) }, () =>
      parseCommand(name, input).work(host),
    )) as Output<N>
  const fail = (name: CommandName, input: unknown) =>
    obey(name, input as never).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    )
  const pathOf = async (of: typeof volume) => (await host.storage.pool(of.pool).disk(of)).path
  return {
    ...{ dir, host, obey, fail, progress },
    write: async (of: typeof volume, content: string) => disks.write(await pathOf(of), content),
    read: async (of: typeof volume) => disks.read(await pathOf(of)),
  }
}

/** A source with a vm that has two disks and runs, and a target that is prepared as a controller prepares it. */
async function pair() {
  const [source, target] = [node(), node()]
  for (const { obey } of [source, target]) {
    await obey('firewall.allow', portRulesOf(1))
    await obey('image.ensure', imageSource)
  }
  await source.obey('volume.create', { volume, image: imageSource.id, sizeBytes: 2 * GiB })
  await source.obey('volume.make', { volume: extra, sizeBytes: GiB })
  await source.obey('vm.define', vm)
  await source.obey('volume.attach', { workload, volume: extra })
  await source.obey('vm.start', { workload })
  await source.write(volume, 'system')
  await source.write(extra, 'data')
  const { publicKey } = await source.obey('transfer.key', { transfer, workload })
  const receive = {
    ...{ transfer, workload, from: ['203.0.113.10'], publicKey, by: 'copy' as const, expiresAt: inAnHour() },
    disks: [
      { volume, sizeBytes: 2 * GiB },
      { volume: extra, sizeBytes: GiB },
    ],
  }
  const to = { address: '203.0.113.11', ...(await target.obey('transfer.receive', receive)) }
  await target.obey('vm.define', vm)
  await target.obey('volume.attach', { workload, volume: extra })
  const send = { transfer, workload, to, disks: [volume, extra], maxMbps: null }
  const contents = async (of: typeof source) => [await of.read(volume), await of.read(extra)]
  const checksums = async (of: typeof source) =>
    (await of.obey('transfer.checksum', { transfer, workload, disks: [volume, extra] })).disks
  return { source, target, receive, send, contents, checksums }
}

describe('a vm that is off', () => {
  test('has its disks copied, starts at the target when that owns it, and nothing is left behind', async () => {
    const { source, target, send, contents, checksums } = await pair()
    expect(await source.fail('transfer.copy', send)).toBe('vm_runs')
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    const copied = await source.obey('transfer.copy', send)
    expect(copied.copiedBytes).toBe(copied.totalBytes)
    expect(copied).toMatchObject(source.progress.at(-1)!)
    expect(await contents(target)).toEqual(['system', 'data'])
    expect(await checksums(target)).toEqual(await checksums(source))

    expect(await target.fail('vm.start', { workload })).toBe('not_owned')
    const give = (given: boolean) => source.fail('transfer.give', { transfer, workload, given })
    for (const _ of [1, 2]) expect(await give(true)).toBe('done')
    expect(await source.fail('vm.start', { workload })).toBe('not_owned')
    // A move that fails behind that gives it back, and may begin it again.
    for (const _ of [1, 2]) expect(await give(false)).toBe('done')
    await source.obey('vm.start', { workload })
    expect(await give(true)).toBe('vm_runs')
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    expect(await give(true)).toBe('done')
    expect(await target.obey('transfer.look', { transfer, workload })).toMatchObject({ power: 'stopped', owns: false })
    expect(await target.obey('transfer.resume', { transfer, workload })).toEqual({ power: 'stopped', resumedAt: null })
    await target.obey('vm.start', { workload })
    for (const { obey } of [source, target]) for (const _ of [1, 2]) await obey('transfer.end', { transfer, workload })
    expect(await target.obey('transfer.look', { transfer, workload })).toMatchObject({ power: 'running', owns: null })
    expect([source.host.state.transfers(), target.host.state.transfers()]).toEqual([[], []])
    expect(await source.fail('transfer.copy', send)).toBe('no_transfer')
  })

  test('sends again only what differs, and another checksum is seen', async () => {
    const { source, target, send, contents, checksums } = await pair()
    await source.obey('transfer.mirror', send)
    await source.write(extra, 'newer')
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    const [one, two] = [await checksums(source), await checksums(target)]
    expect(one.map((disk, i) => disk.checksum === two[i]!.checksum)).toEqual([true, false])
    const { copiedBytes, totalBytes } = await source.obey('transfer.copy', send)
    expect(copiedBytes).toBe(totalBytes / 2)
    expect(await contents(target)).toEqual(['system', 'newer'])
    expect((await source.obey('transfer.copy', send)).copiedBytes).toBe(0)
  })
})

describe('a vm that runs', () => {
  test('moves with its disks, and runs at the target when that owns it, on one node at each moment', async () => {
    const { source, target, send, contents } = await pair()
    const powers = async () => [
      await source.host.hypervisor.power(workload),
      await target.host.hypervisor.power(workload),
    ]
    await source.obey('transfer.begin-migration', send)
    expect(await powers()).toEqual(['running', 'stopped'])
    await source.write(extra, 'newer')
    const migrated = await source.obey('transfer.migrate', send)
    expect(await powers()).toEqual(['absent', 'paused'])
    expect(await source.obey('transfer.migrate', send)).toMatchObject({ copiedBytes: 0 })
    expect(await target.fail('vm.start', { workload })).toBe('not_owned')
    expect(await source.fail('vm.start', { workload })).toBe('not_owned')
    await new Supervision(target.host, (_, work) => work()).check()
    expect(await powers()).toEqual(['absent', 'paused'])
    const { power, resumedAt } = await target.obey('transfer.resume', { transfer, workload })
    expect([power, resumedAt! >= migrated.stoppedAt]).toEqual(['running', true])
    expect(await contents(target)).toEqual(['system', 'newer'])
    expect((target.host.hypervisor as never as { volumes(id: string): object[] }).volumes(workload)).toMatchObject([
      { serial: serialOf(extra.workload) },
    ])
    // After a boot of the host it is started as any other.
    expect(target.host.state.wantedOne(workload)).toBeDefined()
    expect(source.host.state.wantedOne(workload)).toBeUndefined()
  })

  test('runs on where it was when the target cannot take it, and may start there again', async () => {
    const { source, target, send } = await pair()
    await target.obey('vm.remove', { workload })
    await source.obey('transfer.begin-migration', send)
    expect(await source.fail('transfer.migrate', send)).toBe('migration_failed')
    // Its migration has ended with that, and only a new one can hand it over.
    expect(await source.fail('transfer.migrate', send)).toBe('transfer_cut')
    expect(await source.obey('vm.look', { workload })).toEqual({ power: 'running' })
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    expect(await source.fail('transfer.migrate', send)).toBe('not_running')
    expect(await source.fail('transfer.mirror', send)).toBe('not_running')
    await source.obey('vm.start', { workload })
  })
})

describe('a target', () => {
  test('lets in the key of the transfer alone, and that until the transfer expires or ends', async () => {
    const { source, target, receive, send, contents } = await pair()
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    const other = `trf_${'2'.repeat(26)}`
    const { publicKey } = await source.obey('transfer.key', { transfer: other, workload })
    expect(publicKey).not.toBe(receive.publicKey)
    expect(await source.fail('transfer.copy', { ...send, transfer: other })).toBe('transfer_refused')
    await target.obey('transfer.receive', { ...receive, expiresAt: Date.now() - 1 })
    expect(await source.fail('transfer.copy', send)).toBe('transfer_refused')
    await target.obey('transfer.receive', receive)
    await target.obey('transfer.end', { transfer, workload })
    expect(await source.fail('transfer.copy', send)).toBe('transfer_refused')
    const nowhere = { ...send.to, hostKeys: [`ssh-ed25519 ${Buffer.from('/no/such/fake/host').toString('base64')}`] }
    expect(await source.fail('transfer.copy', { ...send, to: nowhere })).toBe('transfer_unreachable')
    expect(await contents(target)).toEqual([undefined, undefined])
  })

  test('makes disks of exactly the size, and never takes one that it did not make', async () => {
    const { source, target, receive, send } = await pair()
    const third = volumeOf(3)
    await target.obey('volume.make', { volume: third, sizeBytes: GiB })
    const disks = [{ volume: third, sizeBytes: GiB }]
    const next = { ...receive, transfer: `trf_${'3'.repeat(26)}`, disks }
    expect(await target.fail('transfer.receive', next)).toBe('volume_differs')
    expect(target.host.state.transfer(next.transfer)).toBeUndefined()
    await source.obey('volume.grow', { volume: extra, sizeBytes: 2 * GiB })
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    expect(await source.fail('transfer.copy', send)).toBe('disk_differs')
  })

  test('lets the key in for longer once that is renewed, also where it had expired', async () => {
    const { source, target, receive, send } = await pair()
    await source.obey('vm.stop', { workload, graceSeconds: 0 })
    const renew = (expiresAt: number) => target.obey('transfer.renew', { transfer, workload, expiresAt })
    await renew(Date.now() - 1)
    expect(await source.fail('transfer.copy', send)).toBe('transfer_refused')
    await renew(inAnHour())
    expect((await source.obey('transfer.copy', send)).copiedBytes).toBeGreaterThan(0)
    expect(target.host.state.transfer(transfer)!.receive!.expiresAt).toBeGreaterThan(receive.expiresAt)
    await target.obey('transfer.end', { transfer, workload })
    expect(await target.fail('transfer.renew', { transfer, workload, expiresAt: inAnHour() })).toBe('no_transfer')
    expect(await source.fail('transfer.copy', send)).toBe('transfer_refused')
  })

  test('that is told to end the transfer keeps nothing of the vm that was removed', async () => {
    const { target } = await pair()
    await target.obey('vm.remove', { workload })
    await target.obey('transfer.end', { transfer, workload })
    expect(await target.fail('vm.start', { workload })).toBe('no_vm')
    expect(await target.fail('transfer.resume', { transfer, workload })).toBe('no_transfer')
  })
})

test('a copy that is ended meanwhile stops', async () => {
  const { source, send } = await pair()
  await source.obey('vm.stop', { workload, graceSeconds: 0 })
  const copying = source.fail('transfer.copy', send)
  await Bun.sleep(2)
  await source.obey('transfer.end', { transfer, workload })
  expect(await copying).toBe('transfer_ended')
})
