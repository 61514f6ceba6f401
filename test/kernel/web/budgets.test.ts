// The files that every page loads stay within their budgets, compressed as a browser gets them.
import { expect, test } from 'bun:test'
import { type AssetName, files } from '../../../public/assets.ts'
import { registry } from '../../../src/app/features.ts'
import type { AssetSource } from '../../../src/kernel/web/assets.ts'

const kB = 1000
const bytesOf = async (name: AssetName) => {
  const source: AssetSource = files[name]
  const bytes = typeof source === 'string' ? await Bun.file(source).bytes() : Buffer.from(source.text)
  return Bun.gzipSync(bytes, { level: 9 }).length
}

test('the style sheet has 9 kB at most', async () => expect(await bytesOf('panel.css')).toBeLessThanOrEqual(9 * kB))

const onEveryPage = ['htmx.js', 'panel.js'] as const
const sizeOf = async (names: readonly AssetName[]) =>
  (await Promise.all(names.map(bytesOf))).reduce((sum, size) => sum + size, 0)

test('the scripts of every page have 23 kB at most', async () => {
  expect(await sizeOf(onEveryPage)).toBeLessThanOrEqual(23 * kB)
})

test('no page without charts and console loads more than 45 kB of scripts', async () => {
  // They have budgets of their own below.
  const own = /^(uplot|metrics|console)/
  const sets = new Map(registry.pages.map(({ files = [] }) => [files.join(), files as readonly AssetName[]]))
  expect([...sets.keys()]).toContain('alpine.js')
  for (const [names, loaded] of sets) {
    if (loaded.some((name) => own.test(name))) continue
    const scripts = loaded.filter((name) => !name.endsWith('.css'))
    const size = await sizeOf([...onEveryPage, ...scripts])
    expect({ names, fits: size <= 45_000 || size }).toEqual({ names, fits: true })
  }
})

test('charts add 26 kB at most, on their page only', async () => {
  const sizes = await Promise.all((['metrics.css', 'uplot.js', 'metrics.js'] as const).map(bytesOf))
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(26 * kB)
})

test('the page of a console loads little more than noVNC, and the terminal only for a serial line', async () => {
  const own = (await bytesOf('console.mjs')) + (await bytesOf('console.css'))
  expect(own).toBeLessThanOrEqual(5 * kB)
  expect(own + (await bytesOf('console-screen.mjs'))).toBeLessThanOrEqual(62 * kB)
  expect(own + (await bytesOf('console-serial.mjs')) + (await bytesOf('xterm.css'))).toBeLessThanOrEqual(96 * kB)
})
