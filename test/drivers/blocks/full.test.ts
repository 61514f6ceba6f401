// Full pools on LVM-thin and ZFS of this machine's kernel, on devices whose content is lost: BERTH_TEST_LVM=DEVICE,
// BERTH_TEST_ZFS=DEVICE, of 2 GiB or more. in-guest.test.ts runs this file in a guest.
import { describe } from 'bun:test'
import { fullContract } from './full.contract.ts'
import { makeThinPool, makeZpool } from './kernel-pools.ts'

const [lvmDevice, zfsDevice] = [process.env['BERTH_TEST_LVM'], process.env['BERTH_TEST_ZFS']]
const MiB = 2 ** 20
const POOL_MIB = 512

describe.skipIf(!lvmDevice)('a full pool of LVM-thin', () => {
  fullContract(
    async () => {
      const { remove, enlarge, enlargeMetadata, fillMetadata, ...pool } = await makeThinPool(lvmDevice!, POOL_MIB)
      return {
        entry: { kind: 'lvm-thin', ...pool },
        ...{ format: 'raw', close: remove, dataBytes: POOL_MIB * MiB },
        makeSpace: () => enlarge(POOL_MIB),
        metadata: { fill: fillMetadata, makeSpace: () => enlargeMetadata(8) },
      }
    },
    { hasMetadata: true },
  )
})

describe.skipIf(!zfsDevice)('a full pool of ZFS', () => {
  fullContract(
    async () => {
      const { dataset, leave, remove } = await makeZpool(zfsDevice!, '-o', 'compression=off')
      await leave(POOL_MIB * MiB)
      return {
        entry: { kind: 'zfs', dataset },
        ...{ format: 'raw', close: remove, dataBytes: POOL_MIB * MiB },
        makeSpace: () => leave(2 * POOL_MIB * MiB),
      }
    },
    { hasMetadata: false },
  )
})
