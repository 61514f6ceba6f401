// Files out of the disk of a backup: the fake, and restic with a real disk that somebody hostile filled.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { entriesIn, timesIn } from '../../../agent/drivers/backup/ext-files.ts'
import { FakeBackups } from '../../../agent/drivers/backup/fake.ts'
import { FakeBackupFiles } from '../../../agent/drivers/backup/fake-files.ts'
import { type BackupFiles, type DiskOf, ResticFiles } from '../../../agent/drivers/backup/files.ts'
import { partitionsOf } from '../../../agent/drivers/backup/partitions.ts'
import { Restic } from '../../../agent/drivers/backup/restic.ts'
import { missingForFiles } from '../../../agent/drivers/backup/restic-mount.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { type BackupTarget, LOCAL_MARKER, MOST_ENTRIES } from '../../../agent/protocol/backup.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'

setDefaultTimeout(120_000)
const dir = mkdtempSync('/tmp/berth-files-')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const target = (address: string): BackupTarget => ({
  ...{ kind: 'local', address, login: '', secret: '', trust: '' },
  ...{ repository: 'bkt_test', password: 'password-of-the-repository' },
})
const never = new AbortController().signal

async function contentOf(files: BackupFiles, at: DiskOf, path: string[], partition = 1, signal = never) {
  const parts: Uint8Array[] = []
  let size = -1
  await files.read({ ...at, partition, path }, signal, async ({ sizeBytes, bytes }) => {
    size = sizeBytes
    for await (const part of bytes) parts.push(part)
  })
  const content = Buffer.concat(parts)
  expect(content.length).toBe(size)
  return content
}

/** The tests that every driver passes: a disk whose root directory has `content.txt` with this text. */
function contract(make: () => { files: BackupFiles; at: DiskOf; text: string }) {
  test('a file is listed, and comes back byte for byte', async () => {
    const { files, at, text } = make()
    const { partitions, partition, entries } = await files.list({ ...at, path: [], skip: 0 })
    expect([partition, partitions.find(({ number }) => number === partition)?.fileSystem]).toEqual([1, 'ext'])
    expect(entries.find(({ name }) => name === 'content.txt')).toMatchObject({ kind: 'file', sizeBytes: text.length })
    expect(String(await contentOf(files, at, ['content.txt']))).toBe(text)
  })
  test('what is not there, or is no file or no directory, says so', async () => {
    const { files, at } = make()
    const list = (path: string[], partition = 1) => files.list({ ...at, path, partition, skip: 0 })
    for (const path of [['none'], ['..'], ['.'], ['none', 'x']])
      await expect(list(path)).rejects.toMatchObject({ code: 'file_not_found' })
    await expect(list([], 77)).rejects.toMatchObject({ code: 'file_not_found' })
    await expect(list(['content.txt'])).rejects.toMatchObject({ code: 'not_a_directory' })
    await expect(contentOf(files, at, [])).rejects.toMatchObject({ code: 'not_a_file' })
    await expect(contentOf(files, at, ['none'])).rejects.toMatchObject({ code: 'file_not_found' })
  })
  test('a backup that is gone says so', async () => {
    const { files, at } = make()
    const gone = { ...at, snapshot: 'f'.repeat(64) }
    await expect(files.list({ ...gone, path: [], skip: 0 })).rejects.toMatchObject({ code: 'backup_no_snapshot' })
  })
}

describe('the fake', () =>
  contract(() => {
    const db = new Database(':memory:')
    db.run('create table volumes (path text, sizeBytes integer)')
    const backups = new FakeBackups(db)
    new FakeLayers(db).write('/fake/disk.raw', 'the text of the disk')
    const snapshot = new Bun.CryptoHasher('sha256').update('local /srv/backups bkt_test\nbkp_1').digest('hex')
    db.run('insert into backup_targets values (?, ?, ?, ?, 1)', [
      ...['local /srv/backups bkt_test', '', '', 'password-of-the-repository'],
    ])
    db.run('insert into backup_snapshots values (?, ?, ?, ?, ?, ?, ?)', [
      ...[snapshot, 'local /srv/backups bkt_test', 'bkp_1', 'srv_1', 'the text of the disk'],
      ...[1 << 30, 1],
    ])
    const at = { target: target('/srv/backups'), snapshot }
    return { files: new FakeBackupFiles(backups), at, text: 'the text of the disk' }
  }))

const reason = await missing('restic', 'debugfs', 'fusermount')
describe.skipIf(note(reason, 'files of backups with restic'))('restic and debugfs', () => {
  const MIB = 1 << 20
  const big = new Uint8Array(6 * MIB)
  for (let at = 0; at < big.length; at += 65_536) crypto.getRandomValues(big.subarray(at, at + 65_536))
  const restic = new Restic(`${dir}/agent`)
  const files = new ResticFiles(restic, 60_000)
  let at: DiskOf
  /** A name in the root directory that nobody types. */
  const odd = ['with\nline', '<b>&"q"<b>', 'quote\'"`$(id)', ' spaces ', '-rf', 'ünï', '%2e%2e', '\\x41']

  const spawn = (...words: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(words, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } })
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  }
  /** A disk with a GPT: ext4 with all that, XFS's magic, and space. */
  function makeDisk(): string {
    const root = `${dir}/root`
    mkdirSync(`${root}/etc`, { recursive: true })
    mkdirSync(`${root}/many`)
    writeFileSync(`${root}/content.txt`, 'the text of the disk')
    writeFileSync(`${root}/big`, big)
    writeFileSync(`${root}/empty`, '')
    for (const name of odd) writeFileSync(`${root}/${name}`, `of ${name}`)
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'bytes')
    for (let i = 0; i < 1200; i++) writeFileSync(`${root}/many/file${String(i).padStart(5, '0')}`, '')
    spawn('ln', '-s', '/etc/shadow', `${root}/shadow`)
    spawn('ln', '-s', '../../../../../../etc', `${root}/up`)
    spawn('ln', '-s', 'loop', `${root}/loop`)
    spawn('mknod', `${root}/null`, 'c', '1', '3')
    spawn('mknod', `${root}/disk`, 'b', '8', '0')
    spawn('mkfifo', `${root}/pipe`)
    spawn('truncate', '-s', '20M', `${root}/holes`)
    spawn('truncate', '-s', '3G', `${root}/huge`)
    spawn('touch', '-d', '2040-05-06T07:08:09Z', `${root}/empty`)
    const [fs, disk] = [`${dir}/fs.img`, `${dir}/disk.raw`]
    spawn('mkfs.ext4', '-q', '-F', '-d', root, fs, '40M')
    // mkfs stores the first 32 bits of a time; Linux stores two more.
    spawn('debugfs', '-w', '-R', 'set_inode_field /empty mtime_extra 1', fs)
    spawn('truncate', '-s', '64M', disk)
    const table = 'label: gpt\nstart=2048, size=81920\nstart=90112, size=8192\nstart=100000, size=8192\n'
    const made = Bun.spawnSync(['sfdisk', '-q', disk], { stdin: Buffer.from(table) })
    if (made.exitCode !== 0) throw new Error(String(made.stderr))
    const file = openSync(disk, 'r+')
    const content = readFileSync(fs)
    writeSync(file, content, 0, content.length, MIB)
    writeSync(file, 'XFSB', 90_112 * 512)
    closeSync(file)
    return disk
  }

  beforeAll(async () => {
    mkdirSync(`${dir}/place`)
    writeFileSync(`${dir}/place/${LOCAL_MARKER}`, '')
    const path = makeDisk()
    const to = target(`${dir}/place`)
    const what = { backup: `bkp_${'1'.repeat(26)}`, workload: `srv_${'1'.repeat(26)}`, consistent: true }
    const disk = { kind: 'file' as const, path, format: 'raw' as const }
    const { snapshot } = await restic.save(to, { ...what, sizeBytes: 64 * MIB }, { disk }, never)
    at = { target: to, snapshot }
  })
  afterAll(async () => {
    files.close()
    await eventually(() => !readFileSync('/proc/self/mountinfo', 'utf8').includes('/mounted'))
  })

  contract(() => ({ files, at, text: 'the text of the disk' }))

  test('every partition is named, and only ext is read', async () => {
    const { partitions } = await files.list({ ...at, path: [], skip: 0 })
    expect(partitions).toEqual([
      { number: 1, sizeBytes: 40 * MIB, fileSystem: 'ext' },
      { number: 2, sizeBytes: 4 * MIB, fileSystem: 'xfs' },
      { number: 3, sizeBytes: 4 * MIB, fileSystem: 'unknown' },
    ])
    await expect(files.list({ ...at, partition: 2, path: [], skip: 0 })).rejects.toMatchObject({
      code: 'no_file_system',
      fileSystem: 'xfs',
    })
  })
  test('each kind is told apart, with odd names, sizes and times beyond 2038', async () => {
    const { entries, total } = await files.list({ ...at, path: [], skip: 0 })
    expect(entries).toHaveLength(total)
    const kinds = Object.fromEntries(entries.map(({ name, kind }) => [name, kind]))
    const [link, other] = ['link', 'other']
    expect(kinds).toMatchObject({ shadow: link, up: link, loop: link, null: other, disk: other, pipe: other })
    expect(kinds).toMatchObject({ etc: 'directory', many: 'directory', 'lost+found': 'directory', big: 'file' })
    for (const name of [...odd, '\\xff\\xfe']) expect([name, kinds[name]]).toEqual([name, 'file'])
    expect(Object.keys(kinds)).not.toContain('..')
    const empty = entries.find(({ name }) => name === 'empty')!
    expect(empty).toMatchObject({ sizeBytes: 0, modifiedAt: Date.parse('2040-05-06T07:08:09Z') })
  })
  test('files come back byte for byte, whatever their names', async () => {
    expect((await contentOf(files, at, ['big'])).equals(big)).toBe(true)
    expect(await contentOf(files, at, ['empty'])).toHaveLength(0)
    expect((await contentOf(files, at, ['holes'])).every((byte) => byte === 0)).toBe(true)
    for (const name of odd) expect(String(await contentOf(files, at, [name]))).toBe(`of ${name}`)
    expect(String(await contentOf(files, at, ['\\xff\\xfe']))).toBe('bytes')
  })
  test('no link, device or pipe is read or followed, and no file that is larger than its disk', async () => {
    for (const name of ['shadow', 'up', 'loop', 'null', 'disk', 'pipe', 'etc'])
      await expect(contentOf(files, at, [name])).rejects.toMatchObject({ code: 'not_a_file' })
    for (const path of [
      ['up', 'shadow'],
      ['loop', 'x'],
    ])
      await expect(contentOf(files, at, path)).rejects.toMatchObject({ code: 'not_a_directory' })
    await expect(contentOf(files, at, ['huge'])).rejects.toMatchObject({ code: 'file_too_large' })
  })
  test('a large directory comes in pages', async () => {
    const names: string[] = []
    for (let skip = 0; skip < 1200; skip += MOST_ENTRIES) {
      const { entries, total } = await files.list({ ...at, path: ['many'], skip })
      expect(total).toBe(1200)
      names.push(...entries.map(({ name }) => name))
    }
    expect(new Set(names).size).toBe(1200)
    expect(names).toEqual(names.toSorted())
  })
  test('reading ends when nobody waits any more, and every program with it', async () => {
    const gone = new AbortController()
    const reading = files.read({ ...at, partition: 1, path: ['big'] }, gone.signal, async ({ bytes }) => {
      for await (const _ of bytes) gone.abort(new Error('gone'))
    })
    await expect(reading).rejects.toThrow('gone')
    const running = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
          return words[0]?.endsWith('/debugfs') && words.some((word) => word.startsWith('cat <'))
        } catch {
          return false
        }
      })
    await eventually(() => running().length === 0)
  })
  test('debugfs runs as nobody, without network, and writes nothing', async () => {
    let status = ''
    await files.read({ ...at, partition: 1, path: ['big'] }, never, async ({ bytes }) => {
      for await (const _ of bytes)
        for (const pid of status ? [] : readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
          try {
            if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/usr/sbin/debugfs'))
              status = readFileSync(`/proc/${pid}/status`, 'utf8') + readFileSync(`/proc/${pid}/limits`, 'utf8')
          } catch {
            // It has ended.
          }
    })
    expect(status).toMatch(/^Uid:\s65534\s65534\s65534\s65534$/m)
    expect(status).toMatch(/^CapBnd:\s0000000000000000$/m)
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    expect(status).toMatch(/^Max file size\s+0\s+0/m)
  })
  test('an idle disk is let go of, and nothing stays mounted', async () => {
    const idle = new ResticFiles(new Restic(`${dir}/idle`), 50)
    await idle.list({ ...at, path: [], skip: 0 })
    const mounts = () =>
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => / fuse\S* /.test(line))
    const before = mounts().length
    await eventually(() => mounts().length === before - 1, 10)
    expect((await idle.list({ ...at, path: ['etc'], skip: 0 })).entries).toEqual([])
    idle.close()
    await eventually(() => mounts().length === before - 1, 10)
  })
})

test('a host without the device of FUSE is named so, with what to do', () =>
  expect(missingForFiles('/dev/no-fuse')).toMatchObject({
    what: expect.stringContaining(Bun.which('debugfs') && Bun.which('fusermount') ? '/dev/no-fuse' : 'not installed'),
    remedy: expect.stringMatching(/^(run modprobe fuse|install )/),
  }))

describe('a partition table', () => {
  const readAt = (disk: Buffer) => async (from: number, bytes: number) => disk.subarray(from, from + bytes)
  test('of MBR with logical partitions is read', async () => {
    const disk = Buffer.alloc(1 << 20)
    const entry = (at: number, type: number, start: number, sectors: number) => {
      disk[at + 4] = type
      disk.writeUInt32LE(start, at + 8)
      disk.writeUInt32LE(sectors, at + 12)
    }
    const boot = (sector: number) => disk.writeUInt16LE(0xaa55, sector * 512 + 510)
    boot(0)
    entry(446, 0x83, 100, 50)
    entry(446 + 16, 0x05, 200, 800)
    boot(200)
    entry(200 * 512 + 446, 0x83, 10, 40)
    entry(200 * 512 + 462, 0x05, 100, 300)
    boot(300)
    entry(300 * 512 + 446, 0x83, 10, 60)
    disk.write('\x53\xef', 310 * 512 + 0x438, 'latin1')
    const found = await partitionsOf(readAt(disk), disk.length)
    expect(found.map(({ number, offset, fileSystem }) => [number, offset / 512, fileSystem])).toEqual([
      [1, 100, 'unknown'],
      [5, 210, 'unknown'],
      [6, 310, 'ext'],
    ])
  })
  test('that leads in circles or beyond the disk ends', async () => {
    const disk = Buffer.alloc(1 << 20)
    disk.writeUInt16LE(0xaa55, 510)
    disk[446 + 4] = 0x05
    disk.writeUInt32LE(1, 446 + 8)
    disk.writeUInt16LE(0xaa55, 1022)
    disk[512 + 446 + 4] = 0x83
    disk.writeUInt32LE(0xffffffff, 512 + 446 + 12)
    disk[512 + 462 + 4] = 0x05
    disk.writeUInt32LE(0xffffffff, 512 + 462 + 8)
    expect(await partitionsOf(readAt(disk), disk.length)).toEqual([])
    for (let i = 0; i < 300; i++) {
      crypto.getRandomValues(disk.subarray(0, 65_536))
      disk.writeUInt16LE(0xaa55, 510)
      if (i % 2) {
        disk[450] = 0xee
        disk.write('EFI PART', 512)
        disk.writeBigUInt64LE(2n, 512 + 72)
        disk.writeUInt32LE(128, 512 + 84)
      }
      for (const { offset, sizeBytes } of await partitionsOf(readAt(disk), disk.length))
        expect(offset + sizeBytes).toBeLessThanOrEqual(disk.length)
    }
  })
})

describe('the output of debugfs', () => {
  test('with names that look like entries is parted by slashes alone', () => {
    const out = '/12/100644/0/0/a\n13/5/\n/14/040755/0/0/dir//\n\n'
    expect(entriesIn(Buffer.from(out))).toEqual([
      { name: 'a\n13', inode: 12, kind: 'file', sizeBytes: 5 },
      expect.anything(),
    ])
  })
  test('that is rubbish is no directory, and never throws', () => {
    expect(entriesIn(Buffer.from(''))).toBeUndefined()
    expect(entriesIn(Buffer.from('ls: Filesystem not open'))).toBeUndefined()
    for (let i = 0; i < 500; i++) {
      const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(200)).map((byte) => (byte % 3 ? byte : 0x2f)))
      entriesIn(bytes)
      timesIn(bytes.toString('latin1'))
    }
  })
})
