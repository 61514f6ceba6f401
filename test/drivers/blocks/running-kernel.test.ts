// Vms on LVM-thin and ZFS of this machine's kernel, on devices whose content is lost: BERTH_TEST_LVM=DEVICE,
// BERTH_TEST_ZFS=DEVICE, and the guest's image in BERTH_GUEST_IMAGE. in-guest.test.ts runs this file in a guest of its
// own.
import { describe } from 'bun:test'
import { makeThinPool, makeZpool } from './kernel-pools.ts'
import { runningContract } from './running.contract.ts'

const [lvmDevice, zfsDevice] = [process.env['BERTH_TEST_LVM'], process.env['BERTH_TEST_ZFS']]
const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const POOL_MIB = 2048

describe.skipIf(!lvmDevice)('a vm on LVM-thin', () => {
  runningContract(async () => {
    const { remove, ...pool } = await makeThinPool(lvmDevice!, POOL_MIB)
    return { entry: { kind: 'lvm-thin', ...pool }, format: 'raw', image, close: remove }
  })
})

describe.skipIf(!zfsDevice)('a vm on ZFS', () => {
  runningContract(async () => {
    const { dataset, remove } = await makeZpool(zfsDevice!)
    return { entry: { kind: 'zfs', dataset }, format: 'raw', image, close: remove }
  })
})
