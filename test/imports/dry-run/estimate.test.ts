// The way that a server takes, and how long it is away.
import { expect, test } from 'bun:test'
import { estimate, plainAwaySeconds, speedOf } from '../../../src/imports/dry-run/estimate.ts'

const GIB = 1024 ** 3
const speed = speedOf(null)
const copied = { way: 'copy' as const, bytes: 60 * GIB, runs: true, speed }
const tools = Object.fromEntries(
  ['libvirt', 'qemu', 'qemuImg', 'ssh', 'dd', 'sha1sum', 'lvm', 'zfs', 'python'].map((tool) => [tool, null]),
) as never

test('A server that runs is copied while it does, and is off for the last changes alone', () => {
  const { method, copySeconds, awaySeconds } = estimate(copied)
  expect(method).toBe('short_stop')
  expect(awaySeconds).toBeLessThan(copySeconds / 3)
})
test('While the disk copies, roughly one minute per 6 GB', () => {
  const { copySeconds } = estimate({ ...copied, bytes: 6 * GIB })
  expect(copySeconds).toBeGreaterThan(50)
  expect(copySeconds).toBeLessThan(90)
})
test('A disk that continues another file, and a hypervisor without tools, take the plain way', () => {
  for (const one of [{ hasBacking: true }, { facts: { hashMbps: null, tools } }]) {
    const { method, copySeconds, awaySeconds } = estimate({ ...copied, ...one })
    expect([method, awaySeconds]).toEqual(['plain', plainAwaySeconds(copySeconds)])
  }
})
test('One that is off is not away, and one that is adopted restarts once', () => {
  expect(estimate({ ...copied, runs: false })).toMatchObject({ method: 'plain', awaySeconds: 0 })
  expect(estimate({ ...copied, way: 'adopt' })).toMatchObject({ method: null, copySeconds: 0, awaySeconds: 25 })
})
