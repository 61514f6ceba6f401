// With many nodes, packages and address pools no page has a choice of all of them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { MOST_CHOICES } from '../../../src/platform/choices/choices.ts'
import { type World, world } from '../../support/world/panel.ts'

/** More than any page may offer at once, and of which a page that offers all would have as many options. */
const MANY = 90
/** Fixed choices, such as time zones, have more options than this; those of things do not. */
const NAME = 'manyfold'

let p: World
beforeAll(async () => {
  p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  for (let n = 0; n < MANY; n++) {
    p.addNode(p.location, `${NAME}-node-${n}`)
    await p.admin('POST', '/admin/packages', { name: `${NAME} ${n}`, vcpus: 1, memoryMb: 512, diskGb: 5 })
    await p.admin('POST', '/admin/ip-pools', {
      name: `${NAME} pool ${n}`,
      network: `10.${n + 100}.0.0/29`,
      gateway: `10.${n + 100}.0.1`,
      nodeIds: [p.node.id],
    })
    p.account('customer', `${NAME} customer ${n}`)
  }
})
afterAll(() => p.close())

const pages = registry.pages.filter(({ path }) => path.startsWith('/admin') && !path.includes('{'))

test('there are pages to look at', () => expect(pages.length).toBeGreaterThan(40))

for (const { path } of pages)
  test(`${path} offers a few of them`, async () => {
    const request = new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } })
    const response = await p.controller.router.fetch(request)
    const markup = await response.text()
    // Without its script the field finds nothing.
    expect(markup.includes('data-chooser') ? markup : '<script src="/chooser.').toContain('chooser.')
    const choices = [...markup.matchAll(/<(select|fieldset|datalist)\b[^>]*>(.*?)<\/\1>/gs)]
    for (const [, , inside] of choices) {
      const options = inside!.match(new RegExp(`(<option|<label)[^>]*>[^<]*${NAME}`, 'g')) ?? []
      expect(options.length).toBeLessThanOrEqual(MOST_CHOICES + 1)
    }
  })
