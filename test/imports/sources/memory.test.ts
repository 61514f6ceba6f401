import { expect, test } from 'bun:test'

const SERVERS = process.env['BERTH_LONG'] === '1' ? 20_000 : 4000

test('a reading of many servers takes at most 200 MB above idle, whichever panel they are on', async () => {
  const bench = Bun.spawn([process.execPath, 'test/bench/imports/reading.ts', '--servers', String(SERVERS)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = (await new Response(bench.stdout).text()).trim().split('\n')
  expect(await bench.exited).toBe(0)
  const figures = lines.map((line) => JSON.parse(line) as { panel: string; found: number; aboveIdleMb: number })
  expect(figures.map(({ panel, found }) => [panel, found])).toEqual([
    ['solusvm2', SERVERS],
    ['virtualizor', SERVERS],
  ])
  for (const { aboveIdleMb } of figures) expect(aboveIdleMb).toBeLessThanOrEqual(200)
}, 60_000)
