// The pool that an adopted disk is in is found by the path of the disk.
import { expect, test } from 'bun:test'
import { holds } from '../../../src/imports/migrate/plan/own-place.ts'

test('A disk is in the volume group of its own pool, and in no other', () => {
  expect(holds('lvm-thin', 'vg-kvm/thin', '/dev/vg-kvm/vsv1001')).toBe(true)
  expect(holds('lvm-thin', 'vg-kvm/thin', '/dev/mapper/vg--kvm-vsv1001')).toBe(true)
  expect(holds('lvm-thin', 'vg/thin', '/dev/vg-kvm/vsv1001')).toBe(false)
  expect(holds('lvm-thin', 'vg/thin', '/dev/mapper/vg--kvm-vsv1001')).toBe(false)
})
test('A file and a ZFS volume are in the pool whose folder or dataset holds them', () => {
  expect(holds('file', '/var/lib/berth/pools/local', '/var/lib/berth/pools/local/41/0')).toBe(true)
  expect(holds('file', '/var/lib/libvirt', '/var/lib/libvirt-old/41/0')).toBe(false)
  expect(holds('zfs', 'tank/vms', '/dev/zvol/tank/vms/v1001')).toBe(true)
  expect(holds('zfs', 'tank/vm', '/dev/zvol/tank/vms/v1001')).toBe(false)
  expect(holds('rbd', 'pool', '/dev/rbd/pool/v1001')).toBe(false)
})
