import { describe, expect, test } from 'bun:test'
import { day, minute } from '../../../src/kernel/db/clock.ts'
import { hostFeature } from '../../../src/platform/host/feature.ts'
import {
  cpuFrom,
  diskFrom,
  HostFigures,
  loadFrom,
  memoryFrom,
  thisHost,
  uptimeFrom,
} from '../../../src/platform/host/figures.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { calmHost, type Panel, panel, world } from '../../support/world/panel.ts'

const stat = (busy: number, idle: number, cpus = 2) =>
  `cpu  ${busy} 0 0 ${idle} 0 0 0 0 0 ` +
  `0\n${Array.from({ length: cpus }, (_, i) => `cpu${i} 1 0 0 1 0 0 0 0 0 0\n`).join('')}intr 1\nctxt 2\n`
const meminfo = (total: number, available: number) =>
  `MemTotal:       ${total} kB\nMemFree:        1 kB\nMemAvailable:   ${available} kB\nBuffers: 5 ` +
  'kB\nSwapCached: 7 kB\nSwapTotal:      2048 kB\nSwapFree:       512 kB\n'
/** A host whose memory and disk are this full. */
const full = ({ memory = 50, disk = 50 }: { memory?: number; disk?: number }) => ({
  proc: (name: Parameters<typeof calmHost.proc>[0]) =>
    name === 'meminfo' ? meminfo(100_000, 100_000 - memory * 1000) : calmHost.proc(name),
  disk: () => ({ bsize: 4096, blocks: 10_000, bfree: 10_000 - disk * 100, bavail: 10_000 - disk * 100 }),
})

describe('what Linux says', () => {
  test('of CPUs: all there are, busy without idle and without waiting for disks, guests not twice', () => {
    const text = 'cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\ncpu1 1\ncpu10 1\nintr 12 34\ncpufreq 1\n'
    expect(cpuFrom(text)).toEqual({ cpus: 3, total: 531, busy: 81 })
    expect(cpuFrom('')).toEqual({ cpus: 0, total: 0, busy: 0 })
  })
  test('of load', () => expect(loadFrom('0.52 1.25 12.00 3/421 9123\n')).toEqual([0.52, 1.25, 12]))
  test('of uptime', () => expect(uptimeFrom('350735.47 234388.90\n')).toBe(350735))
  test('of memory: used is what is not available, whatever is free', () =>
    expect(memoryFrom(meminfo(1000, 250))).toEqual({
      memory: { totalBytes: 1_024_000, usedBytes: 768_000, availableBytes: 256_000, percent: 75 },
      swap: { totalBytes: 2_097_152, usedBytes: 1_572_864 },
    }))
  test('of memory where there is no swap, or nothing at all', () => {
    expect(memoryFrom('MemTotal: 10 kB\nMemAvailable: 5 kB\n').swap).toEqual({ totalBytes: 0, usedBytes: 0 })
    expect(memoryFrom('').memory).toEqual({ totalBytes: 0, usedBytes: 0, availableBytes: 0, percent: 0 })
  })
  test('of a disk, as df counts it: what root keeps is not free', () => {
    expect(diskFrom({ bsize: 4096, blocks: 1000, bfree: 250, bavail: 200 })).toEqual({
      totalBytes: 4_096_000,
      usedBytes: 3_072_000,
      percent: 78,
    })
    expect(diskFrom({ bsize: 4096, blocks: 0, bfree: 0, bavail: 0 }).percent).toBe(0)
  })
  test('of this machine', () => {
    const here = new HostFigures(thisHost, '/tmp')
    expect(here.cpu().cpus).toBeGreaterThan(0)
    expect(here.memory().memory.totalBytes).toBeGreaterThan(here.memory().memory.usedBytes)
    expect(here.disk().totalBytes).toBeGreaterThan(0)
    expect(here.uptimeSeconds()).toBeGreaterThan(0)
    expect(here.databaseBytes()).toBe(0)
    expect(thisHost.ownBytes()).toBeGreaterThan(1e6)
  })
})

test('CPU use is counted since it was last asked, but not over less than a second', () => {
  let text = stat(1000, 3000)
  const host = new HostFigures({ ...calmHost, proc: () => text }, '/x')
  const after = (busy: number, idle: number) => {
    text = stat(busy, idle)
    return host.cpu().cpuPercent
  }
  expect(host.cpu()).toEqual({ cpus: 2, cpuPercent: 25 }) // since the host started
  expect(after(1900, 3100)).toBe(90)
  expect(after(1900, 3100)).toBe(90) // no time has passed
  expect(after(1900, 3299)).toBe(90) // 199 ticks of 2 CPUs: not a second
  expect(after(1900, 3300)).toBe(0)
  expect(after(2900, 3300)).toBe(100)
})

test('the figures are those of the host, for staff who may see nodes', async () => {
  using p = await world()
  p.turnClock(60_000)
  const { status, body } = await p.call(p.owner, 'GET', '/admin/panel-host')
  expect(status).toBe(200)
  expect(body).toEqual({
    checkedAt: body.checkedAt,
    cpus: 2,
    cpuPercent: 20,
    load1: 0.5,
    load5: 0.25,
    load15: 0.1,
    memory: { totalBytes: 1_024_000, usedBytes: 409_600, availableBytes: 614_400, percent: 40 },
    swap: { totalBytes: 512_000, usedBytes: 102_400 },
    disk: { path: p.dir, totalBytes: 4_096_000, usedBytes: 1_638_400, percent: 40 },
    databaseBytes: 2048,
    hostUptimeSeconds: 3600,
    version: body.version,
    startedAt: body.startedAt,
    uptimeSeconds: 60,
    processMemoryBytes: 2048,
  })
  const code = async (who: any) => (await p.call(who, 'GET', '/admin/panel-host')).body.error?.code
  expect(await code(p.staff(['nodes.read']))).toBeUndefined()
  expect(await code(p.staff(['audit.read']))).toBe('forbidden')
  expect(await code(p.token(p.owner.id, ['servers:read']))).toBe('missing_scope')
  expect(await code(p.customer)).toBe('forbidden')
})

describe('what needs attention', () => {
  /** The rows about the host: others, such as an owner's second factor, have pages of their own. */
  const rows = async (p: Panel, who = p.staff() as any) =>
    (await p.call(who, 'GET', '/admin/overview')).body.attention
      .filter((a: any) => a.href === '/admin/controller')
      .map((a: any) => `${a.what} ${a.href}`)
  for (const [use, expected] of [
    [{ disk: 84 }, []],
    [{ disk: 85 }, ['Disk holding the database is 85 % full. /admin/controller']],
    [{ memory: 89 }, []],
    [{ memory: 90 }, ['Memory of the controller host is 90 % used. /admin/controller']],
    [
      { memory: 97, disk: 100 },
      [
        'Disk holding the database is 100 % full. /admin/controller',
        'Memory of the controller host is 97 % used. /admin/controller',
      ],
    ],
  ] as const)
    test(`with ${JSON.stringify(use)} is ${expected.length || 'nothing'}`, async () => {
      using p = await panel({ host: full(use) })
      expect(await rows(p)).toEqual([...expected])
    })
  test('is a certificate of the built-in TLS from 14 days before its end', async () => {
    using p = await panel({ certificateEndsInMs: 14 * day + minute })
    const row = async (who: any = p.staff()) =>
      (await p.call(who, 'GET', '/admin/overview')).body.attention.find((a: any) => /certificate/.test(a.what))
    expect(await row()).toBeUndefined()
    p.turnClock(2 * minute)
    expect(await row()).toMatchObject({ level: 'warn', what: 'The TLS certificate expires in 14 days.' })
    expect(await row(p.staff(['audit.read']))).toBeUndefined()
    p.turnClock(11 * day)
    expect(await row()).toMatchObject({ level: 'bad', what: 'The TLS certificate expires in 3 days.' })
    p.turnClock(4 * day)
    expect(await row()).toMatchObject({ level: 'bad', what: 'The TLS certificate has expired.' })
  })
  test('knows the end of the certificate that the settings name', async () => {
    using p = await panel()
    const { cert, key } = await selfSigned(p.dir)
    const { host } = hostFeature.services!({ config: { ...p.config, tls: { cert, key } } } as any)
    const leftMs = host!.certificateEndsAt! - Date.now()
    expect(leftMs).toBeGreaterThan(2 * day - 10 * minute)
    expect(leftMs).toBeLessThanOrEqual(2 * day)
  })
  test('is not told of the host to staff who may not see it', async () => {
    using p = await panel({ host: full({ disk: 99 }) })
    expect(await rows(p, p.staff(['audit.read']))).toEqual([])
  })
})

test('the page shows them and asks again every 10 seconds', async () => {
  using p = await world()
  const text = await (
    await p.controller.router.fetch(
      new Request('http://localhost/admin/controller', { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } }),
    )
  ).text()
  expect(text).toContain('hx-trigger="every 10s"')
  expect(text).toContain('20 % of 2 CPUs')
  expect(text).toContain('400 KiB of 1,000 KiB, 40 %')
  expect(text).toContain(`<code>${p.dir}</code>`)
  expect(text).toContain('href="/admin/controller" aria-current="page"')
})
