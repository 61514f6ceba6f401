// Only the real engine can show this: why containers end, what their root cannot do, and how the agent copes with the
// engine's own mishaps.
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Given } from '../../../agent/drivers/container/container.ts'
import { uidBase } from '../../../agent/drivers/container/ids.ts'
import { PodmanContainers } from '../../../agent/drivers/container/podman/podman.ts'
import { cdiName } from '../../../agent/drivers/gpu/cdi.ts'
import type { Container } from '../../../agent/protocol/gpu.ts'
import { cardId } from '../../agent/instances/examples.ts'
import { note } from '../tools.ts'
import { closePodman, podmanIsMissing, podmanRig, removeGroups } from './podman-rig.ts'

const isLong = process.env['BERTH_LONG'] !== undefined
const CDI_FILE = `/etc/cdi/berth-test-${process.pid}.json`

describe.skipIf(note(await podmanIsMissing(), 'ends and limits of containers with Podman'))('with Podman', () => {
  afterEach(async () => {
    const { containers } = await podmanRig()
    for (const { id } of await containers.look()) await containers.remove(id)
  })
  afterAll(async () => {
    rmSync(CDI_FILE, { force: true })
    await closePodman()
  })

  /** A container that runs `script`. */
  async function running(script: string, more: Partial<Container> = {}, gives: Partial<Given> = {}, n = 1) {
    const rig = await podmanRig()
    await rig.containers.ensureImage(rig.image, undefined)
    const container = rig.container(n, { command: ['/bin/sh', '-c', script], ...more })
    const { workload } = container
    await rig.containers.create(container, { ...(await rig.given(n)), ...gives })
    await rig.containers.start(workload)
    return { ...rig, container, workload }
  }
  const seenOf = async (workload: string) =>
    (await (await podmanRig()).containers.look()).find(({ id }) => id === workload)!
  async function ended(workload: string) {
    const until = performance.now() + 10_000
    while ((await seenOf(workload)).power === 'running' && performance.now() < until) await Bun.sleep(30)
    return (await seenOf(workload)).end!
  }
  /** The output of a script, once it has said `done`. */
  async function written(workload: string): Promise<string> {
    const { containers } = await podmanRig()
    const until = performance.now() + 10_000
    for (let text = ''; ; await Bun.sleep(50)) {
      text = (await containers.logs(workload, 100)).text
      if (text.endsWith('done\n') || performance.now() > until) return text
    }
  }
  const pidOf = async (workload: string) =>
    (await (await podmanRig()).api.find<{ State: { Pid: number; ConmonPid: number } }>(`/containers/${workload}/json`))!
      .State

  test('a log is followed by its cursor: each line comes once, in its order', async () => {
    const { containers, workload } = await running(
      'for n in 1 2 3 4 5 6; do echo $n; echo $n >&2; sleep 0.1; done; echo done',
    )
    const until = performance.now() + 10_000
    let all = ''
    for (let cursor: string | undefined; !all.endsWith('done\n') && performance.now() < until; await Bun.sleep(40)) {
      const part = await containers.logs(workload, 100, cursor)
      all += part.text
      cursor = part.cursor
    }
    const lines = all.split('\n').slice(0, -1)
    expect(lines.toSorted()).toEqual(['1', '1', '2', '2', '3', '3', '4', '4', '5', '5', '6', '6', 'done'])
    expect(lines.at(-1)).toBe('done')
  })

  describe('the end of a command has its reason', () => {
    test('its exit code', async () => {
      const { workload } = await running('sleep 0.4; exit 3')
      expect(await ended(workload)).toEqual({
        exitCode: 3,
        oomKilled: false,
        detail: 'Its command ended with exit code 3.',
      })
    })
    test('a signal', async () => {
      const { workload, kill } = await running('sleep 60')
      await kill(workload)
      expect(await ended(workload)).toMatchObject({ exitCode: 137, oomKilled: false })
    })
    test('its memory, which it filled itself', async () => {
      const { workload } = await running('sleep 0.3; exec tail /dev/zero', { memoryMb: 64 })
      expect(await ended(workload)).toMatchObject({ exitCode: 137, oomKilled: true })
      expect((await ended(workload)).detail).toContain('64 MiB')
    })
    test.if(isLong)(
      'not its memory, which only a child filled before',
      async () => {
        const { workload, containers } = await running('tail /dev/zero; sleep 6; exit 4', { memoryMb: 64 })
        await Bun.sleep(1500)
        await containers.look()
        const end = await ended(workload)
        expect(end).toMatchObject({ exitCode: 4, oomKilled: false })
        expect(end.detail).toContain('the kernel killed one of its processes')
      },
      20_000,
    )
    test.each([
      // Process 1 says 1 where it cannot execute the command.
      ['cannot be found', [1, 127], ['/no/such/program']],
      ['ends at once', [5], ['/bin/sh', '-c', 'exit 5']],
    ])('a command that %s has an exit code of %p, or is refused', async (_, exitCodes, command) => {
      const rig = await podmanRig()
      const failure = await running('', { command }).then(
        () => undefined,
        (error: Error) => error,
      )
      if (failure) expect(failure.message).toMatch(/^the container ended at once: |executable file .* not found/)
      else expect(exitCodes).toContain((await ended(rig.container(1).workload)).exitCode!)
    })
  })

  describe('when parts of the engine are killed', () => {
    test('its helper: the container counts as running until its process is gone, and starts again', async () => {
      const { workload, containers } = await running('sleep 60')
      const { ConmonPid, Pid } = await pidOf(workload)
      process.kill(ConmonPid, 'SIGKILL')
      await Bun.sleep(200)
      expect(await containers.power(workload)).toBe('running')
      process.kill(Pid, 'SIGKILL')
      expect(await ended(workload)).toMatchObject({ exitCode: null, oomKilled: false })
      await containers.start(workload)
      expect(await containers.power(workload)).toBe('running')
    }, 60_000)
    test.if(isLong)(
      'its helper: a stop ends the container all the same',
      async () => {
        const { workload, containers } = await running('sleep 60')
        const { ConmonPid, Pid } = await pidOf(workload)
        process.kill(ConmonPid, 'SIGKILL')
        await containers.stop(workload, 0)
        expect(() => process.kill(Pid, 0)).toThrow()
        expect(await seenOf(workload)).toMatchObject({ power: 'stopped', off: 'destroyed' })
      },
      30_000,
    )
    test('its service: containers run on, and the next call starts another', async () => {
      const { workload, containers } = await running('sleep 60')
      const { Pid } = await pidOf(workload)
      containers.close()
      await Bun.sleep(200)
      expect(() => process.kill(Pid, 0)).not.toThrow()
      expect(await containers.power(workload)).toBe('running')
      expect(await containers.runInside(workload, ['true'])).toBe(0)
    })
    test('the agent: another one finds what runs, and why what ended meanwhile did', async () => {
      const { workload, options } = await running('sleep 60')
      const two = await running('sleep 0.5; exit 6', {}, {}, 2)
      await Bun.sleep(800)
      const after = new PodmanContainers(options)
      const seen = new Map((await after.look()).map((one) => [one.id, one]))
      expect(seen.get(workload)?.power).toBe('running')
      expect(seen.get(two.workload)).toMatchObject({ power: 'stopped', off: 'crashed', end: { exitCode: 6 } })
      after.close()
    })
  })

  describe('the root of an instance', () => {
    test('has user ids of its own, no rights over the host, and no way to get any', async () => {
      const tries = {
        mknod: 'mknod /tmp/x c 1 3',
        mount: 'mount -t tmpfs none /tmp',
        user: 'unshare -U true',
        netns: 'unshare -n true',
        core: 'head -c 1 /proc/kcore | grep -q .',
        keys: 'grep -q . /proc/keys',
        sysctl: 'echo 1 > /proc/sys/kernel/panic',
        sysrq: 'echo h > /proc/sysrq-trigger',
        host: 'hostname other',
        memory: 'head -c 1 /dev/mem',
      }
      const script = Object.entries(tries).map(([name, words]) => `(${words}) 2>/dev/null && echo BROKE ${name}`)
      const { workload } = await running(
        `${script.join('; ')}; id -u; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; echo done; sleep 60`,
      )
      const text = await written(workload)
      expect(text).not.toContain('BROKE')
      expect(text).toMatch(/^0$/m)
      expect(text).toMatch(/NoNewPrivs:\s+1/)
      expect(text).toMatch(/Seccomp:\s+2/)
      const { Pid } = await pidOf(workload)
      const status = readFileSync(`/proc/${Pid}/status`, 'utf8')
      expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBeGreaterThan(1_000_000)
      // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE, SYS_CHROOT
      expect(BigInt(`0x${/^CapBnd:\s+([0-9a-f]+)/m.exec(status)?.[1]}`)).toBe(capabilities())
    }, 60_000)
    test('writes to its workspace, which another container of the instance finds', async () => {
      const { workload, containers } = await running('echo kept > /workspace/file; echo done; sleep 60')
      await written(workload)
      await containers.remove(workload)
      const again = await running('cat /workspace/file; echo done; sleep 60')
      expect(await written(again.workload)).toContain('kept')
    })
    test('reaches the devices of its own cards alone', async () => {
      const dir = join((await podmanRig()).dir, 'devices')
      mkdirSync(dir, { recursive: true })
      const made = [1, 2].map((n) => ({ uuid: cardId(n), path: join(dir, `card${n}`) }))
      for (const { path } of made) await Bun.$`mknod ${path} c 1 3 && chmod 666 ${path}`.quiet()
      mkdirSync('/etc/cdi', { recursive: true })
      const nodeOf = ({ uuid, path }: (typeof made)[number], n: number) => ({
        name: uuid,
        containerEdits: {
          deviceNodes: [{ path: `/dev/card${n + 1}`, hostPath: path, fileMode: 0o666, permissions: 'rw' }],
        },
      })
      const kind = cdiName('').slice(0, -1)
      writeFileSync(CDI_FILE, JSON.stringify({ cdiVersion: '0.5.0', kind, devices: made.map(nodeOf) }))
      const script = 'ls /dev; echo x > /dev/card1 && echo OPENED; echo done; sleep 60'
      const { workload, containers, container } = await running(script, {}, { devices: [cdiName(cardId(1))] })
      const text = await written(workload)
      expect(text).toMatch(/^card1$/m)
      expect(text).toContain('OPENED')
      expect(text).not.toContain('card2')
      await containers.stop(workload, 0)
      rmSync(CDI_FILE)
      expect(containers.start(container.workload)).rejects.toMatchObject({ code: 'no_card' })
      await containers.start(workload).catch(() => {})
    }, 60_000)
  })

  test('one that fills the disk outside its workspace is ended, and starts again without what it wrote', async () => {
    const script = 'ls /big; head -c 3000000 /dev/zero > /big; echo kept > /workspace/kept; echo done; sleep 60'
    const { workload, options, containers } = await running(script)
    const idle = await running('sleep 60', {}, {}, 2)
    await written(workload)
    const disk = { leastFreeBytes: Number.MAX_SAFE_INTEGER, worthBytes: 2e6 }
    const guard = new PodmanContainers({ ...options, disk })
    await guard.relieveDisk()
    expect(await seenOf(workload)).toMatchObject({ power: 'stopped', off: 'crashed' })
    expect((await seenOf(workload)).end?.detail).toContain('outside /workspace')
    expect(guard.relieveDisk()).rejects.toMatchObject({ code: 'pool_full' })
    expect((await seenOf(idle.workload)).power).toBe('running')
    guard.close()
    await containers.start(workload)
    expect(await written(workload)).toContain('No such file')
    expect(await containers.runInside(workload, ['cat', '/workspace/kept'])).toBe(0)
  }, 60_000)
  test('S44: one that goes on writing is ended before the disk of all is full, and the others go on', async () => {
    const { dir, options, container, given, image } = await podmanRig()
    const disk = join(dir, 'disk')
    mkdirSync(disk)
    const file = `${disk}.ext4`
    await Bun.$`truncate -s 3G ${file} && mke2fs -q -t ext4 -m 0 ${file} && mount -o loop ${file} ${disk}`
    const cgroup = `${options.cgroup}-disk`
    const apart = { dir: join(disk, 'lib'), runDir: join(dir, 'disk-run'), cgroup }
    const freeBytes = () => {
      const { bavail, bsize } = statfsSync(disk)
      return bavail * bsize
    }
    const limits = { leastFreeBytes: freeBytes() - (120 << 20), worthBytes: 20 << 20 }
    const containers = new PodmanContainers({ ...options, ...apart, disk: limits })
    const stop = new AbortController()
    try {
      await containers.ensureImage(image, undefined)
      const start = async (n: number, script: string) => {
        const one = container(n, { command: ['/bin/sh', '-c', script] })
        await containers.create(one, await given(n))
        await containers.start(one.workload)
        return one.workload
      }
      const idle = await start(6, 'sleep 600')
      const writer = await start(7, 'while :; do head -c 8000000 /dev/zero >>/big; sleep 0.1; done')
      let leastFree = Number.POSITIVE_INFINITY
      const looking = setInterval(() => {
        leastFree = Math.min(leastFree, freeBytes())
      }, 50)
      for await (const { workload, power, end } of containers.events(stop.signal))
        if (workload === writer && power === 'stopped') {
          expect(end?.detail).toContain('filled the disk of its host')
          break
        }
      clearInterval(looking)
      expect(leastFree).toBeLessThan(limits.leastFreeBytes)
      // It went on writing while it was found out and ended.
      expect(leastFree).toBeGreaterThan(limits.leastFreeBytes - (500 << 20))
      expect(freeBytes()).toBeGreaterThan(limits.leastFreeBytes)
      expect(await containers.power(idle)).toBe('running')
    } finally {
      stop.abort()
      for (const { id } of await containers.look()) await containers.remove(id)
      containers.close()
      await removeGroups(cgroup)
      await Bun.$`umount -l ${apart.dir}/storage/overlay; umount -l ${disk}`.quiet().nothrow()
    }
  }, 60_000)
  test('the engine is told with what it lacks, also where none of its services runs', async () => {
    const { containers, options, dir } = await podmanRig()
    const found = await containers.engine()
    expect(found).toEqual({ name: 'podman', version: expect.stringMatching(/^[45]\./), problems: [] })
    const apart = { dir: join(dir, 'apart'), runDir: join(dir, 'apart-run') }
    const strict = { ...options.minimum, podman: '99.0' }
    const other = new PodmanContainers({ ...options, ...apart, minimum: strict })
    expect((await other.engine())?.problems).toEqual([expect.stringContaining('99.0')])
    await Bun.$`umount -l ${apart.dir}/storage/overlay`.quiet().nothrow()
  })
  test('the hooks of a container reach its folder as its own root does, and no other user of the host', async () => {
    const { containers, image, container: described, given, api, options, dir } = await podmanRig()
    chmodSync(dir, 0o711)
    await containers.ensureImage(image, undefined)
    const [one, other] = [described(1), described(2)]
    for (const [n, container] of [one, other].entries()) await containers.create(container, await given(n + 1))
    const folder = async (workload: string) =>
      (await api.find<{ StaticDir: string }>(`/containers/${workload}/json`))!.StaticDir
    const reads = async (number: number, path: string) =>
      (
        await Bun.$`setpriv --reuid ${uidBase(number)} --regid ${uidBase(number)} --clear-groups stat ${path}`
          .quiet()
          .nothrow()
      ).exitCode === 0
    const [own, others] = [await folder(one.workload), await folder(other.workload)]
    expect(own.startsWith(options.dir)).toBe(true)
    expect(await reads(one.number, join(own, 'shm'))).toBe(true)
    expect(await reads(one.number, join(others, 'shm'))).toBe(false)
    // A folder that the engine closes later is opened again at the next start.
    chmodSync(own, 0o700)
    await containers.start(one.workload)
    expect(await reads(one.number, join(own, 'config.json'))).toBe(true)
    for (const { workload } of [one, other]) await containers.remove(workload)
  })
  test('nothing of a removed container is left: no mount, no group, no network', async () => {
    const { workload, containers, container } = await running('sleep 60')
    await containers.remove(workload)
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(workload)
    expect((await Bun.$`ip -o link`.quiet().text()).includes(`bgt${container.number}:`)).toBe(false)
    expect(readdirSync('/sys/fs/cgroup/memory').includes(`berth-test-${process.pid}/${workload}`)).toBe(false)
  })
})

const CAPABILITY_NUMBERS = [0, 1, 3, 4, 5, 6, 7, 10, 18]
const capabilities = () => CAPABILITY_NUMBERS.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n)
