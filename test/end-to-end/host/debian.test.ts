// A whole Debian with systemd and cloud-init, ordered through the API on real libvirt. It takes minutes where
// processors are emulated: only with BERTH_LONG=1. BERTH_DEBIAN_IMAGE names an image that guest/build-debian-guest.sh
// built before.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sshWithKey, sshWithPassword } from '../../support/guest.ts'
import { debianLab, noDebian, type OrderedServer } from '../../support/nodes/debian.ts'

/** A grown root: the package's disk less the boot partition and what the file system needs. */
const DISK_GB = 4
const LEAST_ROOT_BYTES = 3.5 * 2 ** 30

describe.skipIf(noDebian !== undefined)('a Debian server', () => {
  let lab: Awaited<ReturnType<typeof debianLab>>
  let server: OrderedServer

  beforeAll(async () => {
    lab = await debianLab({ bridge: 'bte2e2', ipv4: '10.91.9', diskGb: DISK_GB })
    const content = '#!/bin/sh\necho "on $(hostname) as $(id -un)"\n'
    const script = await lab.live.admin('scripts.create', { id: lab.ownerId, name: 'Hello', content })
    server = await lab.order({ hostname: 'web01.example.com', scriptId: script.id })
  }, 600_000)
  afterAll(() => lab?.close())

  const inside = async (command: string) => (await sshWithKey(server.ipv4, lab.key.path, command)).out

  test('is built from the order, and answers SSH by key with its name', async () => {
    expect(await lab.ended(server.jobId)).toMatchObject({ state: 'succeeded', error: null })
    await lab.live.until('SSH by key', async () => (await inside('hostname')) === 'web01', 600)
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
    const script = await lab.live.until(
      'the output of the script',
      async () => {
        const { body } = await lab.live.api(lab.token, 'GET', `/servers/${server.serverId}/startup-script`)
        return body.script.state === 'ended' && body.script
      },
      600,
    )
    expect(script).toMatchObject({ exitCode: 0, output: 'on web01 as root\n' })
  }, 700_000)
  test('changes its root password by the guest agent, while it runs', async () => {
    const path = `/servers/${server.serverId}/actions/reset-password`
    const { status, body } = await lab.live.api(lab.token, 'POST', path, {})
    expect([status, body.applies]).toEqual([202, 'now'])
    expect(await lab.ended(body.jobId)).toMatchObject({ state: 'succeeded' })
    // Debian refuses root's password over SSH until it is told otherwise.
    const hash = await inside('getent shadow root | cut -d: -f2 | cut -c1-3')
    expect(hash).toBe('$6$')
    await inside(
      'printf "%s yes\\n" PermitRootLogin PasswordAuthentication >/etc/ssh/sshd_config.d/00-root.conf; ' +
        'systemctl reload ssh',
    )
    await lab.live.until('SSH by password', async () => {
      const said = await sshWithPassword(server.ipv4, body.rootPassword, 'hostname')
      return said.out === 'web01'
    })
    expect((await sshWithPassword(server.ipv4, 'not the password at all', 'hostname')).code).not.toBe(0)
  }, 300_000)
  test('boots by UEFI too, from an image that says so', async () => {
    server = await lab.order({ firmware: 'uefi', hostname: 'efi01.example.com' })
    expect(await lab.ended(server.jobId)).toMatchObject({ state: 'succeeded', error: null })
    await lab.live.until('SSH by key', async () => (await inside('hostname')) === 'efi01', 600)
    expect(await inside('test -d /sys/firmware/efi && echo by UEFI')).toBe('by UEFI')
  }, 1_200_000)
})
