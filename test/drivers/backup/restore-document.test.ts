// The commands of docs/backup-restore.md, run as they stand there on a backup that the driver made.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Restic } from '../../../agent/drivers/backup/restic.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'

setDefaultTimeout(60_000)
const tools = ['sfdisk', 'mke2fs', 'debugfs', 'fdisk'].filter(
  (name) => !Bun.which(name, { PATH: '/usr/sbin:/usr/bin' }),
)
const reason =
  (process.env['BERTH_LONG'] ? undefined : 'BERTH_LONG=1 is not set') ??
  (await missing('restic', 'nbdcopy', 'qemu-nbd', 'qemu-img')) ??
  (tools.length ? `${tools} not installed` : undefined)

/** The blocks of commands of the document, each as one script. */
const blocks = [
  ...readFileSync(join(import.meta.dir, '../../../docs/backup-restore.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, text = '']) => text)

describe.skipIf(note(reason, 'the document about restoring'))('the document about restoring', () => {
  test('gets a disk, and a file in it, back with restic alone', async () => {
    const dir = temporary('document')
    const place = join(dir, 'place')
    mkdirSync(place)
    writeFileSync(join(place, LOCAL_MARKER), '')
    const target: BackupTarget = {
      ...{ kind: 'local', address: place, login: '', secret: '', trust: '' },
      ...{ repository: 'usr_1', password: 'password-of-the-account' },
    }
    const disk = join(dir, 'disk.raw')
    const [bytes, offset] = [16 << 20, 1 << 20]
    const script = (text: string, more: Record<string, string> = {}) => {
      const ran = Bun.spawnSync(['bash', '-euo', 'pipefail', '-c', `shopt -s expand_aliases\n${text}`], {
        cwd: dir,
        env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: dir, LC_ALL: 'C', ...more },
      })
      expect({ code: ran.exitCode, err: ran.stderr.toString() }).toMatchObject({ code: 0 })
      return ran.stdout.toString()
    }
    // Its end is a hole.
    script(`mkdir -p tree/etc && echo web1 >tree/etc/hostname
      truncate --size ${bytes} disk.raw && echo 'start=2048,type=83' | sfdisk -q disk.raw
      mke2fs -q -t ext4 -E offset=${offset} -d tree disk.raw 8M`)
    const { snapshot } = await new Restic(join(dir, 'agent')).save(
      target,
      { backup: `bkp_${'1'.repeat(26)}`, workload: `srv_${'1'.repeat(26)}`, sizeBytes: bytes, consistent: true },
      { disk: { kind: 'file', path: disk, format: 'raw' } },
      new AbortController().signal,
    )
    const given = {
      ...{ REPOSITORY: `${place}/usr_1`, KEY: target.password, SNAPSHOT: snapshot },
      ...{ BYTES: String(bytes), OFFSET: String(offset) },
    }
    const said = script(blocks.join('\n'), given)
    for (const words of [`bytes-${bytes}`, 'consistent', snapshot.slice(0, 8), 'no errors were found'])
      expect(said).toContain(words)
    expect(readFileSync(join(dir, 'restore/disk.raw')).equals(readFileSync(disk))).toBe(true)
    expect(readFileSync(join(dir, 'restore/hostname'), 'utf8')).toBe('web1\n')
  })
})
