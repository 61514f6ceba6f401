// A whole Debian with systemd and cloud-init, ordered through the API on real libvirt. It takes minutes where
// processors are emulated: only with BERTH_LONG=1. BERTH_DEBIAN_IMAGE names an image that guest/build-debian-guest.sh
// built before.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { bridge, must, newKey, noGuests, removeRules, run, sshWithKey, sshWithPassword } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

const long = process.env['BERTH_LONG'] === '1'
const why = long && (await noGuests())
if (why) console.warn(`the Debian guest is skipped: ${why}`)
/** A grown root: the package's disk less the boot partition and what the file system needs. */
const DISK_GB = 4
const LEAST_ROOT_BYTES = 3.5 * 2 ** 30

describe.skipIf(!long || !!why)('a Debian server', () => {
  let live: Installation
  let token: string
  let lan: Awaited<ReturnType<typeof bridge>>
  let key: Awaited<ReturnType<typeof newKey>>
  type Ordered = { serverId: string; jobId: string; ipv4: string }
  let server: Ordered
  const made: Ordered[] = []
  let order: (fields: { firmware: string; hostname: string; scriptId?: string }) => Promise<Ordered>

  beforeAll(async () => {
    lan = await bridge('bte2e2', '10.91.9.1/24')
    key = await newKey()
    live = await installation()
    await live.serve()
    token = await live.ownerToken()
    const location = (await live.admin('locations.create', { name: 'Lab' })).id
    const home = await live.enroll(location, 'real-01', ['--bridge', 'bte2e2'])
    live.agent(home)
    const node = await live.until('the node', async () =>
      (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
    )
    await live.admin('nodes.update', { id: node.id, bridge: 'bte2e2' })
    const pool = { name: 'lan', network: '10.91.9.0/24', gateway: '10.91.9.1', nodeIds: [node.id] }
    await live.admin('pools.create', { ...pool, first: '10.91.9.10', last: '10.91.9.20' })
    const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 2, memoryMb: 512, diskGb: DISK_GB })).id
    const given = process.env['BERTH_DEBIAN_IMAGE']
    const image = `${live.dir}/debian.qcow2`
    if (given) copyFileSync(given, image)
    else await must('guest/build-debian-guest.sh', image)
    const imageOf = async (firmware: string) => {
      const file = `debian-${firmware}.qcow2`
      copyFileSync(image, `${live.dir}/incoming/${file}`)
      return (await live.admin('images.import', { file, name: `Debian by ${firmware}`, firmware })).id as string
    }
    const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    const sshKey = (await live.admin('ssh-keys.create', { id: ownerId, publicKey: key.publicKey })).id
    const content = '#!/bin/sh\necho "on $(hostname) as $(id -un)"\n'
    const scriptId = (await live.admin('scripts.create', { id: ownerId, name: 'Hello', content })).id
    order = async ({ firmware, ...fields }) => {
      const imageId = await imageOf(firmware)
      const access = { mode: 'ssh_keys', sshKeyIds: [sshKey] }
      const { status, body } = await live.api(token, 'POST', '/admin/servers', {
        ...{ ownerId, packageId, imageId, nodeGroupId: location, access },
        ...fields,
      })
      expect(status).toBe(201)
      made.push(body)
      return body
    }
    server = await order({ firmware: 'bios', hostname: 'web01.example.com', scriptId })
  }, 600_000)

  afterAll(async () => {
    key?.remove()
    for (const { serverId } of made) {
      await run(['virsh', '-c', 'qemu:///system', 'destroy', serverId])
      await run(['virsh', '-c', 'qemu:///system', 'undefine', '--nvram', serverId])
    }
    await live?.close()
    await lan?.remove()
    await removeRules()
  })

  const ended = (jobId: string) =>
    live.until(
      `the end of ${jobId}`,
      async () => {
        const { body } = await live.api(token, 'GET', `/jobs/${jobId}`)
        return (body.state === 'succeeded' || body.state === 'failed') && body
      },
      480,
    )
  const inside = async (command: string) => (await sshWithKey(server.ipv4, key.path, command)).out

  test('is built from the order, and answers SSH by key with its name', async () => {
    expect(await ended(server.jobId)).toMatchObject({ state: 'succeeded', error: null })
    await live.until('SSH by key', async () => (await inside('hostname')) === 'web01', 600)
    expect(await inside('hostname -f')).toBe('web01.example.com')
    // With its errors, where it has some.
    expect(await inside('cloud-init status --wait >/dev/null; cloud-init status --long')).toContain('status: done')
  }, 1_200_000)
  test('has its root grown to the disk of the package', async () => {
    const bytes = Number(await inside('df --block-size=1 --output=size / | tail -n 1'))
    expect(bytes).toBeGreaterThan(LEAST_ROOT_BYTES)
    expect(bytes).toBeLessThan(DISK_GB * 2 ** 30)
  }, 60_000)
  test('has run its startup script once, and the panel has its output and the system', async () => {
    const script = await live.until(
      'the output of the script',
      async () => {
        const { body } = await live.api(token, 'GET', `/servers/${server.serverId}/startup-script`)
        return body.script.state === 'ended' && body.script
      },
      600,
    )
    expect(script).toMatchObject({ exitCode: 0, output: 'on web01 as root\n' })
  }, 700_000)
  test('changes its root password by the guest agent, while it runs', async () => {
    const path = `/servers/${server.serverId}/actions/reset-password`
    const { status, body } = await live.api(token, 'POST', path, {})
    expect([status, body.applies]).toEqual([202, 'now'])
    expect(await ended(body.jobId)).toMatchObject({ state: 'succeeded' })
    // Debian refuses root's password over SSH until it is told otherwise.
    const hash = await inside('getent shadow root | cut -d: -f2 | cut -c1-3')
    expect(hash).toBe('$6$')
    await inside(
      'printf "%s yes\\n" PermitRootLogin PasswordAuthentication >/etc/ssh/sshd_config.d/00-root.conf; ' +
        'systemctl reload ssh',
    )
    await live.until('SSH by password', async () => {
      const said = await sshWithPassword(server.ipv4, body.rootPassword, 'hostname')
      return said.out === 'web01'
    })
    expect((await sshWithPassword(server.ipv4, 'not the password at all', 'hostname')).code).not.toBe(0)
  }, 300_000)
  test('boots by UEFI too, from an image that says so', async () => {
    server = await order({ firmware: 'uefi', hostname: 'efi01.example.com' })
    expect(await ended(server.jobId)).toMatchObject({ state: 'succeeded', error: null })
    await live.until('SSH by key', async () => (await inside('hostname')) === 'efi01', 600)
    expect(await inside('test -d /sys/firmware/efi && echo by UEFI')).toBe('by UEFI')
  }, 1_200_000)
})
