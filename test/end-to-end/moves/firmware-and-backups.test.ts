// A real server keeps over a move, beside its disks, the chain of its backups, the variables of its firmware, and its
// TPM. With BERTH_LONG alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { note } from '../../drivers/tools.ts'
import { must } from '../../support/guest.ts'
import { type NodeName, noRealNodes, type Ordered, RealNodes } from '../../support/nodes/real-nodes.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const MIB = 2 ** 20
const DATA_MIB = 64
const reason = process.env['BERTH_LONG'] ? await noRealNodes() : 'BERTH_LONG is not set'

describe.skipIf(note(reason, 'what a server keeps over a move'))('what a real server keeps over a move', () => {
  const nodes = new RealNodes('kp')
  let server: Ordered
  let backupServer: Bun.Subprocess

  beforeAll(async () => {
    await nodes.open()
    await openBackups()
    server = await nodes.order()
  }, 400_000)
  afterAll(async () => {
    backupServer?.kill()
    await nodes.close()
  }, 60_000)

  /** A backup server on the router, which both nodes reach. */
  async function openBackups() {
    const { live, spaces } = nodes
    const folder = join(live.dir, 'backups')
    const certificate = await selfSigned(live.dir, 'backups', 'IP:10.78.0.1')
    const secret = await must(...live.program, 'backup-server', 'add', 'lab', '--path', folder)
    const tls = ['--tls-cert', certificate.cert, '--tls-key', certificate.key]
    const serve = ['backup-server', 'serve', '--path', folder, '--listen', '10.78.0.1:8000', ...tls]
    backupServer = Bun.spawn([...spaces.inside('router'), ...live.program, ...serve], {
      ...{ stdout: 'ignore', stderr: 'inherit' },
    })
    const address = 'https://10.78.0.1:8000/lab/'
    const target = await live.admin('backup-targets.add-rest', {
      ...{ name: 'Lab', address, login: 'lab', secret, trust: certificate.pem },
    })
    await live.admin('backup-targets.make-default', { id: target.id })
  }

  const inGuest = (command: string) => nodes.inGuest(server.ipv4, command)
  const off = (id: string) => nodes.act(id, 'power', { action: 'off' })
  async function backUp(): Promise<number> {
    const { status, body } = await nodes.api('POST', `/servers/${server.serverId}/backups`, {})
    if (status > 299) throw new Error(JSON.stringify(body))
    expect(await nodes.ended(body.jobId)).toMatchObject({ state: 'succeeded' })
    const { data } = (await nodes.api('GET', `/servers/${server.serverId}/backups`)).body
    return data[0].addedBytes
  }

  test('its next backup is incremental, whatever way it has moved', async () => {
    await inGuest(`dd if=/dev/urandom of=/root/kept bs=1M count=${DATA_MIB} conv=fsync`)
    const whole = await backUp()
    expect(whole).toBeGreaterThan(DATA_MIB * MIB)
    for (const [to, mode] of [
      ['b', 'live'],
      ['a', 'near_live'],
    ] as const) {
      await nodes.move(server.serverId, to, { mode })
      await inGuest('dd if=/dev/urandom of=/root/more bs=1M count=1 conv=fsync')
      const added = await backUp()
      process.stderr.write(
        `  after a move ${mode}: ${(added / MIB).toFixed(1)} MiB sent, ${(whole / MIB).toFixed(1)} before\n`,
      )
      expect(added).toBeWithin(MIB, whole / 4)
      await nodes.isClear(to === 'a' ? 'b' : 'a', server.serverId)
    }
  }, 900_000)

  /** The checksums of what its firmware and its TPM have stored on a node. */
  async function stored(name: NodeName, { serverId }: Ordered): Promise<string[]> {
    const uuid = (await nodes.runOn(name, 'virsh', '-c', 'qemu:///system', 'domuuid', serverId)).out
    const files = `/var/lib/libvirt/qemu/nvram/${serverId}-* /var/lib/libvirt/swtpm/${uuid}/tpm2/tpm2-00.permall`
    const sums = await nodes.runOn(name, 'sh', '-c', `sha256sum ${files}`)
    return sums.out.split('\n').map((line) => line.split(' ')[0]!)
  }

  test('its TPM is the one that it had, moved while it is off', async () => {
    await off(server.serverId)
    const [, tpm] = ['', ...(await stored('a', server)).slice(-1)]
    expect(tpm).toMatch(/^[0-9a-f]{64}$/)
    expect(await nodes.move(server.serverId, 'b')).toMatchObject({ mode: 'cold', state: 'finished' })
    expect((await stored('b', server)).slice(-1)).toEqual([tpm!])
    await nodes.isClear('a', server.serverId)
    await nodes.act(server.serverId, 'power', { action: 'start' })
    expect(await inGuest('ls /root/kept')).toBe('/root/kept')
    const left = await nodes.runOn('a', 'sh', '-c', 'find /var/lib/libvirt/qemu/nvram /var/lib/libvirt/swtpm -type f')
    expect(left.out).toBe('')
  }, 600_000)

  test('the variables of UEFI and its TPM come along, and it starts with them', async () => {
    const { data } = await nodes.live.admin('images.list')
    await nodes.live.admin('images.update', { id: data[0].id, firmware: 'uefi' })
    // The tiny guest does not boot by UEFI: its firmware runs, and stores its variables.
    const efi = await nodes.order({ hostname: 'efi01.example.com' }, 500)
    await eventually(async () => (await stored('a', efi)).length === 2, 60)
    await off(efi.serverId)
    const before = await stored('a', efi)
    expect(before).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(await nodes.move(efi.serverId, 'b')).toMatchObject({ mode: 'cold', state: 'finished' })
    expect(await stored('b', efi)).toEqual(before)
    const template = await nodes.runOn('b', 'sha256sum', '/usr/share/OVMF/OVMF_VARS_4M.fd')
    expect(before).not.toContain(template.out.split(' ')[0])
    expect(await nodes.act(efi.serverId, 'power', { action: 'start' })).toMatchObject({ state: 'succeeded' })
    expect(await nodes.powerOn('b', efi.serverId)).toBe('running')
    expect(await nodes.move(efi.serverId, 'a', { mode: 'near_live' })).toMatchObject({ state: 'finished' })
    expect(await nodes.powerOn('a', efi.serverId)).toBe('running')
    await nodes.isClear('b', efi.serverId)
  }, 1_200_000)
})
