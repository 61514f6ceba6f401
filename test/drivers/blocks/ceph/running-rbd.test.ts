// Vms on Ceph, whose disks QEMU reaches by itself with a key that libvirt has: BERTH_LONG=1, with the packages of
// rbd.test.ts. BERTH_GUEST_IMAGE names the image of the guest.
import { describe, expect } from 'bun:test'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Rbd } from '../../../../agent/drivers/storage/rbd.ts'
import { temporary } from '../../../agent/temporary.ts'
import { missing, note } from '../../tools.ts'
import { runningContract } from '../running.contract.ts'
import { cephMissing, startCeph } from './cluster.ts'

const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const absent =
  cephMissing() ??
  (await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'restic', 'nbdcopy', 'ip', 'rbd')) ??
  (existsSync(image) ? undefined : `no guest image at ${image}`)

describe.skipIf(note(absent, 'vms on Ceph'))('a vm on Ceph', () => {
  runningContract(async () => {
    const cluster = await startCeph(temporary('ceph'), 20_000 + (process.pid % 20_000))
    const pool = new Rbd(cluster.pool, cluster.access, join(temporary('scratch'), 'scratch'))
    const keyring = cluster.access.auth!.keyringFile
    chmodSync(keyring, 0o644)
    expect(await pool.problems()).toEqual([
      `Others may read its key: chmod 600 ${keyring}`,
      expect.stringMatching(/libvirt has no secret [0-9a-f-]{36} with the key of client.berth/),
    ])
    chmodSync(keyring, 0o600)
    await cluster.defineSecret()
    expect(await pool.problems()).toEqual([])
    return { entry: cluster.entry, format: 'raw', image, close: cluster.stop }
  })
})
