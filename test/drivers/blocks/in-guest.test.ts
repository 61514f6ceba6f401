// LVM-thin and ZFS in a guest of QEMU's, for hosts whose kernel has neither: BERTH_LONG=1. The guest is that of
// guest/build-storage-guest.sh in BERTH_STORAGE_GUEST, else in test/artefacts/storage-guest, where it is built once. It
// has no network; the program, the sources and the tests are one of its drives.
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { signAgainstKvm } from '../../../agent/drivers/hypervisor/kvm-probe.ts'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'

const GiB = 2 ** 30
const LIMIT_MS = 5_400_000
/** ZFS is compiled. */
const BUILD_LIMIT_MS = 2_400_000
const root = join(import.meta.dir, '../../..')
const guest = process.env['BERTH_STORAGE_GUEST'] ?? join(root, 'test/artefacts/storage-guest')
const long = process.env['BERTH_LONG'] === '1'
const kinds = (process.env['BERTH_STORAGE_KINDS'] ?? 'LVM,ZFS').split(',')
const image = resolve(process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2')
/** A pattern of the names of the tests that run there. */
const chosen = process.env['BERTH_STORAGE_TESTS'] ?? '.'
const isBuilt = existsSync(join(guest, 'root.img'))
/** The guest agent of a vm that is emulated by an emulated processor does not answer in time. */
const noVms = signAgainstKvm() ?? (existsSync(image) ? undefined : `no guest image at ${image}`)
const absent = !long
  ? 'BERTH_LONG is not 1'
  : isBuilt || Bun.which('mmdebstrap')
    ? await missing('qemu-system-x86_64')
    : `mmdebstrap is not installed, which ${guest} is built with`

describe.skipIf(note(absent, 'LVM-thin and ZFS in a guest'))('in a guest', () => {
  beforeAll(async () => {
    if (isBuilt) return
    const child = Bun.spawn([join(root, 'guest/build-storage-guest.sh'), guest], { stdout: 'ignore' })
    expect(await child.exited).toBe(0)
  }, BUILD_LIMIT_MS)
  const passes = async (kind: string, file: string) => {
    const result = await runInGuest(kind, file)
    process.stderr.write(result.replace(/^» .*\n/gm, ''))
    expect(result).toContain('the tests ended with 0')
    expect(result).toMatch(/^ ?0 fail/m)
  }
  for (const kind of kinds) {
    test(`${kind} passes the contract of pools`, () => passes(kind, 'kernel.test.ts'), LIMIT_MS)
    test(`${kind} has the disks of vms open`, () => passes(kind, 'attached.test.ts'), LIMIT_MS)
    test(`${kind} pauses vms in a full pool`, () => passes(kind, 'full.test.ts'), LIMIT_MS)
    test.skipIf(note(noVms, `vms on ${kind}`))(
      `vms run on ${kind}`,
      () => passes(kind, 'running-kernel.test.ts'),
      LIMIT_MS,
    )
  }
})

/** Runs a file of tests with an empty device of 4 GiB and returns what it wrote. */
async function runInGuest(kind: string, file: string): Promise<string> {
  const dir = temporary('storage-guest')
  const device = join(dir, 'device.raw')
  writeFileSync(device, '')
  truncateSync(device, 4 * GiB)
  writeFileSync(
    join(dir, 'run.sh'),
    `[ ${kind} = LVM ] || modprobe zfs || exit 3
modprobe dm-thin-pool
printf '%s\\n' 'user = "root"' 'group = "root"' 'security_driver = "none"' >>/etc/libvirt/qemu.conf
systemctl restart libvirtd
export BERTH_GUEST_IMAGE=/tests/${basename(image)}
cd /tests && cp bun /usr/local/bin/bun && export HOME=/root BERTH_TEST_${kind}=/dev/disk/by-id/virtio-device
bun test --timeout 3600000 -t '${chosen}' ./test/drivers/blocks/${file}
`,
  )
  const tests = join(dir, 'tests.tar')
  const sources = ['-C', root, 'agent', 'test/agent', 'test/drivers', 'test/support', 'package.json', 'tsconfig.json']
  const modules = ['-C', root, 'node_modules/typebox', 'node_modules/ipaddr.js']
  const tiny = existsSync(image) ? ['-C', dirname(image), basename(image)] : []
  const program = ['--transform', `s|^.*/bun$|bun|`, '-P', process.execPath]
  const tar = Bun.spawn(['tar', '-chf', tests, ...sources, ...modules, '-C', dir, 'run.sh', ...tiny, ...program])
  expect(await tar.exited).toBe(0)
  const result = join(dir, 'result')
  const drive = (id: string, file: string, more = '') => [
    ...['-drive', `file=${file},format=raw,if=none,id=${id}${more}`],
    ...['-device', `virtio-blk-pci,drive=${id},serial=${id}`],
  ]
  const accelerator = signAgainstKvm()
    ? ['-accel', 'tcg,thread=multi', '-cpu', 'max']
    : ['-accel', 'kvm', '-cpu', 'host']
  const child = Bun.spawn(
    [
      ...['qemu-system-x86_64', '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-machine', 'q35'],
      ...[...accelerator, '-smp', '2', '-m', '2560', '-nic', 'none'],
      ...['-kernel', join(guest, 'vmlinuz'), '-initrd', join(guest, 'initrd.img')],
      ...['-append', 'root=LABEL=root rw console=ttyS0 mitigations=off quiet'],
      ...['-serial', `file:${join(dir, 'console')}`, '-serial', `file:${result}`],
      ...drive('root', join(guest, 'root.img'), ',snapshot=on'),
      ...drive('tests', tests, ',readonly=on'),
      ...drive('device', device, ',discard=unmap'),
    ],
    { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, TMPDIR: dir } },
  )
  try {
    await Promise.race([child.exited, Bun.sleep(LIMIT_MS - 60_000)])
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
  const text = Bun.stripANSI(readFileSync(result, 'utf8')).replaceAll('\r', '')
  return text.includes('the tests ended with')
    ? text
    : `${text}\n${readFileSync(join(dir, 'console'), 'utf8').slice(-4000)}`
}
