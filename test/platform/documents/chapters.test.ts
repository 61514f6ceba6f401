// The link to a chapter of the documents on the pages that have one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { documentsFor, shownDocument } from '../../../src/platform/documents/documents.ts'
import { chapters } from '../../../views/platform/documents/chapters.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { type Everything, everyId, everything } from '../../support/world/everything.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
})
afterAll(() => p.close())

const helpOn = (html: string) =>
  /<a class="btn bare ico s" href="([^"]+)" aria-label="Help for this page"/.exec(html)?.[1]
const kindOf = (path: string) =>
  path.startsWith('/admin') ? 'staff' : path.startsWith('/reseller') ? 'reseller' : 'customer'

describe.each(Object.entries(chapters))('the chapter of %s', (path, chapter) => {
  test(`${chapter} is one for its readers, with the section`, () => {
    const [name = '', section] = chapter.split('#')
    expect(documentsFor(kindOf(path)).map((one) => one.name)).toContain(name)
    if (section) expect(shownDocument(name, () => undefined).html).toContain(` id="${section}"`)
  })
})

/** The link on the first of the pages at this address, with an id that the reader sees. */
async function shownOn(path: string, ids: readonly string[]): Promise<string | undefined> {
  const whoOf = { staff: p.owner, reseller: p.people.reseller, customer: p.people.customer }
  for (const id of path.includes('{id}') ? ids : ['']) {
    const found = helpOn(await htmlOf(p, whoOf[kindOf(path)], path.replace('{id}', id)))
    if (found) return found
  }
  return undefined
}
test('each page has the link beside its title, with an id in its address, too', async () => {
  const ids = everyId(p)
  const found: Record<string, string | undefined> = {}
  for (const path of Object.keys(chapters)) found[path] = await shownOn(path, ids)
  expect(found).toEqual(Object.fromEntries(Object.entries(chapters).map(([path, of]) => [path, `/docs/${of}`])))
}, 60_000)

test('no link leads a reader to a document that is not theirs', async () => {
  expect(helpOn(await htmlOf(p, p.people.customer, '/account/api'))).toBe('/docs/handbook#programs')
  // A page of owners has no chapter of staff, and a page without a chapter has no link.
  expect(helpOn(await htmlOf(p, p.people.customer, '/jobs'))).toBeUndefined()
  expect(helpOn(await htmlOf(p, p.owner, '/docs'))).toBeUndefined()
})
