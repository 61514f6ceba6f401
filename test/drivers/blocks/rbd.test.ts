// A pool of Ceph, against a cluster that the test starts: BERTH_LONG=1, and the packages ceph-mon, ceph-mgr, ceph-osd,
// ceph-common and qemu-block-extra (500 MB, which is why not every run has it).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import { Rbd } from '../../../agent/drivers/storage/rbd.ts'
import { volumeOf } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { storageContract } from '../storage.contract.ts'
import { missing, note } from '../tools.ts'
import { startCeph } from './ceph.ts'
import { empty, makeImage, patternLeftBehind, rigOf } from './rig.ts'

const MiB = 2 ** 20
const long = process.env['BERTH_LONG'] === '1'
const daemons = ['ceph-mon', 'ceph-mgr', 'ceph-osd'].filter((program) => !Bun.which(program))
const absent = !long
  ? 'BERTH_LONG is not 1'
  : daemons.length
    ? `${daemons.join(', ')} not installed`
    : await missing('rbd', 'ceph', 'qemu-img')

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

  test('a fresh disk shows nothing of a disk that another had', async () => {
    const pool = new BlockPool('local', driver())
    await empty(pool)
    const volumes = [volumeOf(1, 'raw'), volumeOf(2, 'raw')]
    expect(await patternLeftBehind({ pool, image }, volumes, 64 * MiB, address)).toBe(false)
    await empty(pool)
  })
  test('a pool that is not there, and a cluster that does not answer, are told in words', async () => {
    const other = new Rbd('other', { configFile: cluster.conf }, scratch)
    await expect(other.capacity()).rejects.toThrow('no pool other')
    const nowhere = new Rbd('berth', { configFile: '/nonexistent/ceph.conf' }, scratch)
    await expect(nowhere.names()).rejects.toMatchObject({ code: 'tool_failed' })
  })
})
