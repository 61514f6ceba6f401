// A pool of Ceph, against a cluster that the test starts: BERTH_LONG=1, and the packages ceph-mon, ceph-mgr, ceph-osd,
// ceph-common and qemu-block-extra (500 MB, which is why not every run has it).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import { Rbd } from '../../../agent/drivers/storage/rbd.ts'
import { run } from '../../../agent/host/exec.ts'
import { volumeOf } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { storageContract } from '../storage.contract.ts'
import { missing, note } from '../tools.ts'
import { cephMissing, startCeph } from './ceph.ts'
import { empty, makeImage, rigOf } from './rig.ts'

setDefaultTimeout(300_000)
const MiB = 2 ** 20
const absent = cephMissing() ?? (await missing('rbd', 'ceph', 'qemu-img'))

describe.skipIf(note(absent, 'pools of Ceph'))('a pool of Ceph', () => {
  let cluster: Awaited<ReturnType<typeof startCeph>>
  let image: Awaited<ReturnType<typeof makeImage>>
  beforeAll(async () => {
    const began = performance.now()
    cluster = await startCeph(temporary('ceph'), 20_000 + (process.pid % 20_000))
    image = await makeImage()
    process.stderr.write(`the cluster was up after ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  }, 120_000)
  afterAll(() => cluster?.stop())

  const scratch = join(temporary('scratch'), 'scratch')
  const driver = () => new Rbd(cluster.pool, { configFile: cluster.conf }, scratch)
  const address = (path: string) => `rbd:${path}:conf=${cluster.conf}`

  storageContract(() => rigOf(driver(), image, address), { formats: ['raw'] })

  test('a disk whose reader was killed is deleted when Ceph misses it', async () => {
    const pool = new BlockPool('local', driver())
    await empty(pool)
    await pool.create(volumeOf(1, 'raw'), image, 64 * MiB)
    const { path } = await pool.disk(volumeOf(1, 'raw'))
    // It has the image open while it waits for a command.
    const reader = Bun.spawn(['qemu-io', '-r', '-f', 'raw', address(path)], { stdin: 'pipe', stdout: 'ignore' })
    const isOpen = async () =>
      (await run('rbd', ['status', path, '--conf', cluster.conf], { quietly: true })).out.includes('watcher=')
    await eventually(isOpen, 60)
    expect(await isOpen()).toBe(true)
    reader.kill('SIGKILL')
    await reader.exited
    await pool.remove(volumeOf(1, 'raw'))
    expect(await pool.list()).toEqual([])
  })
  test('a pool that is not there, and a cluster that does not answer, are told in words', async () => {
    const other = new Rbd('other', { configFile: cluster.conf }, scratch)
    await expect(other.capacity()).rejects.toThrow('no pool other')
    const nowhere = new Rbd('berth', { configFile: '/nonexistent/ceph.conf' }, scratch)
    await expect(nowhere.names()).rejects.toMatchObject({ code: 'tool_failed' })
  })
})
