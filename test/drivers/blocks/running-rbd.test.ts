// Vms on Ceph, whose disks QEMU reaches by itself: BERTH_LONG=1, with the packages of rbd.test.ts. BERTH_GUEST_IMAGE
// names the image of the guest.
import { describe } from 'bun:test'
import { existsSync } from 'node:fs'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'
import { cephMissing, startCeph } from './ceph.ts'
import { runningContract } from './running.contract.ts'

const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const absent =
  cephMissing() ??
  (await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'restic', 'nbdcopy', 'ip', 'rbd')) ??
  (existsSync(image) ? undefined : `no guest image at ${image}`)

describe.skipIf(note(absent, 'vms on Ceph'))('a vm on Ceph', () => {
  runningContract(async () => {
    const { pool, conf, stop } = await startCeph(temporary('ceph'), 20_000 + (process.pid % 20_000))
    return { entry: { kind: 'rbd', pool, configFile: conf }, format: 'raw', image, close: stop }
  })
})
