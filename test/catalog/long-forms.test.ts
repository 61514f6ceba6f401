// A form of more than eight fields is in groups, and that of a new package is a page.
import { expect, test } from 'bun:test'
import { registry } from '../../src/app/features.ts'
import { type World, world } from '../support/world/panel.ts'

const pageOf = async (p: World, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } }),
    )
  ).text()
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
    expect(fieldsIn(group.split('</fieldset>')[0]!)).toBeLessThanOrEqual(8)
  expect(await pageOf(p, '/admin/packages')).toContain('href="/admin/packages/new"')
})

test('a dialog of more than eight fields has them in groups', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const paths = registry.pages
    .map(({ path }) => path)
    .filter((path) => /^\/(admin|account)/.test(path) && !path.includes('{'))
  expect(paths.length).toBeGreaterThan(30)
  const long: string[] = []
  for (const path of paths)
    for (const dialog of (await pageOf(p, path)).split('<dialog ').slice(1)) {
      const form = dialog.split('</dialog>')[0]!
      if (fieldsIn(form) > 8 && !form.includes('<fieldset')) long.push(`${path}: ${/id="([^"]+)"/.exec(form)?.[1]}`)
    }
  expect(long).toEqual([])
})
