// A real cloud-init in a root of its own boots with our seeds, one after another: what a later seed changes is compared
// file by file. BERTH_LONG=1, because the root is made by mmdebstrap.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { seedFiles } from '../../../agent/drivers/seed/seed.ts'
import type { Seed } from '../../../agent/protocol/wire.ts'
import { identitySeed, networkSeed, passwordSeedFor, seedFor } from '../../../src/compute/server-vm/seed.ts'
import { sha512Crypt } from '../../../src/kernel/crypto/sha512-crypt.ts'
import { forms, server } from './forms.ts'

setDefaultTimeout(600_000)
const possible = process.env['BERTH_LONG'] === '1' && process.getuid?.() === 0 && Bun.which('mmdebstrap') !== null
if (!possible) console.error('left out: seeds booted by a real cloud-init (needs BERTH_LONG=1, root and mmdebstrap)')

/** One boot in namespaces of its own: devices, the card of the server, and the stages of cloud-init. */
const BOOT = `
set -e
mount --make-rprivate /
mount -t proc proc "$1/proc"; mount -t sysfs sysfs "$1/sys"
mount -t tmpfs tmpfs "$1/run"; mount -t tmpfs tmpfs "$1/tmp"
ip link set lo up
ip link add eth0 address 02:00:00:00:00:01 type veth peer name p0
for stage in 'init --local' init 'modules --mode config' 'modules --mode final'; do
  timeout 120 chroot "$1" cloud-init $stage || echo "cloud-init $stage ended with $?"
done
`

describe.skipIf(!possible)('a real cloud-init', () => {
  // This line runs where the tests are left out, too.
  const work = possible ? mkdtempSync(join(tmpdir(), 'berth-rerun-')) : ''
  const root = join(work, 'root')
  const hash = sha512Crypt('Secret-1')
  const { held } = forms['gateway inside, fe80::1']!
  const more = forms['several, two of them floating']!.held
  const v2 = { ...server, networkConfig: 'v2' as const }

  async function boot(seed: unknown) {
    for (const [name, text] of Object.entries(seedFiles(seed as Seed)))
      await Bun.write(join(root, 'var/lib/cloud/seed/nocloud', name), text)
    return await $`unshare --mount --net --uts bash -c ${BOOT} boot ${root}`.nothrow().text()
  }
  /** The files that somebody could miss, with their digests: all but those that cloud-init notes its own work in. */
  async function files() {
    const found = await $`find etc root home usr var -type f -not -path 'var/lib/cloud/*' -not -path 'var/log/*' \
      -not -path 'usr/share/*' -not -path '*/__pycache__/*' -print0 | xargs -0 md5sum`
      .cwd(root)
      .text()
    return new Map(
      found
        .trim()
        .split('\n')
        .map((line) => [line.slice(34), line.slice(0, 32)] as const),
    )
  }
  const changed = (before: Map<string, string>, after: Map<string, string>) =>
    [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort()
  const read = (path: string) => Bun.file(join(root, path)).text()

  beforeAll(async () => {
    const packages = 'cloud-init,netplan.io,systemd,systemd-sysv,openssh-server,iproute2,udev'
    await $`mmdebstrap --variant=minbase --include=${packages} bookworm ${root}`.quiet()
    // As on Ubuntu, where nothing keeps the package sources.
    const config = 'apt:\n  preserve_sources_list: false\ndatasource_list: [NoCloud, None]\n'
    await Bun.write(join(root, 'etc/cloud/cloud.cfg.d/99-test.cfg'), config)
    await boot(seedFor(v2, held, { passwordHash: hash, publicKeys: [] }, 'job_1'))
    await Bun.write(join(root, 'etc/apt/sources.list'), 'deb http://own.mirror.example/debian bookworm main\n')
    await Bun.write(join(root, 'etc/hostname'), 'customname\n')
    await Bun.write(join(root, 'etc/ssh/sshd_config.d/10-berth.conf'), 'PasswordAuthentication no\n')
    await $`chroot ${root} passwd -l root`.quiet()
  })
  afterAll(() => possible && rmSync(work, { recursive: true, force: true }))

  test('made of the first seed what was ordered', async () => {
    expect(await read('etc/shadow')).toContain(`root:!${hash}:`)
    expect(await read('etc/netplan/50-cloud-init.yaml')).toContain('203.0.113.10/24')
  })

  test('changes the network alone when an address is added', async () => {
    const before = await files()
    await boot(networkSeed(v2, more, 'job_2'))
    expect(changed(before, await files())).toEqual(['etc/netplan/50-cloud-init.yaml'])
    expect(await read('etc/netplan/50-cloud-init.yaml')).toContain('203.0.113.11/24')
  })

  test('changes root, and how root signs in, when the password is reset', async () => {
    const before = await files()
    const next = sha512Crypt('Secret-2')
    await boot(passwordSeedFor(v2, more, next, 'job_3'))
    const ours = ['etc/shadow', 'etc/shadow-', 'etc/ssh/sshd_config.d/10-berth.conf']
    expect(changed(before, await files()).filter((path) => !ours.includes(path))).toEqual([])
    expect(await read('etc/shadow')).toContain(`root:${next}:`)
    expect(await read('etc/ssh/sshd_config.d/10-berth.conf')).toContain('PasswordAuthentication yes')
  })

  test('gives a copied system an identity of its own, and leaves the rest to its owner', async () => {
    const before = await files()
    const [id, hosts] = [await read('etc/machine-id'), await read('etc/hosts')]
    await Bun.write(join(root, 'etc/hosts'), `${hosts}192.0.2.7 neighbour\n`)
    await boot(identitySeed({ ...v2, hostname: 'copy01.example.com' }, more, 'job_4'))
    expect(await read('etc/hostname')).toBe('copy01\n')
    expect(await read('etc/hosts')).toMatch(/127\.0\.1\.1\s+copy01\.example\.com\s+copy01\n/)
    expect(await read('etc/hosts')).toMatch(/192\.0\.2\.7\s+neighbour/)
    expect(await read('etc/machine-id')).toMatch(/^[0-9a-f]{32}\n$/)
    expect(await read('etc/machine-id')).not.toBe(id)
    const others = changed(before, await files()).filter((path) => !/^etc\/ssh\/ssh_host_/.test(path))
    expect(others.filter((path) => !['etc/hostname', 'etc/hosts', 'etc/machine-id'].includes(path))).toEqual([])
    const keys = (await $`ls ${join(root, 'etc/ssh')}`.text()).split('\n').filter((name) => /_key$/.test(name))
    expect(keys.length).toBeGreaterThan(1)
    const after = await files()
    for (const name of keys) expect(after.get(`etc/ssh/${name}`)).not.toBe(before.get(`etc/ssh/${name}`))
  })
})
