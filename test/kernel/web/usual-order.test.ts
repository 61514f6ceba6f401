// The order that a list has by itself is marked at the column that shows it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
  for (const name of ['Amber', 'Zinc']) {
    p.addNode(p.location, name.toLowerCase())
    await p.admin('POST', '/admin/customers', { name, email: `${name}@order.test` })
  }
})
afterAll(() => p.close())

/** The ids of the rows, in their order. */
const rowsOf = (html: string) => [...html.matchAll(/<tr id="([^"]+)"/g)].map(([, id]) => id!)
const marked = /<th[^>]* aria-sort="(\w+)"[^>]*><a href="[^"]*[?&;]sort=([^"&]+)"/

test('each such column sorts as the list stands, and pressed it reverses the list', async () => {
  const found: Record<string, number> = {}
  for (const { path } of registry.pages) {
    if (!path.startsWith('/admin/') || path.includes('{')) continue
    const usual = await htmlOf(p, p.owner, path)
    const [, direction, next = ''] = marked.exec(usual) ?? []
    if (!direction) continue
    const [reversed, same] = [next, next.startsWith('-') ? next.slice(1) : `-${next}`]
    expect([path, direction]).toEqual([path, same.startsWith('-') ? 'descending' : 'ascending'])
    const rows = rowsOf(usual)
    expect([path, rowsOf(await htmlOf(p, p.owner, `${path}?sort=${same}`))]).toEqual([path, rows])
    expect([path, rowsOf(await htmlOf(p, p.owner, `${path}?sort=${reversed}`))]).toEqual([path, rows.toReversed()])
    found[path] = rows.length
  }
  expect(Object.keys(found).toSorted()).toEqual([
    '/admin/customers',
    '/admin/gpu-images',
    '/admin/gpu-offers',
    '/admin/ip-pools',
    '/admin/jobs',
    '/admin/nodes',
    '/admin/packages',
    '/admin/resellers',
  ])
  for (const path of ['/admin/customers', '/admin/jobs', '/admin/nodes']) expect(found[path]).toBeGreaterThan(2)
})

test('no column is marked where none shows the order, and only one where the address asks for another', async () => {
  expect(await htmlOf(p, p.owner, '/admin/servers')).not.toContain('aria-sort')
  const html = await htmlOf(p, p.owner, '/admin/nodes?sort=location')
  expect(html.match(/aria-sort/g)).toHaveLength(1)
  // The usual order is one press away, without a word in the address.
  expect(html).toMatch(/<th scope="col"><a href="\/admin\/nodes" /)
})
