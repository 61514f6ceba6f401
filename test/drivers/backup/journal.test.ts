// Files of a backup whose file system was in use: what its journal alone holds is shown, and the backup stays as it is.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type DiskOf, ResticFiles } from '../../../agent/drivers/backup/files.ts'
import { Restic } from '../../../agent/drivers/backup/restic.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'

setDefaultTimeout(120_000)
const dir = mkdtempSync('/tmp/berth-journal-')
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const never = new AbortController().signal
const MIB = 1 << 20
const BLOCK = 1024

const reason = await missing('restic', 'debugfs', 'fusermount', 'qemu-storage-daemon', 'e2fsck')
describe.skipIf(note(reason, 'journals of backups'))('a file system that was in use when it was saved', () => {
  const restic = new Restic(`${dir}/agent`)
  const files = new ResticFiles(restic, 60_000)
  const [place, disk] = [`${dir}/place`, `${dir}/disk.raw`]
  let at: DiskOf

  const spawn = (words: string[], stdin = '') => {
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
    const { exitCode, stdout, stderr } = Bun.spawnSync(words, { env, stdin: Buffer.from(stdin) })
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
    return String(stdout)
  }

  /** A file system that a crash left: `late` has reached its journal and no other place of it. */
  function crashed(): Buffer {
    const [before, after] = [`${dir}/before.img`, `${dir}/after.img`]
    mkdirSync(`${dir}/root`)
    writeFileSync(`${dir}/root/early`, 'written long before')
    writeFileSync(`${dir}/late`, 'committed last')
    spawn(['mkfs.ext4', '-q', '-F', '-b', String(BLOCK), '-d', `${dir}/root`, before, '32M'])
    spawn(['cp', before, after])
    spawn(['debugfs', '-w', '-R', `write ${dir}/late late`, after])
    const [old, changed] = [readFileSync(before), readFileSync(after)]
    const blockOf = (from: Buffer, block: number) => from.subarray(block * BLOCK, (block + 1) * BLOCK)
    const blocks = [...Array(old.length / BLOCK).keys()].filter(
      (block) => !blockOf(old, block).equals(blockOf(changed, block)),
    )
    writeFileSync(`${dir}/blocks`, Buffer.concat(blocks.map((block) => blockOf(changed, block))))
    spawn(['debugfs', '-w', '-f', '-', before], `jo -c\njw -b ${blocks.join(',')} ${dir}/blocks\njc\n`)
    return readFileSync(before)
  }
  /** The same one with nothing but rubbish in its journal. */
  function withoutJournal(): Buffer {
    const first = Number(
      spawn(['debugfs', '-R', 'blocks <8>', `${dir}/before.img`])
        .trim()
        .split(' ')[0],
    )
    return readFileSync(`${dir}/before.img`).fill(0x5a, first * BLOCK, (first + 1) * BLOCK)
  }

  beforeAll(async () => {
    spawn(['truncate', '-s', '70M', disk])
    spawn(['sfdisk', '-q', disk], 'label: gpt\nstart=2048, size=65536\nstart=67584, size=65536\n')
    const file = openSync(disk, 'r+')
    for (const [start, content] of [[2048, crashed()] as const, [67_584, withoutJournal()] as const])
      writeSync(file, content, 0, content.length, start * 512)
    closeSync(file)
    mkdirSync(place)
    writeFileSync(`${place}/${LOCAL_MARKER}`, '')
    const target: BackupTarget = {
      ...{ kind: 'local', address: place, login: '', secret: '', trust: '' },
      ...{ repository: 'bkt_test', password: 'password-of-the-repository' },
    }
    const what = { backup: `bkp_${'1'.repeat(26)}`, workload: `srv_${'1'.repeat(26)}`, consistent: false }
    const given = { kind: 'file' as const, path: disk, format: 'raw' as const }
    const { snapshot } = await restic.save(target, { ...what, sizeBytes: 70 * MIB }, { disk: given }, never)
    at = { target, snapshot }
  })
  /** The folders in memory of both agents. */
  const inMemory = ['agent', 'narrow'].map(
    (name) =>
      `/dev/shm/berth-backup-${new Bun.CryptoHasher('sha256').update(`${dir}/${name}`).digest('hex').slice(0, 16)}`,
  )
  afterAll(async () => {
    files.close()
    for (const folder of inMemory) {
      const isGone = () => !existsSync(folder) || readdirSync(folder).length === 0
      await eventually(isGone)
      expect(isGone()).toBe(true)
      rmSync(folder, { recursive: true, force: true })
    }
  })

  const namesIn = async (partition: number, by = files) =>
    (await by.list({ ...at, partition, path: [], skip: 0 })).entries.map(({ name }) => name)
  const packs = () =>
    readdirSync(`${place}/bkt_test/data`, { recursive: true })
      .map((name) => [String(name), statSync(`${place}/bkt_test/data/${name}`).mtimeMs])
      .toSorted()
  const running = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return words.includes('qemu-storage-daemon') && words.includes('/berth-backup-') && words.includes(at.snapshot)
      } catch {
        return false
      }
    })

  test('shows what was committed to its journal, and the backup stays as it is', async () => {
    const saved = packs()
    expect(spawn(['debugfs', '-R', 'ls -p <2>', `${dir}/before.img`])).not.toContain('/late/')
    expect(await namesIn(1)).toEqual(expect.arrayContaining(['early', 'late']))
    for (const [name, text] of [['late', 'committed last'] as const, ['early', 'written long before'] as const]) {
      const parts: Uint8Array[] = []
      await files.read({ ...at, partition: 1, path: [name] }, never, async ({ bytes }) => {
        for await (const part of bytes) parts.push(part)
      })
      expect(String(Buffer.concat(parts))).toBe(text)
    }
    expect(packs()).toEqual(saved)
  })
  test('is shown as it was saved when its journal is rubbish', async () => {
    const names = await namesIn(2)
    expect(names).toContain('early')
    expect(names).not.toContain('late')
  })
  test('is shown as it was saved when its journal changes more than the limit', async () => {
    const narrow = new ResticFiles(new Restic(`${dir}/narrow`), 60_000, 200 << 10)
    const names = await namesIn(1, narrow)
    narrow.close()
    expect(names).toContain('early')
    expect(names).not.toContain('late')
  })
  test('leaves no overlay, process or mount when its disk is let go of', async () => {
    await namesIn(1)
    expect(running()).not.toEqual([])
    files.close()
    await eventually(() => running().length === 0)
    expect(running()).toEqual([])
    const isMounted = () => readFileSync('/proc/self/mountinfo', 'utf8').includes(`${inMemory[0]}/`)
    await eventually(() => !isMounted())
    expect(isMounted()).toBe(false)
    expect(await namesIn(1)).toContain('late')
  })
})
