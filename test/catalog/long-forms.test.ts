// A form of more than eight fields is in groups, and that of a new package is a page.
import { expect, test } from 'bun:test'
import { walked } from '../support/pages/walk.ts'
import { everything } from '../support/world/everything.ts'
import { type World, world } from '../support/world/panel.ts'

/** More of them in one form are put in groups. */
const MOST_FIELDS = 8

const pageOf = async (p: World, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } }),
    )
  ).text()
/** In fields of a group, in sections with titles, or in a table, whose rows and columns have names. */
const isGrouped = (form: string) => /<(fieldset|section|table)\b/.test(form)
/** The parameters of one call, as the reference lists them: each optional, with its name as the API has it. */
const isOfReference = (attributes: string) => attributes.includes('data-try=')
const fieldsIn = (html: string) =>
  html.match(/<(?:input(?![^>]*type="(?:hidden|radio)")|select|textarea)\b[^>]*\bname="/g)?.length ?? 0

test('the page of a new package has its fields in groups, each once', async () => {
  using p = await world()
  const html = await pageOf(p, '/admin/packages/new')
  const titles = [...html.matchAll(/<fieldset class="group" aria-label="([^"]+)"/g)].map(([, title]) => title)
  expect(titles).toEqual([
    'Name',
    'Size',
    'Network',
    'Included',
    'Storage',
    'Disk speed',
    'Limits against abuse',
    'Price',
  ])
  for (const group of html.split('<fieldset class="group"').slice(1))
    expect(fieldsIn(group.split('</fieldset>')[0]!)).toBeLessThanOrEqual(MOST_FIELDS)
  expect(await pageOf(p, '/admin/packages')).toContain('href="/admin/packages/new"')
})

for (const [name, start] of [
  ['the owner', '/admin'],
  ['a reseller', '/reseller'],
  ['a customer', '/'],
] as const)
  test(`a form of more than eight fields has them in groups, on every page that ${name} can open`, async () => {
    using p = await everything()
    const who = name === 'the owner' ? p.owner : p.people[name === 'a reseller' ? 'reseller' : 'customer']
    const pages = (await walked(p, who, start)).filter(({ status }) => status === 200)
    expect(pages.filter(({ path }) => /_[0-9a-z]{26}/.test(path)).length).toBeGreaterThan(10)
    const long = new Set<string>()
    let forms = 0
    for (const { path, text } of pages)
      for (const form of text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)) {
        const [, attributes = '', content = ''] = form
        forms++
        if (fieldsIn(content) > MOST_FIELDS && !isGrouped(content) && !isOfReference(attributes))
          long.add(`${path.replace(/\?.*/, '')}: ${/data-call="([^"]+)"/.exec(attributes)?.[1] ?? attributes}`)
      }
    expect(forms).toBeGreaterThan(30)
    expect([...long]).toEqual([])
  }, 120_000)
