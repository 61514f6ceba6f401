// The order page: images by family, a default that staff choose, packages by size.
import { expect, test } from 'bun:test'
import { images } from '../../../src/catalog/images/tables.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type World, world } from '../../support/world/panel.ts'

const addImage = (p: World, name: string, minDiskGb = 1) => {
  const id = newId('img')
  const row = { id, name, origin: 'imported', url: `/images/${id}`, format: 'qcow2', checksum: `sha256:${id}` } as const
  const more = { sizeBytes: 1, minDiskGb, user: 'root', published: true, createdAt: p.now() }
  write(p.db, (tx) =>
    tx
      .insert(images)
      .values({ ...row, ...more })
      .run(),
  )
  return id
}
const orderPage = async (p: World, query = '') =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost/admin/servers/new${query}`, {
        headers: { Cookie: `__Host-panel=${p.owner.cookie}` },
      }),
    )
  ).text()
const choices = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<input type="radio" [^>]*name="${name}"[^>]*>\\s*<label[^>]*>([^<]+)`, 'g'))].map(
    ([input, label]) => (/ checked/.test(input) ? `*${label!.trim()}` : label!.trim()),
  )

/** The names of the images in their order, the chosen one with a star. */
const imageChoices = (text: string) => [
  ...[...text.matchAll(/<input type="radio" [^>]*name="imageId"[^>]*aria-label="([^"]*)"/g)].map(([input, label]) =>
    / checked/.test(input) ? `*${label}` : label!,
  ),
  ...choices(text, 'imageId'),
]

test('images are listed by family, the newest version first, and the first that was added is chosen', async () => {
  using p = await world()
  for (const name of ['Ubuntu 22.04', 'Debian 9', 'Debian 12', 'Ubuntu 24.04 LTS', 'AlmaLinux 10', 'Debian 11'])
    addImage(p, name)
  expect(imageChoices(await orderPage(p))).toEqual([
    'AlmaLinux 10',
    '*Debian 13',
    'Debian 12',
    'Debian 11',
    'Debian 9',
    'Ubuntu 24.04 LTS',
    'Ubuntu 22.04',
    'None yet',
  ])
})

test('staff choose the default; there is one at most, and an image that does not fit is not chosen', async () => {
  using p = await world()
  const chosen = async () => imageChoices(await orderPage(p)).find((label) => label.startsWith('*'))
  const [twelve, large] = [addImage(p, 'Debian 12'), addImage(p, 'Windows 2025', 1000)]
  await p.admin('PATCH', `/admin/images/${twelve}`, { isDefault: true })
  expect(await chosen()).toBe('*Debian 12')
  const defaults = (await p.call(p.owner, 'GET', '/images')).body.data.filter((i: any) => i.isDefault)
  expect(defaults.map((i: any) => i.id)).toEqual([twelve])
  await p.admin('PATCH', `/admin/images/${large}`, { isDefault: true })
  expect(await chosen()).toBe('*Debian 13')
  await p.admin('DELETE', `/admin/images/${large}`)
  addImage(p, 'Alpine 3.23')
  expect(await chosen()).toBe('*Debian 13')
  expect((await p.call(p.customer, 'PATCH', `/admin/images/${twelve}`, { isDefault: true })).status).toBe(403)
})

test('packages are listed by size', async () => {
  using p = await world()
  for (const [name, memoryMb, vcpus] of [
    ['A large', 8192, 4],
    ['B small', 512, 1],
    ['C small, more cores', 512, 2],
  ] as const)
    await p.admin('POST', '/admin/packages', { name, vcpus, memoryMb, diskGb: 10 })
  const names = choices(await orderPage(p), 'packageId').map((label) => label.replace('*', ''))
  expect(names).toEqual(['B small', 'C small, more cores', 'KVM 2G', 'A large'])
})

test('the customer that a link names is chosen, and a name of nobody is none', async () => {
  using p = await world()
  const { id } = p.account('customer', 'Linked')
  for (let i = 0; i < 8; i++) p.account('customer', `Later ${i}`)
  const chosen = async (query: string) =>
    choices(await orderPage(p, query), 'ownerId').find((label) => label.startsWith('*'))
  expect(await chosen(`?ownerId=${id}`)).toBe('*Linked')
  for (const stranger of [newId('usr'), 'nonsense']) expect(await chosen(`?ownerId=${stranger}`)).toBeUndefined()
})
