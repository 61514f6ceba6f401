// The documents as the controller serves them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { jobFailures } from '../../../src/kernel/jobs/failures.ts'
import { contents } from '../../../src/platform/documents/contents.ts'
import { documentNames, searchDocuments, shownDocument } from '../../../src/platform/documents/documents.ts'
import { pictures } from '../../../views/platform/documents/pictures.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
beforeAll(async () => {
  p = await world()
})
afterAll(() => p.close())

const page = (who: { cookie?: string }, path: string) =>
  p.controller.router.fetch(
    new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}`, Accept: 'text/html' } }),
  )
const shown = (name: string) => shownDocument(name, (file) => pictures[file] && `/assets/${file}`)
const idsIn = (html: string) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))

test('every document is in the contents, once, and nothing else is', () =>
  expect(contents.map(({ name }) => name).toSorted()).toEqual(documentNames().toSorted()))

describe.each(contents.map(({ name }) => name))('docs/%s.md', (name) => {
  test('every link leads to a place that there is, and every picture is served', () => {
    const { html } = shown(name)
    for (const [, href] of html.matchAll(/ href="([^"]*)"/g)) {
      if (/^(https?:|mailto:)/.test(href!)) continue
      const [, other, anchor] = /^(?:\/docs\/([\w-]+))?(?:#(.*))?$/.exec(href!) ?? []
      expect({
        name,
        href,
        isKnown: other === undefined ? anchor !== undefined : documentNames().includes(other),
      }).toEqual({ name, href, isKnown: true })
      if (anchor)
        expect({ name, href, is: idsIn(shown(other ?? name).html).has(anchor) }).toEqual({ name, href, is: true })
    }
    for (const [, src] of html.matchAll(/<img[^>]* src="([^"]*)"/g))
      expect({ name, src: src !== '' }).toEqual({ name, src: true })
  })
})

test('staff read them, and the codes of errors and failures are all on one page', async () => {
  const staff = p.staff()
  for (const path of ['/docs', '/docs/moves', '/docs/error-codes']) expect((await page(staff, path)).status).toBe(200)
  const codes = idsIn(await (await page(staff, '/docs/error-codes')).text())
  const failures = Object.keys({ ...registry.failures, ...jobFailures }).map((code) => `failure-${code}`)
  for (const code of [...Object.keys(registry.errors), ...failures])
    expect([code, codes.has(code)]).toEqual([code, true])
})

test('a customer reads the handbook alone: neither a document for staff nor a file beside them is a page', async () => {
  const handbook = await page(p.customer, '/docs')
  expect([handbook.status, (await handbook.text()).match(/href="\/docs\/[\w-]+"/g)]).toEqual([
    200,
    expect.arrayContaining(['href="/docs/handbook"']),
  ])
  for (const path of ['/docs/security', '/docs/error-codes', '/docs/nothing', '/docs/..%2FREADME'])
    expect([path, (await page(p.customer, path)).status]).toEqual([path, 404])
})

test('a search finds sections that have every word, headings first, and leads to them', () => {
  const [first, ...more] = searchDocuments(contents, 'former keys')
  expect(first).toMatchObject({ name: 'backup', anchor: 'the-key' })
  expect(more.every(({ excerpt }) => excerpt.length < 200)).toBe(true)
  expect(searchDocuments(contents, 'zebra <script>')).toEqual([])
  expect(searchDocuments(contents, '   ')).toEqual([])
})
