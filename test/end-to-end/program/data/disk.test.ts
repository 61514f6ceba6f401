// S57: the disk of the data directory fills, fails and comes back under the compiled controller. Each disk is a real
// file system: a tmpfs of 24 MB, and ext4 on a loop device whose own storage runs out, which answers fsync with EIO
// (the device mapper, which could inject errors, is not in every kernel). Mounting needs root: without it the tests are
// skipped.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { emptyQcow2 } from '../../../support/guest.ts'
import { type Installation, installation } from '../../../support/world/processes.ts'

const MB = 1 << 20
const sh = (...command: string[]) => {
  const run = Bun.spawnSync(command, { stdout: 'pipe', stderr: 'pipe' })
  return { ok: run.success, out: run.stdout.toString().trim(), error: run.stderr.toString().trim() }
}
const must = (...command: string[]) => {
  const { ok, out, error } = sh(...command)
  if (!ok) throw new Error(`${command.join(' ')}: ${error}`)
  return out
}

/** `code`: the first error that SQLite meets on it. */
type Disk = {
  dir: string
  code: RegExp
  fill(): void
  empty(): void
  /** Nothing of it stays in memory, as after a reboot. */
  forget(): void
  remove(): void
}

/** Bytes until there is no space. */
function fillWith(path: string) {
  const file = openSync(path, 'w')
  try {
    for (let piece = MB; piece >= 512; )
      try {
        writeSync(file, Buffer.alloc(piece, 7))
      } catch {
        piece = piece >> 1
      }
  } finally {
    closeSync(file)
  }
}

function tmpfs(): Disk {
  const dir = mkdtempSync(`${tmpdir()}/berth-disk-`)
  must('mount', '-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'berth-test', dir)
  return {
    dir,
    code: /SQLITE_FULL/,
    fill: () => fillWith(`${dir}/ballast`),
    empty: () => rmSync(`${dir}/ballast`),
    forget: () => {},
    remove() {
      must('umount', dir)
      rmSync(dir, { recursive: true })
    },
  }
}

/** The file system sees a healthy disk with space, which cannot keep what is written: EIO at fsync. */
function thinDisk(): Disk {
  const backing = tmpfs()
  const image = `${backing.dir}/disk.img`
  must('truncate', '-s', '64M', image)
  // Without a journal of its own the file system goes on after errors, as one on a healthier disk does. All of its own
  // blocks are written here, and files have few extents: one that is first written while the disk fails would be lost,
  // and the files with it, which no database survives.
  const features = ['-b', '4096', '-N', '512', '-O', '^has_journal,bigalloc', '-C', '262144']
  must('mkfs.ext4', '-q', '-F', ...features, '-E', 'nodiscard,lazy_itable_init=0', image)
  const dir = mkdtempSync(`${tmpdir()}/berth-disk-`)
  const mount = () => {
    must('mount', '-o', 'loop,errors=continue', image, dir)
    // One block at a time: a loop device answers well to a write of which only the beginning had space.
    const device = must('findmnt', '--noheadings', '--output=SOURCE', dir).slice('/dev/'.length)
    writeFileSync(`/sys/block/${device}/queue/max_sectors_kb`, '4')
  }
  mount()
  return {
    dir,
    code: /SQLITE_IOERR_FSYNC/,
    fill: backing.fill,
    empty: backing.empty,
    forget() {
      must('umount', dir)
      mount()
    },
    remove() {
      must('umount', dir)
      rmSync(dir, { recursive: true })
      backing.remove()
    },
  }
}

const possible = (make: () => Pick<Disk, 'remove'>): boolean => {
  try {
    make().remove()
    return true
  } catch {
    return false
  }
}

const disks = { 'fills, and has space again': tmpfs, 'answers with errors, and works again': thinDisk }

for (const [what, make] of Object.entries(disks))
  describe.skipIf(!possible(make))(`a disk that ${what}`, () => {
    let disk: Disk
    let live: Installation
    beforeEach(async () => {
      disk = make()
      live = await installation({ PANEL_DATA_DIR: disk.dir })
    })
    afterEach(async () => {
      await live.close()
      disk.remove()
    })

    test('loses no acknowledged change, refuses the others in words, answers reads, and jobs go on by ' +
      'themselves', async () => {
      let controller = await live.serve()
      const token = await live.staffToken()
      const location = (await live.admin('locations.create', { name: 'Lab' })).id
      const home = await live.enroll(location, 'fra-01')
      live.agent(home)
      const node = await live.until('the node', async () =>
        (await live.admin('nodes.list')).data.find((n: any) => n.connected),
      )
      await live.admin('pools.create', {
        name: 'v4',
        network: '198.51.100.0/24',
        gateway: '198.51.100.1',
        nodeIds: [node.id],
      })
      const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
      mkdirSync(`${disk.dir}/incoming`, { recursive: true })
      await Bun.write(`${disk.dir}/incoming/tiny.qcow2`, emptyQcow2())
      const imageId = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
      const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
      const order = (hostname: string) =>
        live.api(token, 'POST', '/admin/servers', {
          hostname,
          ownerId,
          packageId,
          nodeGroupId: location,
          imageId,
          access: { mode: 'password' },
        })

      const acknowledged: string[] = []
      const refused: string[] = []
      let number = 0
      const make = (name: string) =>
        live.api(
          token,
          'POST',
          '/admin/customers',
          { name: `${name} ${'x'.repeat(60)}`, email: `${name}@example.com` },
          { 'Idempotency-Key': name },
        )
      const change = async () => {
        const name = `c${++number}`
        const { status, body, headers } = await make(name)
        if (status === 201) return acknowledged.push(name)
        refused.push(name)
        expect([status, body.error.code, headers.get('Retry-After')]).toEqual([503, 'restarting', '60'])
        expect(body.error.message).toMatch(/^The d\S* of the database .*reads keep working\.$|^The database cannot .*/)
        return 0
      }
      for (let i = 0; i < 20; i++) await change()
      expect(refused).toEqual([])

      // Its second step is under way when the disk fails; others are queued behind it and begin later.
      await Bun.write(
        `${home}/faults.json`,
        JSON.stringify([{ command: 'volume.create', mode: 'slow', ms: 2500, times: 1 }]),
      )
      const ordered = [await order('web1'), await order('web2')]
      expect(ordered.map(({ status }) => status)).toEqual([201, 201])
      await live.until(
        'the slow step',
        async () =>
          (await live.api(token, 'GET', `/jobs/${ordered[0]!.body.jobId}`)).body.step?.name === 'Making the disk',
      )
      disk.fill()
      await live.until('a refused change', async () => (await change()) === 0, 60)
      const end = performance.now() + 4000
      while (performance.now() < end) {
        await change()
        expect((await live.api(token, 'GET', '/admin/customers')).status).toBe(200)
        expect((await live.api(token, 'GET', `/servers/${ordered[0]!.body.serverId}`)).status).toBe(200)
        await Bun.sleep(50)
      }
      expect((await order('web3')).status).toBe(503)
      expect(controller.exitCode).toBeNull()
      const { attention } = await live.admin('overview.get')
      expect(attention.map((row: any) => row.what).join('\n')).toMatch(/^The .* Changes are refused and jobs wait\.$/m)
      const jobStates = async () =>
        Promise.all(ordered.map(async ({ body }) => (await live.api(token, 'GET', `/jobs/${body.jobId}`)).body.state))
      expect((await jobStates()).includes('failed')).toBe(false)

      disk.empty()
      await live.until('a change', async () => (await change()) > 0, 30)
      await live.until(
        'the end of both jobs',
        async () => (await jobStates()).every((state) => state === 'succeeded'),
        30,
      )
      expect((await live.admin('overview.get')).attention.map((row: any) => row.what).join()).not.toContain('refused')

      const customers = async () => {
        const { status, body } = await live.api(token, 'GET', '/admin/customers?limit=1000')
        if (status !== 200) console.warn(`the list of customers: ${JSON.stringify(body)}`)
        return status === 200 && body.data
      }
      const there = async () =>
        (await live.until('the list of customers', customers))
          .map((c: any) => c.email.split('@')[0])
          .filter((name: string) => name !== 'cal')
          .sort()
      expect(await there()).toEqual([...acknowledged].sort())
      // A refused call is done once with the same key.
      for (const name of refused.slice(0, 3)) {
        expect((await make(name)).status).toBe(201)
        expect((await make(name)).headers.get('Idempotency-Replayed')).toBe('true')
        acknowledged.push(name)
      }
      // And all of it is on the disk: nothing of it comes from memory.
      controller.kill('SIGKILL')
      await controller.exited
      disk.forget()
      controller = await live.serve()
      expect(await there()).toEqual([...acknowledged].sort())
      expect((await live.admin('audit.verify')).ok).toBe(true)
      const journal = await live.log('controller-0')
      expect(journal.match(/the database cannot be written: changes are refused/g)!.length).toBeLessThan(5)
      expect(journal).toMatch(disk.code)
      expect(journal).toContain('the database can be written again: changes are made')
      expect(journal).not.toContain('reports of nodes could not be kept')
    }, 120_000)

    test('is full when the controller starts: it answers reads, and changes begin by themselves', async () => {
      const first = await live.serve()
      const token = await live.staffToken()
      first.kill('SIGKILL')
      await first.exited
      disk.fill()
      const controller = await live.serve()
      expect(controller.exitCode).toBeNull()
      expect((await live.api(token, 'GET', '/admin/customers')).body.total).toBe(0)
      const change = (name: string) =>
        live.api(token, 'POST', '/admin/customers', { name: 'x'.repeat(90), email: `${name}@example.com` })
      let n = 0
      await live.until('a refused change', async () => (await change(`a${++n}`)).status === 503)
      disk.empty()
      await live.until('a change', async () => (await change(`b${++n}`)).status === 201)
    }, 60_000)
  })

/**
 * ext4 with a journal, on a loop device: after an error of the device it becomes read-only until it is mounted anew.
 */
function journaledDisk() {
  const backing = tmpfs()
  const image = `${backing.dir}/disk.img`
  must('truncate', '-s', '20M', image)
  must('mkfs.ext4', '-q', '-F', image)
  const dir = mkdtempSync(`${tmpdir()}/berth-disk-`)
  must('mount', '-o', 'loop', image, dir)
  return {
    dir,
    /** The kernel's own way to what an error of the device does. */
    fail: () => must('mount', '-o', 'remount,abort', dir),
    mountAnew() {
      must('umount', dir)
      sh('e2fsck', '-fy', image) // 1: errors were corrected
      must('mount', '-o', 'loop', image, dir)
    },
    remove() {
      must('umount', dir)
      rmSync(dir, { recursive: true })
      backing.remove()
    },
  }
}

describe.skipIf(!possible(journaledDisk))('a file system that an error has made read-only', () => {
  test('refuses changes in words and answers reads; mounted anew it has every acknowledged change', async () => {
    const disk = journaledDisk()
    const live = await installation({ PANEL_DATA_DIR: disk.dir })
    try {
      const controller = await live.serve()
      const token = await live.staffToken()
      const acknowledged: string[] = []
      const change = async (name: string) => {
        const reply = await live.api(token, 'POST', '/admin/customers', { name, email: `${name}@example.com` })
        if (reply.status === 201) acknowledged.push(name)
        return reply
      }
      const there = async () =>
        (await live.api(token, 'GET', '/admin/customers?limit=500')).body.data.map((c: any) => c.name).sort()
      for (let i = 0; i < 30; i++) await change(`before${i}`)
      expect(acknowledged).toHaveLength(30)
      disk.fail()
      let n = 0
      const refused = await live.until('a refused change', async () => {
        const reply = await change(`n${++n}`)
        return reply.status !== 201 && reply
      })
      expect([refused.status, refused.body.error.code]).toEqual([503, 'restarting'])
      expect(refused.body.error.message).toMatch(/^The d\S* .*reads keep working\.$/)
      expect(await there()).toEqual([...acknowledged].sort())
      // It does not pretend to be well again.
      await Bun.sleep(5000)
      expect((await change('later')).status).toBe(503)
      controller.kill('SIGTERM')
      await controller.exited
      disk.mountAnew()
      await live.serve()
      expect(await there()).toEqual(expect.arrayContaining(acknowledged))
      expect((await change('after')).status).toBe(201)
    } finally {
      await live.close()
      disk.remove()
    }
  }, 60_000)
})
