// Vms that run on the disks of a pool, with an extra volume, by the commands of the agent and against libvirt: what
// every kind of pool does alike. The guest is that of guest/build-tiny-guest.sh.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { serialOf, type Volume } from '../../../agent/protocol/wire.ts'
import { imageSource } from '../../agent/examples.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { openVms, type Setting, type Vms } from './vms.ts'

const MiB = 2 ** 20
/** A processor that is emulated inside an emulated one takes minutes to boot. */
const BOOT_SECONDS = 1200
const LIMIT_MS = 3_600_000

/** `image`: the path of the guest's. */
export function runningContract(open: () => Promise<Setting & { image: string }>) {
  setDefaultTimeout(LIMIT_MS)
  let vms: Vms
  let [first, second] = ['', '']
  const obey: Vms['obey'] = (name, input) => vms.obey(name, input)
  const boot = async (workload: string) => {
    const began = performance.now()
    await vms.start(workload)
    await eventually(() => vms.host.hypervisor.guestAnswers(workload), BOOT_SECONDS)
    expect(await vms.host.hypervisor.guestAnswers(workload)).toBe(true)
    vms.told('the guest answers', began)
  }
  const inGuest = async (workload: string, script: string) => {
    const { code, output } = await vms.host.guestAgent.exec(workload, ['sh', '-c', script], { limitSeconds: 600 })
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${output}`)
    return output.trim()
  }
  /** Runs a script in which `$D` is the volume's device, and `$S` what the kernel says of it; `none` without one. */
  const onVolume = (workload: string, { workload: id }: Volume, script: string) =>
    inGuest(
      workload,
      `for d in /sys/block/vd*; do [ "$(cat $d/serial)" = ${serialOf(id)} ] && S=$d D=/dev/$(basename $d); done; ` +
        `[ -n "$D" ] || { echo none; exit; }; ${script}`,
    )
  const sizeIn = async (workload: string, disk = 'vda') =>
    Number(await inGuest(workload, `cat /sys/block/${disk}/size`)) * 512

  beforeAll(async () => {
    const setting = await open()
    const { image } = setting
    vms = await openVms(setting)
    ;[first, second] = vms.workloads
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })
    process.env['PANEL_AGENT_INSECURE'] = '1'
    const checksum = `sha256:${createHash('sha256').update(readFileSync(image)).digest('hex')}`
    await obey('image.ensure', { ...imageSource, url: `http://127.0.0.1:${server.port}/tiny.qcow2`, checksum })
    server.stop(true)
    await obey('volume.create', { volume: vms.diskOf(0), image: imageSource.id, sizeBytes: 512 * MiB })
    await obey('vm.define', vms.defined(0))
    await boot(first)
  }, LIMIT_MS)
  afterAll(() => vms?.close(), LIMIT_MS)

  test('a volume is empty, is in the running guest at once, grows there, and frees what is discarded', async () => {
    const one = vms.volumeOf(0)
    for (const _ of [1, 2]) await obey('volume.make', { volume: one, sizeBytes: 64 * MiB })
    expect(await onVolume(first, one, 'echo there')).toBe('none')
    for (const _ of [1, 2]) await obey('volume.attach', { workload: first, volume: one })
    expect(await onVolume(first, one, 'cat $S/size; tr -d "\\0" <$D | wc -c')).toBe(`${(64 * MiB) / 512}\n0`)

    const { pool } = vms
    await onVolume(first, one, 'tr "\\0" Z </dev/zero | dd of=$D bs=1M count=64 iflag=fullblock conv=fsync')
    const written = await pool.usedBytes(one)
    for (const _ of [1, 2]) await obey('volume.grow', { volume: one, sizeBytes: 96 * MiB })
    expect(await onVolume(first, one, 'cat $S/size; tail -c +67108865 $D | tr -d "\\0" | wc -c')).toBe(
      `${(96 * MiB) / 512}\n0`,
    )
    expect(await onVolume(first, one, 'head -c 67108864 $D | tr -d Z | wc -c')).toBe('0')
    await onVolume(first, one, 'blkdiscard -o 33554432 $D; sync')
    await eventually(async () => (await pool.usedBytes(one)) < written, 60)
    expect(await pool.usedBytes(one)).toBeLessThan(written)
    await expect(obey('volume.remove', one)).rejects.toMatchObject({ code: 'volume_in_use' })
  })

  test('a snapshot of a running vm comes back without what was written since, and merges under the guest', async () => {
    await inGuest(first, 'echo before >/root/state; sync')
    const taken = await obey('volume.snapshot', { vm: vms.defined(0, 1), from: 0 })
    expect(taken.consistent).toBe(true)
    await inGuest(first, 'echo after >/root/state; sync')
    await obey('volume.grow', { volume: atLayer(vms.diskOf(0), 1), sizeBytes: 640 * MiB })
    expect(await sizeIn(first)).toBe(640 * MiB)
    await obey('vm.stop', { workload: first, graceSeconds: 0 })
    await obey('volume.fork', { volume: atLayer(vms.diskOf(0), 2), from: 0, sizeBytes: 640 * MiB })
    await obey('vm.define', vms.defined(0, 2))
    for (const _ of [1, 2]) await obey('volume.remove-layer', { volume: vms.diskOf(0), layer: 1 })
    await boot(first)
    expect(await inGuest(first, 'cat /root/state')).toBe('before')
    await inGuest(first, 'echo merged >/root/state; sync')
    for (const _ of [1, 2]) await obey('volume.merge', { vm: vms.defined(0), from: 2, into: 0 })
    expect([await inGuest(first, 'cat /root/state'), await sizeIn(first)]).toEqual(['merged', 640 * MiB])
    // The volume was there through the stop and the definitions.
    expect(await onVolume(first, vms.volumeOf(0), 'head -c 33554432 $D | tr -d Z | wc -c')).toBe('0')
  })

  test('a backup of a running vm becomes the disk of a second one, to which the volume moves', async () => {
    await inGuest(first, 'echo saved >/root/state; sync')
    const backup = { backup: `bkp_${'1'.repeat(26)}`, volume: vms.diskOf(0), target: vms.target }
    const made = await obey('backup.make', backup)
    expect(made).toMatchObject({ consistent: true, diskBytes: 640 * MiB })
    await inGuest(first, 'echo later >/root/state; sync')
    const restore = { snapshot: made.snapshot, volume: vms.diskOf(1), sizeBytes: made.diskBytes, target: vms.target }
    for (const _ of [1, 2]) await obey('backup.restore', restore)
    await obey('vm.define', vms.defined(1))

    const one = vms.volumeOf(0)
    await expect(obey('volume.attach', { workload: second, volume: one })).rejects.toMatchObject({
      code: 'volume_in_use',
    })
    for (const _ of [1, 2]) await obey('volume.detach', { workload: first, volume: one })
    expect(await onVolume(first, one, 'echo there')).toBe('none')
    await obey('volume.attach', { workload: second, volume: one })
    await boot(second)
    expect(await inGuest(second, 'cat /root/state')).toBe('saved')
    expect(await onVolume(second, one, 'cat $S/size; head -c 33554432 $D | tr -d Z | wc -c')).toBe(
      `${(96 * MiB) / 512}\n0`,
    )
    expect(await inGuest(first, 'cat /root/state')).toBe('later')
  })

  test('a vm whose process was killed starts at once, and its disks can be deleted after another kill', async () => {
    await inGuest(second, 'echo kept >/root/state; sync')
    await onVolume(second, vms.volumeOf(0), 'echo kept | dd of=$D conv=fsync')
    await vms.killQemu(second)
    await boot(second)
    expect(await inGuest(second, 'cat /root/state')).toBe('kept')
    expect(await onVolume(second, vms.volumeOf(0), 'head -c 4 $D')).toBe('kept')
    await vms.killQemu(second)
    await obey('vm.remove', { workload: second })
    for (const _ of [1, 2]) await obey('volume.remove', vms.diskOf(1))
    await obey('volume.remove', vms.volumeOf(0))
    expect(await vms.host.storage.list()).toEqual([vms.diskOf(0)])
  })

  test('new volumes show nothing of what was there before', async () => {
    const [two, three] = [vms.volumeOf(0), vms.volumeOf(1)]
    for (const one of [two, three]) {
      await obey('volume.make', { volume: one, sizeBytes: 96 * MiB })
      await obey('volume.attach', { workload: first, volume: one })
      // Each block is written in part, so that the storage gives it out.
      await onVolume(
        first,
        one,
        'for i in $(seq 0 95); do printf x | dd of=$D bs=512 seek=$((i * 2048)) conv=sync; done',
      )
      expect(await onVolume(first, one, 'tr -d "\\0" <$D | wc -c')).toBe('96')
    }
    for (const one of [two, three]) {
      await obey('volume.detach', { workload: first, volume: one })
      await obey('volume.remove', one)
    }
    await obey('vm.stop', { workload: first, graceSeconds: 60 })
    await obey('vm.remove', { workload: first })
    await obey('volume.remove', vms.diskOf(0))
    expect(await vms.host.storage.list()).toEqual([])
  })
}
