// The guest that guest/build-tiny-guest.sh makes, booted by QEMU alone: what its seed reader promises, as Berth writes
// seeds.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import type { Seed } from '../../agent/protocol/wire.ts'
import type { Server } from '../../src/compute/server-records/model.ts'
import { networkConfigOf } from '../../src/compute/server-vm/network-config.ts'
import { networkSeed } from '../../src/compute/server-vm/seed.ts'
import type { HeldAddress } from '../../src/network/ip-pools/allocate.ts'

setDefaultTimeout(120_000)
const builder = join(import.meta.dir, '../../guest/build-tiny-guest.sh')
const possible = ['qemu-system-x86_64', 'qemu-img', 'xorriso', 'ssh', 'sshpass', 'openssl'].every((tool) =>
  Bun.which(tool),
)
if (!possible) console.error('left out: the tiny guest (needs QEMU, xorriso, ssh, sshpass, openssl)')

describe.skipIf(!possible)('the tiny guest', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-guest-'))
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const mac = '52:54:00:12:34:56'
  const options = [
    '-p',
    `${port}`,
    ...['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=2'].flatMap(
      (o) => ['-o', o],
    ),
  ]
  let qemu: Bun.Subprocess | undefined

  const byKey = (command: string) =>
    $`ssh -i ${dir}/key -o BatchMode=yes ${options} root@127.0.0.1 ${command}`.nothrow().quiet()
  const byPassword = (password: string, command: string) =>
    $`sshpass -e ssh -o PubkeyAuthentication=no ${options} root@127.0.0.1 ${command}`
      .env({ ...process.env, SSHPASS: password })
      .nothrow()
      .quiet()

  async function boot() {
    qemu = Bun.spawn(
      [
        ...[
          'qemu-system-x86_64',
          '-machine',
          'q35',
          '-m',
          '128',
          '-display',
          'none',
          '-serial',
          `file:${dir}/serial.log`,
        ],
        ...['-drive', `file=${dir}/disk.qcow2,if=virtio,format=qcow2`],
        ...[
          '-device',
          'virtio-scsi-pci',
          '-drive',
          `file=${dir}/seed.iso,if=none,id=cd,media=cdrom`,
          '-device',
          'scsi-cd,drive=cd',
        ],
        ...[
          '-netdev',
          `user,id=net,hostfwd=tcp:127.0.0.1:${port}-:22`,
          '-device',
          `virtio-net-pci,netdev=net,mac=${mac}`,
        ],
      ],
      { stdio: ['ignore', 'ignore', 'ignore'] },
    )
    const until = Date.now() + 60_000
    while ((await byKey('true')).exitCode !== 0) {
      if (Date.now() > until) throw new Error(`no SSH: ${await Bun.file(`${dir}/serial.log`).text()}`)
      await Bun.sleep(200)
    }
  }

  async function seed(hostname: string, instance: string, password: string, version: 'v1' | 'v2') {
    const key = (await Bun.file(`${dir}/key.pub`).text()).trim()
    const hash = (await $`openssl passwd -6 ${password}`.text()).trim()
    const text = 'it\'s "é" 100%\n\tend\n'
    const parts = {
      'meta-data': { 'instance-id': instance, 'local-hostname': hostname },
      'user-data': {
        hostname: hostname.split('.')[0],
        fqdn: hostname,
        ssh_pwauth: true,
        disable_root: false,
        users: [{ name: 'root', lock_passwd: false, hashed_passwd: hash, ssh_authorized_keys: [key] }],
        write_files: [
          { path: '/etc/made/plain', content: text, permissions: '0640' },
          { path: '/etc/made/encoded', content: Buffer.from(text).toString('base64'), encoding: 'b64' },
        ],
        runcmd: ['echo "it\'s" > /root/ran', ['sh', '-c', "echo 'as a list' >> /root/ran"]],
      },
      'network-config': networkConfigOf(version, [
        {
          name: 'eth0',
          mac,
          addresses: ['10.0.2.15/24', 'fec0::15/64'],
          gateways: [
            { version: 4, via: '10.0.2.2', isOnLink: false },
            { version: 6, via: 'fe80::2', isOnLink: false },
          ],
          resolvers: ['10.0.2.3'],
        },
      ]),
    }
    await medium(parts)
    return text
  }

  async function medium(parts: Record<string, object>) {
    for (const [name, part] of Object.entries(parts))
      await Bun.write(
        `${dir}/seed/${name}`,
        (name === 'user-data' ? '#cloud-config\n' : '') + JSON.stringify(part, null, 1) + '\n',
      )
    await $`xorriso -as genisoimage -quiet -o ${dir}/seed.iso -V cidata -J -r ${dir}/seed`.quiet()
  }

  async function off() {
    qemu?.kill()
    await qemu?.exited
  }

  let text = ''
  beforeAll(async () => {
    await $`${builder} ${dir}/image.qcow2`.quiet()
    await $`ssh-keygen -q -t ed25519 -N ${''} -C tester -f ${dir}/key`.quiet()
    await $`qemu-img create -q -f qcow2 -b ${dir}/image.qcow2 -F qcow2 ${dir}/disk.qcow2 700M`.quiet()
    text = await seed('web01.example.com', 'first', 'first password', 'v2')
    await boot()
  })
  afterAll(async () => {
    await off()
    rmSync(dir, { recursive: true, force: true })
  })

  test('is small', async () => {
    expect(Bun.file(`${dir}/image.qcow2`).size).toBeLessThan(20_000_000)
  })

  test('lets root in by key and by the password whose hash it was given, and by no other', async () => {
    expect((await byKey('hostname; tail -1 /etc/hosts')).text()).toBe('web01\n127.0.1.1 web01.example.com web01\n')
    expect((await byPassword('first password', 'echo in')).text()).toBe('in\n')
    expect((await byPassword('another', 'echo in')).exitCode).not.toBe(0)
  })

  test('has the addresses, routes and name servers of its seed', async () => {
    expect((await byKey('ip -4 -o address show dev eth0')).text()).toContain('10.0.2.15/24')
    expect((await byKey('ip -6 -o address show dev eth0')).text()).toContain('fec0::15/64')
    expect((await byKey('ip route; ip -6 route')).text()).toMatch(/default via 10\.0\.2\.2[\s\S]*default via fe80::2/)
    expect((await byKey('cat /etc/resolv.conf')).text()).toBe('nameserver 10.0.2.3\n')
  })

  test('writes files as they were given, and runs commands', async () => {
    expect((await byKey('cat /etc/made/plain')).text()).toBe(text)
    expect((await byKey('cat /etc/made/encoded')).text()).toBe(text)
    expect((await byKey('stat -c %a /etc/made/plain')).text()).toBe('640\n')
    expect((await byKey('cat /root/ran')).text()).toBe("it's\nas a list\n")
  })

  test('grows to its disk', async () => {
    const size = Number((await byKey("df -m / | awk 'END { print $2 }'")).text())
    expect(size).toBeGreaterThan(600)
  })

  test('does first-boot work once for an instance, and again for another', async () => {
    await byKey('echo kept > /root/mine; rm /root/ran; sync')
    await off()
    await boot()
    expect((await byKey('cat /root/mine; ls /root/ran')).text()).toBe('kept\n')
    await byKey('sync')
    await off()
    await seed('web02', 'second', 'second password', 'v1')
    await boot()
    expect((await byKey('hostname; cat /root/ran')).text()).toBe("web02\nit's\nas a list\n")
    expect((await byPassword('second password', 'echo in')).text()).toBe('in\n')
    expect((await byPassword('first password', 'echo in')).exitCode).not.toBe(0)
  })

  test('reads version 1 of the network too', async () => {
    expect((await byKey('ip -4 -o address show dev eth0')).text()).toContain('10.0.2.15/24')
    expect((await byKey('ip route; ip -6 route')).text()).toMatch(/default via 10\.0\.2\.2[\s\S]*default via fe80::2/)
    expect((await byKey('cat /etc/resolv.conf')).text()).toBe('nameserver 10.0.2.3\n')
  })

  test('changes its network and nothing else by a seed that runs no modules', async () => {
    await byKey('rm /root/ran; echo mine > /etc/hostname; sync')
    const keys = (await byKey('cat /etc/dropbear/dropbear_*_host_key | md5sum')).text()
    const server = { id: `srv_${'0'.repeat(26)}`, mac, os: 'linux', networkConfig: 'v1', pendingPasswordHash: null }
    const address = (text: string) =>
      ({
        version: 4,
        address: text,
        prefixLength: 24,
        holderId: null,
        pool: { gateway: '10.0.2.2', resolvers: [] },
      }) as unknown as HeldAddress
    const { metaData, userData, networkConfig } = networkSeed(
      server as Server,
      [address('10.0.2.15'), address('10.0.2.16')],
      'third',
    ) as Seed
    await off()
    await medium({ 'meta-data': metaData, 'user-data': userData, 'network-config': networkConfig })
    await boot()
    expect((await byKey('ip -4 -o address show dev eth0')).text()).toContain('10.0.2.16/24')
    expect((await byKey('cat /etc/hostname')).text()).toBe('mine\n')
    expect((await byKey('test -e /root/ran')).exitCode).toBe(1)
    expect((await byKey('cat /etc/dropbear/dropbear_*_host_key | md5sum')).text()).toBe(keys)
    expect((await byPassword('second password', 'echo in')).text()).toBe('in\n')
  })
})
