// Backups on a node: commands on the fake host, whose disks have a text as their content.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { parseCommand } from '../../../agent/commands/index.ts'
import { type Backups, backupFailure } from '../../../agent/drivers/backup/backup.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import type { Host } from '../../../agent/host/host.ts'
import type { BackupTarget } from '../../../agent/protocol/backup.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf } from '../examples.ts'
import { dataDir } from '../run.ts'

const GiB = 1024 ** 3
const { workload } = vmOf(1)
const backup = `bkp_${'1'.repeat(26)}`
const target: BackupTarget = {
  ...{ kind: 'local', address: '/srv/backups', login: '', secret: '', trust: '' },
  ...{ repository: 'usr_1', password: 'password-of-the-account' },
}
const restored = volumeOf(1, 'qcow2', 1)

/** A running vm whose disk has the content `a`. */
async function rig() {
  const dir = dataDir()
  const host: Host = openFakeHost(dir, { bootMs: 0, imageBytes: GiB })
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  await obey('image.ensure', imageSource)
  await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })
  await obey('seed.write', seedOf(1))
  await obey('firewall.allow', portRulesOf(1))
  await obey('vm.define', vmOf(1))
  await obey('vm.start', { workload })
  const layers = new FakeLayers(new Database(`${dir}/fake.db`))
  const pathOf = async (volume = volumeOf(1)) => (await host.storage.pool('local').disk(volume)).path
  layers.write(await pathOf(), 'a')
  const make = (more: Partial<Input<'backup.make'>> = {}) =>
    obey('backup.make', { backup, volume: volumeOf(1), target, ...more })
  return { dir, host, obey, layers, pathOf, make }
}

for (const power of ['running', 'stopped'] as const)
  test(`the disk of a ${power} vm is saved once and comes back, each twice with the same end`, async () => {
    const { obey, layers, pathOf, make } = await rig()
    if (power === 'stopped') await obey('vm.stop', { workload, graceSeconds: 5 })
    const made = await make()
    expect(made).toMatchObject({ diskBytes: 2 * GiB, consistent: true })
    expect(made.addedBytes).toBeGreaterThan(0)
    layers.write(await pathOf(), 'b')
    expect(await make()).toMatchObject({ snapshot: made.snapshot, diskBytes: 2 * GiB, consistent: true })

    const restore = { snapshot: made.snapshot, volume: restored, sizeBytes: 3 * GiB, target }
    for (const _ of [1, 2]) expect(await obey('backup.restore', restore)).toEqual({})
    expect([layers.read(await pathOf()), layers.read(await pathOf(restored))]).toEqual(['b', 'a'])
    expect(await obey('volume.look', restored)).toEqual({ sizeBytes: 3 * GiB })
    await expect(
      obey('backup.restore', { ...restore, volume: volumeOf(1, 'qcow2', 2), sizeBytes: GiB }),
    ).rejects.toMatchObject({ code: 'disk_too_small' })
    expect(await obey('volume.look', volumeOf(1, 'qcow2', 2))).toEqual({ sizeBytes: null })

    expect(await obey('backup.forget', { snapshots: [made.snapshot], target })).toEqual({
      gone: [made.snapshot],
      kept: [],
    })
    await obey('volume.remove', restored)
    await expect(obey('backup.restore', restore)).rejects.toMatchObject({ code: 'backup_no_snapshot' })
  })

test('a restore that the pool has no space for is refused before anything is read', async () => {
  const { host, obey, make } = await rig()
  const { snapshot } = await make()
  const pool = host.storage.pool('local')
  const { capacity } = pool
  pool.capacity = async () => ({ ...(await capacity.call(pool)), freeBytes: 500 << 20 })
  let reads = 0
  host.backups.load = async () => void reads++
  const restore = { snapshot, volume: restored, sizeBytes: 2 * GiB, target }
  await expect(obey('backup.restore', restore)).rejects.toMatchObject({
    code: 'pool_full',
    message: expect.stringContaining('the pool local has 524288000 free'),
  })
  expect([reads, await obey('volume.look', restored)]).toEqual([0, { sizeBytes: null }])
  pool.capacity = async () => ({ ...(await capacity.call(pool)), freeBytes: 700 << 20 })
  await obey('backup.restore', restore)
  expect(reads).toBe(1)
})

test('a restore to a pool with space for the whole disk does not read the list of its parts', async () => {
  const { host, obey, make } = await rig()
  const { snapshot } = await make()
  const pool = host.storage.pool('local')
  const { capacity } = pool
  let reads = 0
  host.backups.dataBytes = async () => {
    reads++
    return 0
  }
  for (const [volume, freeBytes] of [[restored, 4 * GiB] as const, [volumeOf(1, 'qcow2', 2), GiB] as const]) {
    pool.capacity = async () => ({ ...(await capacity.call(pool)), freeBytes })
    await obey('backup.restore', { snapshot, volume, sizeBytes: 3 * GiB, target })
    expect(reads).toBe(freeBytes === GiB ? 1 : 0)
  }
})

test('the layer in use is saved', async () => {
  const { obey, layers, pathOf, make } = await rig()
  const volume = atLayer(volumeOf(1), 1)
  await obey('volume.snapshot', { vm: vmOf(1, { volume, seeded: false }), from: 0 })
  layers.write(await pathOf(volume), 'b')
  const { snapshot } = await make({ volume })
  await obey('backup.restore', { snapshot, volume: restored, sizeBytes: 2 * GiB, target })
  expect(layers.read(await pathOf(restored))).toBe('b')
})

test('a guest that cannot be frozen is saved all the same', async () => {
  const { host, make } = await rig()
  host.guestAgent.freeze = async () => {
    throw new Error('it does not freeze')
  }
  expect(await make()).toMatchObject({ consistent: false })
  expect(host.state.frozen()).toEqual([])
})

test('a vm that was switched off is saved and not consistent; one whose guest shut down is', async () => {
  const { make, obey } = await rig()
  await obey('vm.stop', { workload, graceSeconds: 0 })
  expect(await make()).toMatchObject({ consistent: false })
  await obey('vm.start', { workload })
  await obey('vm.stop', { workload, graceSeconds: 5 })
  expect(await make({ backup: 'bkp_00000000000000000000000002' })).toMatchObject({ consistent: true })
})

test('a disk that is missing, and a target that is away, fail with a code', async () => {
  const { make, obey } = await rig()
  await obey('vm.remove', { workload })
  await expect(make({ volume: volumeOf(7) })).rejects.toMatchObject({ code: 'no_volume' })
  const nowhere = { ...target, kind: 'rest' as const, address: 'https://nowhere.example/' }
  await expect(make({ target: nowhere })).rejects.toMatchObject({ code: 'backup_unreachable' })
})

/** Backups that are saved when the test lets them; a signal ends them. */
function held(backups: Backups) {
  const begun: { source: 'disk' | 'served'; go(): void }[] = []
  const save = backups.save.bind(backups)
  backups.save = async (to, what, source, signal) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(backupFailure('interrupted', 'stopped')))
      begun.push({ source: 'disk' in source ? 'disk' : 'served', go: resolve })
    })
    return await save(to, what, source, signal)
  }
  const next = async () => {
    while (!begun.length) await Bun.sleep(5)
    return begun.shift()!
  }
  return { next }
}

async function heldRig() {
  const made = await rig()
  return { ...made, ...held(made.host.backups) }
}

test('a vm starts while its disk is being saved, and is saved anew', async () => {
  const { obey, next, make } = await heldRig()
  await obey('vm.stop', { workload, graceSeconds: 0 })
  const made = make()
  expect((await next()).source).toBe('disk')
  await obey('vm.start', { workload })
  const again = await next()
  expect(again.source).toBe('served')
  again.go()
  expect(await made).toMatchObject({ diskBytes: 2 * GiB })
})

test('two backups of one vm are made one after the other, and other commands do not wait', async () => {
  const { obey, next, make } = await heldRig()
  const both = Promise.all([make(), make({ backup: `bkp_${'2'.repeat(26)}` })])
  const first = await next()
  expect(parseCommand('backup.make', { backup, volume: volumeOf(1), target }).turn).toBeUndefined()
  await obey('vm.set-restart-policy', { workload, restartPolicy: 'always' })
  first.go()
  ;(await next()).go()
  const [one, two] = await both
  expect(one.snapshot).not.toBe(two.snapshot)
})

test('forgetting a backup that is being made stops it first', async () => {
  const { obey, next, make } = await heldRig()
  const made = make().catch((error) => error.code)
  await next()
  expect(await obey('backup.forget', { snapshots: [], backups: [backup], target })).toEqual({ gone: [], kept: [] })
  expect(await made).toBe('backup_interrupted')
})

test('what a killed agent left in a running vm is ended at the next start', async () => {
  const { dir, host } = await rig()
  const ended: string[] = []
  host.hypervisor.endServing = async (id) => void ended.push(id)
  await Bun.write(`${dir}/backups/${workload}.scratch`, 'old')
  await host.backupRuns.sweep()
  expect(ended).toEqual([workload])
  expect(await Bun.file(`${dir}/backups/${workload}.scratch`).exists()).toBe(false)
})
