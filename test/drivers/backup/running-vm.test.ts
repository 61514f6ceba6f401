// The disk of a vm that runs on while it is saved. BERTH_GUEST_IMAGE names its image (see guest/); without one this is
// skipped.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseCommand } from '../../../agent/commands/index.ts'
import { run } from '../../../agent/host/exec.ts'
import { openRealHost } from '../../../agent/host/real-host.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { vmOf, volumeOf, workloadId } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'

setDefaultTimeout(500_000)
const MiB = 2 ** 20
const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const reason =
  (await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'restic', 'nbdcopy', 'ip')) ??
  (existsSync(image) ? undefined : `no guest image at ${image}`)

describe.skipIf(note(reason, 'a backup of a running vm'))('a running vm', () => {
  const n = process.pid
  const workload = workloadId(n)
  const bridge = `brk${n}`
  const dir = temporary('running-vm')
  const host = openRealHost(dir)
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  /** Also while the machine is too busy for the guest to answer soon. */
  const inGuest = async (script: string) => {
    let output = ''
    const answers = async () => {
      const ran = await host.guestAgent.exec(workload, ['sh', '-c', script]).catch(() => undefined)
      output = ran?.output.trim() ?? ''
      return ran !== undefined
    }
    await eventually(answers, 60)
    return output
  }

  /** Whether a copy of the disk that no vm has open is under way. */
  const isRead = () =>
    readdirSync('/proc').some((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return /qemu-nbd/.test(words) && words.includes(workload)
      } catch {
        return false
      }
    })

  afterAll(async () => {
    await host.hypervisor.remove(workload).catch(() => {})
    await run('ip', ['link', 'del', bridge], { mayFail: true })
    host.close()
  })

  test('is saved at one moment while it writes on, also with an agent that died, and comes back', async () => {
    const place = join(dir, 'place')
    mkdirSync(place)
    writeFileSync(join(place, LOCAL_MARKER), '')
    const target: BackupTarget = {
      ...{ kind: 'local', address: place, login: '', secret: '', trust: '' },
      ...{ repository: 'usr_1', password: 'password-of-the-account' },
    }
    const volume = volumeOf(n)
    const diskOf = async (one = volume) => (await host.storage.pool('local').disk(one)).path
    mkdirSync(dirname(await diskOf()), { recursive: true })
    copyFileSync(image, await diskOf())
    await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    const network = { bridge, tap: `bth${n}`, mac: '52:54:00:78:00:01' }
    await obey('vm.define', vmOf(n, { volume, network, seeded: false }))
    await host.hypervisor.start(workload)
    await eventually(() => host.hypervisor.guestAnswers(workload), 240)
    await inGuest(
      'mkdir /root/counting && (n=0; while :; do n=$((n+1)); echo $n >/root/next; mv /root/next /root/n; sync; done) ' +
        '</dev/null >/dev/null 2>&1 &',
    )
    const count = async () => Number(await inGuest('cat /root/n'))
    await eventually(async () => (await count()) > 2)
    expect(await count()).toBeGreaterThan(2)

    // An agent that died has left the disk served, and its scratch file.
    await host.hypervisor.serveDisk(workload, join(dir, `backups/${workload}.scratch`))
    const before = await count()
    const make = { backup: `bkp_${'1'.repeat(26)}`, volume, target }
    const made = await obey('backup.make', make)
    const after = await count()
    expect(made).toMatchObject({ consistent: true })
    expect(await obey('backup.make', make)).toMatchObject({ snapshot: made.snapshot })
    expect(readdirSync(join(dir, 'backups'))).toEqual([])
    await eventually(async () => (await count()) > after)
    expect(await count()).toBeGreaterThan(after)
    await run('virsh', ['-c', 'qemu:///system', 'domjobinfo', workload]).then(({ out }) => expect(out).toMatch(/None/))

    const restored = { ...volume, generation: 1 }
    await obey('backup.restore', { snapshot: made.snapshot, volume: restored, sizeBytes: made.diskBytes, target })
    // Its file system is clean, and has a moment between the two.
    const raw = join(dir, 'restored.raw')
    await run('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', '--', await diskOf(restored), raw])
    const out = (...words: string[]) => Bun.spawnSync(words, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }).stdout
    const root = JSON.parse(out('sfdisk', '--json', raw).toString()).partitiontable.partitions.at(-1)
    const file = `${raw}?offset=${root.start * 512}`
    expect(out('dumpe2fs', '-h', file).toString()).toMatch(/Filesystem state: +clean/)
    const then = Number(out('debugfs', '-R', 'cat /root/n', file).toString())
    expect(then).toBeGreaterThanOrEqual(before)
    expect(then).toBeLessThanOrEqual(after)
    if (!process.env['BERTH_LONG']) return

    // A vm that is switched off meanwhile is saved as it is then, and starts at once while its disk is read.
    await inGuest('head -c 30000000 /dev/urandom >/root/more; sync')
    const slowly = { ...make, backup: `bkp_${'2'.repeat(26)}`, limitBytesPerSecond: MiB }
    const later = obey('backup.make', slowly)
    await eventually(() => readdirSync(join(dir, 'backups')).length > 0, 60)
    await obey('vm.stop', { workload, graceSeconds: 0 })
    await eventually(() => isRead(), 60)
    expect(isRead()).toBe(true)
    await host.backupRuns.whileStarting(workload, () => host.hypervisor.start(workload))
    expect(await host.hypervisor.power(workload)).toBe('running')
    const stopped = later.catch((error) => error.code)
    expect(await obey('backup.forget', { snapshots: [], backups: [slowly.backup], target })).toMatchObject({ kept: [] })
    expect(await stopped).toBe('backup_interrupted')
    expect(readdirSync(join(dir, 'backups'))).toEqual([])
  })
})
