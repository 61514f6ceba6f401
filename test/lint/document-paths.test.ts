// The documents name files of this tree. A file that has moved must be found under its new name.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const text = readFileSync(`${root}/docs/architecture.md`, 'utf8')
const walks = text.slice(text.indexOf('## Four walks'), text.indexOf('## Tests'))

test('the walks through the code have at most eight stops, and name files that exist', () => {
  const parts = walks.split(/^\*\*/m).slice(1)
  expect(parts).toHaveLength(4)
  for (const part of parts) {
    const stops = part.match(/^\d+\. .*(?:\n(?!\d+\.|\n).*)*/gm)!
    expect(stops.length).toBeLessThanOrEqual(8)
    for (const stop of stops) {
      let folder = ''
      for (const [, path] of stop.matchAll(/`([\w./-]+)`/g)) {
        // A name without a folder stands in that of the file before it.
        const full = path!.includes('/') ? path! : folder + path!
        folder = full.slice(0, full.lastIndexOf('/') + 1)
        expect({ full, exists: existsSync(join(root, full)) }).toEqual({ full, exists: true })
      }
    }
  }
})
