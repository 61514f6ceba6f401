// A pool of Ceph, against a cluster that the test starts: BERTH_LONG=1, and the packages ceph-mon, ceph-mgr, ceph-osd,
// ceph-common and qemu-block-extra (500 MB, which is why not every run has it).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import { BlockPool } from '../../../../agent/drivers/storage/block-pool.ts'
import { Rbd } from '../../../../agent/drivers/storage/rbd.ts'
import { atLayer, qemuPath } from '../../../../agent/drivers/storage/storage.ts'
import { run } from '../../../../agent/host/exec.ts'
import { volumeOf } from '../../../agent/examples.ts'
import { temporary } from '../../../agent/temporary.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { storageContract } from '../../storage.contract.ts'
import { missing, note } from '../../tools.ts'
import { empty, makeImage, rigOf } from '../rig.ts'
import { type Ceph, cephMissing, startCeph } from './cluster.ts'

setDefaultTimeout(300_000)
const MiB = 2 ** 20
const WRITES = 512
const absent = cephMissing() ?? (await missing('rbd', 'ceph', 'qemu-img'))

const cases = [
  ['a pool of Ceph with cephx', { cephx: true, osds: 1 }],
  ['a pool of Ceph without cephx', { cephx: false, osds: 1 }],
  ['a pool of Ceph with three copies', { cephx: true, osds: 3 }],
] as const
for (const [name, options] of cases)
  describe.skipIf(note(absent, name))(name, () => {
    let cluster: Ceph
    let image: Awaited<ReturnType<typeof makeImage>>
    beforeAll(async () => {
      const began = performance.now()
      cluster = await startCeph(temporary('ceph'), 20_000 + (process.pid % 20_000), options)
      image = await makeImage()
      process.stderr.write(`the cluster was up after ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
    }, 120_000)
    afterAll(() => cluster?.stop())

    const scratch = join(temporary('scratch'), 'scratch')
    const driver = () => new Rbd(cluster.pool, cluster.access, scratch)
    const disk = (path: string) =>
      ({ kind: 'network', protocol: 'rbd', format: 'raw', path, access: cluster.access }) as const
    const address = (path: string) => qemuPath(disk(path))

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

    test('a pool that is not there, and a configuration that is not, are told in words', async () => {
      const other = new Rbd('other', cluster.access, scratch)
      await expect(other.capacity()).rejects.toThrow('no pool other')
      const nowhere = new Rbd('berth', { ...cluster.access, configFile: '/nonexistent/ceph.conf' }, scratch)
      await expect(nowhere.names()).rejects.toThrow('unable to open config file')
    })

    test.skipIf(!options.cephx)('a user without a key, and one with another key, are refused in words', async () => {
      const { auth } = cluster.access
      const without = { ...cluster.access, auth: { ...auth!, keyringFile: undefined } }
      await expect(new Rbd(cluster.pool, without, scratch).names()).rejects.toThrow("couldn't connect to the cluster")
      const keyringFile = join(temporary('keyring'), 'keyring')
      const words = ['--create-keyring', keyringFile, '--gen-key', '-n', `client.${auth!.user}`]
      expect(await Bun.spawn(['ceph-authtool', ...words], { stdout: 'ignore' }).exited).toBe(0)
      const wrong = new Rbd(cluster.pool, { ...cluster.access, auth: { ...auth!, keyringFile } }, scratch)
      await expect(wrong.names()).rejects.toThrow('Permission denied')
      await expect(wrong.capacity()).rejects.toThrow(/denied/i)
    })
    test.skipIf(!options.cephx)(
      'the key opens this pool alone, and is in no command that the agent starts',
      async () => {
        await cluster.ceph('osd', 'pool', 'create', 'foreign', '1')
        const foreign = new Rbd('foreign', cluster.access, scratch)
        await expect(foreign.names()).rejects.toThrow(/not permitted/i)
        // Each command with its arguments is a line of the log.
        const lines: string[] = []
        const job = { line: (_: string, text: string) => void lines.push(text), progress: () => {} }
        const pool = new BlockPool('local', driver())
        await loggingTo(job, () => pool.create(volumeOf(1, 'raw'), image, 64 * MiB))
        await loggingTo(job, () => pool.remove(volumeOf(1, 'raw')))
        const key = (await cluster.ceph('auth', 'get-key', `client.${cluster.access.auth!.user}`)).trim()
        expect([lines.length > 3, key.length > 20, lines.join('\n').includes(key)]).toEqual([true, true, false])
      },
    )

    // These come last: what was killed stays away.
    test.skipIf(options.osds < 3)('with one OSD gone everything goes on', async () => {
      const pool = new BlockPool('local', driver())
      await empty(pool)
      const [one, two] = [volumeOf(1, 'raw'), volumeOf(2, 'raw')]
      await pool.create(one, image, 64 * MiB)
      const { path } = await pool.disk(one)
      const commands = [...each(WRITES, 'write -P 90'), ...each(WRITES, 'read -P 90')]
      const writing = Bun.spawn(['qemu-io', '-f', 'raw', '-t', 'none', ...commands, address(path)], { stderr: 'pipe' })
      let out = ''
      let killed = false
      for await (const chunk of writing.stdout) {
        out += new TextDecoder().decode(chunk)
        if (killed || !out.includes('wrote')) continue
        killed = true
        expect(out).not.toContain('read ')
        await cluster.kill('osd.2')
      }
      expect([killed, await writing.exited, /failed|error/i.test(out)]).toEqual([true, 0, false])
      expect(out.match(/^(wrote|read) /gm)).toHaveLength(2 * WRITES)
      await pool.fork(atLayer(one, 1), 0, 96 * MiB)
      await pool.create(two, image, 64 * MiB)
      await pool.remove(one)
      expect(await pool.list()).toEqual([two])
    })
    test('commands to OSDs that do not answer end with words, and go on when they are back', async () => {
      const pool = new BlockPool('local', driver())
      await empty(pool)
      const volume = volumeOf(1, 'raw')
      await pool.create(volume, image, 64 * MiB)
      const paused = options.osds < 3 ? ['osd.0'] : ['osd.0', 'osd.1']
      for (const name of paused) cluster.pause(name)
      const began = performance.now()
      const results = await Promise.allSettled([
        pool.list(),
        pool.grow(volume, 96 * MiB),
        pool.create(volumeOf(2, 'raw'), image, 64 * MiB),
        run('qemu-img', ['info', address((driver().disk('x', { start: 0 }) as { path: string }).path)]),
      ])
      const words = results.map((result) => (result.status === 'rejected' ? result.reason.message : 'it succeeded'))
      expect(words).toEqual(Array(4).fill(expect.stringContaining('timed out')))
      expect(performance.now() - began).toBeLessThan(90_000)
      for (const name of paused) cluster.goOn(name)
      await eventually(
        () =>
          pool.grow(volume, 96 * MiB).then(
            () => true,
            () => false,
          ),
        60,
      )
      expect(await pool.sizeBytes(volume)).toBe(96 * MiB)
    })
    test('commands to a cluster that does not answer end with words', async () => {
      cluster.pause('mon.a')
      const began = performance.now()
      const driven = driver()
      const results = await Promise.allSettled([driven.names(), driven.capacity(), driven.removeRest('x')])
      const words = results.map((result) => (result.status === 'rejected' ? result.reason.message : 'it succeeded'))
      expect(words).toEqual(Array(3).fill(expect.stringContaining('timed out')))
      expect(performance.now() - began).toBeLessThan(50_000)
      cluster.goOn('mon.a')
      await eventually(
        () =>
          driven.names().then(
            () => true,
            () => false,
          ),
        60,
      )
      expect(await driven.names()).toEqual(expect.any(Array))
    })
  })

/** The places of a disk of 64 MiB at which qemu-io does this. */
const each = (count: number, command: string) =>
  Array.from({ length: count }, (_, at) => ['-c', `${command} ${at * 128}k 128k`]).flat()
