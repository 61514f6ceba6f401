// The files that every page loads stay within their budgets, compressed as a browser gets them.
import { expect, test } from 'bun:test'
import { type AssetName, files } from '../../../public/assets.ts'
import type { AssetSource } from '../../../src/kernel/web/assets.ts'

const kB = 1000
const kib = 1024
const bytesOf = async (name: AssetName) => {
  const source: AssetSource = files[name]
  const bytes = typeof source === 'string' ? await Bun.file(source).bytes() : Buffer.from(source.text)
  return Bun.gzipSync(bytes, { level: 9 }).length
}

test('the style sheet has 9 kB at most', async () => expect(await bytesOf('panel.css')).toBeLessThanOrEqual(9 * kB))

test('the scripts of every page have 45 KiB at most', async () => {
  const sizes = await Promise.all((['htmx.js', 'alpine.js', 'panel.js'] as const).map(bytesOf))
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(45 * kib)
})
