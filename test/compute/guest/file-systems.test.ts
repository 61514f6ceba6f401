// How full the disks of a server are: what its guest agent tells, for those who may read the server.
import { expect, test } from 'bun:test'
import { FILE_SYSTEMS } from '../../../agent/drivers/guest-agent/fake.ts'
import { type World, world } from '../../support/world/panel.ts'

const MINUTE = 60_000
const GIB = 2 ** 30
const disk = (path: string, device: string, usedBytes: number, totalBytes = 20 * GIB) => ({
  path,
  device,
  kind: 'ext4',
  usedBytes,
  totalBytes,
})
async function running() {
  const p = await world()
  const id = (await p.admin('POST', '/admin/servers', p.order)).serverId as string
  await p.settle()
  return Object.assign(p, { id })
}
const look = (p: World) => p.controller.app.guestWatch.turn({ db: p.db, app: p.controller.app, hub: p.controller.hub })
const told = (p: World, id: string, disks: object[]) =>
  p.node.agent.host.guestAgent.answer(id, FILE_SYSTEMS, { code: 0, output: JSON.stringify(disks) })
const read = async (p: World, id: string, who = p.customer) =>
  (await p.call(who, 'GET', `/servers/${id}/file-systems`)).body
const page = async (p: World, id: string) => {
  const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
  return (await p.controller.router.fetch(new Request(`http://localhost/servers/${id}`, { headers }))).text()
}

test('disks are as full as the guest told last, and it is asked again within the hour', async () => {
  using p = await running()
  expect(await read(p, p.id)).toEqual({ seenAt: null, fileSystems: [] })
  expect(await page(p, p.id)).not.toContain('id="file-systems"')
  told(p, p.id, [disk('/', 'vda1', 18 * GIB), disk('/srv', 'vdb', GIB)])
  p.turnClock(MINUTE)
  await look(p)
  const first = await read(p, p.id)
  expect(first.fileSystems).toEqual([disk('/', 'vda1', 18 * GIB), disk('/srv', 'vdb', GIB)])
  expect(Math.abs(Date.parse(first.seenAt) - p.now())).toBeLessThan(1000)
  const shown = await page(p, p.id)
  expect(shown).toContain('id="file-systems"')
  expect(shown).toContain('aria-label="In use of /srv"')

  told(p, p.id, [disk('/', 'vda1', 19 * GIB)])
  p.turnClock(59 * MINUTE)
  await look(p)
  expect(await read(p, p.id)).toEqual(first)
  p.turnClock(2 * MINUTE)
  await look(p)
  expect((await read(p, p.id)).fileSystems).toEqual([disk('/', 'vda1', 19 * GIB)])
})

test('a guest that does not tell is asked rarely, and nothing is shown of it', async () => {
  using p = await running()
  told(p, p.id, [])
  p.turnClock(MINUTE)
  await look(p)
  expect(await read(p, p.id)).toEqual({ seenAt: null, fileSystems: [] })
  expect((await p.call(p.customer, 'GET', `/servers/${p.id}`)).body.os.name).toBe('Fake Linux')
  told(p, p.id, [disk('/', 'vda1', GIB)])
  p.turnClock(2 * 60 * MINUTE)
  await look(p)
  expect((await read(p, p.id)).fileSystems).toEqual([])
})

test('a reinstallation forgets them, and nobody else reads them', async () => {
  using p = await running()
  told(p, p.id, [disk('/', 'vda1', GIB)])
  p.turnClock(MINUTE)
  await look(p)
  expect((await read(p, p.id)).fileSystems).toHaveLength(1)
  const other = p.account('customer', 'Mallory')
  expect((await read(p, p.id, other)).error.code).toBe('server_not_found')
  const { imageId, access } = p.order
  await p.call(p.customer, 'POST', `/servers/${p.id}/actions/reinstall`, { imageId, access })
  await p.settle()
  expect((await read(p, p.id)).fileSystems).toEqual([])
})
