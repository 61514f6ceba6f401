// Open disks and volumes in files, with BERTH_LONG=1, and on LVM-thin and ZFS of this machine's kernel, on devices
// whose content is lost: BERTH_TEST_LVM=DEVICE, BERTH_TEST_ZFS=DEVICE. in-guest.test.ts runs this file in a guest.
import { describe } from 'bun:test'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'
import { attachedContract } from './attached.contract.ts'
import { makeThinPool, makeZpool } from './kernel-pools.ts'

const [lvmDevice, zfsDevice] = [process.env['BERTH_TEST_LVM'], process.env['BERTH_TEST_ZFS']]
const POOL_MIB = 2048
const absent =
  process.env['BERTH_LONG'] === '1'
    ? await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'restic', 'nbdcopy', 'ip')
    : 'BERTH_LONG is not 1'

describe.skipIf(note(absent, 'open disks in files'))('open disks in files', () => {
  attachedContract(async () => ({ entry: { kind: 'file', path: join(temporary('files'), 'pool') }, format: 'qcow2' }))
})

describe.skipIf(!lvmDevice)('open disks on LVM-thin', () => {
  attachedContract(async () => {
    const { remove, ...pool } = await makeThinPool(lvmDevice!, POOL_MIB)
    return { entry: { kind: 'lvm-thin', ...pool }, format: 'raw', close: remove }
  })
})

describe.skipIf(!zfsDevice)('open disks on ZFS', () => {
  attachedContract(async () => {
    const { dataset, remove } = await makeZpool(zfsDevice!)
    return { entry: { kind: 'zfs', dataset }, format: 'raw', close: remove }
  })
})
