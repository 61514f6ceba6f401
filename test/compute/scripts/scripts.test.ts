// Startup scripts: kept by an account, run once by an installation as they are at that moment, with their result.
import { describe, expect, test } from 'bun:test'
import { startupFiles } from '../../../agent/protocol/startup-script.ts'
import { type World, world } from '../../support/world/panel.ts'

const content = '#!/bin/sh\necho one\n'
const add = (p: World, who = p.customer, body: object = { name: 'Web', content }, of = who) =>
  p.call(who, 'POST', `/customers/${of.id}/scripts`, body)
const file = (p: World, id: string, path: string, text: string) =>
  p.node.agent.host.guestAgent.writeFile(id, path, new TextEncoder().encode(text))
const turn = (p: World) => p.controller.app.guestWatch.turn({ db: p.db, app: p.controller.app, hub: p.controller.hub })
const resultOf = async (p: World, id: string) =>
  (await p.call(p.customer, 'GET', `/servers/${id}/startup-script`)).body.script
/** The user-data on the node; the installation has removed it by then, so its removal fails here. */
async function seedOfOrder(p: World, more: object) {
  p.node.agent.fault({ command: 'seed.remove', mode: 'lie' })
  const answer = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return { ...answer, userData: p.node.agent.host.seeds.files(answer.body.serverId)?.['user-data'] ?? '' }
}

describe('the scripts of an account', () => {
  test('are added, read, changed and removed by its holder', async () => {
    using p = await world()
    const { status, body } = await add(p, p.customer, { name: 'Web', content: '#!/bin/sh\r\necho one\r\n' })
    expect([status, body.content, body.sizeBytes]).toEqual([201, content, 19])
    const listed = (await p.call(p.customer, 'GET', `/customers/${p.customer.id}/scripts`)).body
    expect([listed.total, listed.data[0].name, 'content' in listed.data[0]]).toEqual([1, 'Web', false])
    expect((await add(p)).body.error.code).toBe('name_taken')
    await p.call(p.customer, 'PATCH', `/scripts/${body.id}`, { content: '#!/bin/sh\necho two\n' })
    expect((await p.call(p.customer, 'GET', `/scripts/${body.id}`)).body).toMatchObject({
      content: '#!/bin/sh\necho two\n',
    })
    expect((await p.call(p.customer, 'DELETE', `/scripts/${body.id}`)).status).toBe(200)
    expect((await p.call(p.customer, 'GET', `/scripts/${body.id}`)).body.error.code).toBe('script_not_found')
  })
  test('are refused where no guest could run them, and beyond fifty', async () => {
    using p = await world()
    const before = p.fingerprint()
    for (const wrong of ['echo one', '#!/bin/sh\0', '#!python', `#!/bin/sh\n${'ä'.repeat(40_000)}`])
      expect((await add(p, p.customer, { name: 'x', content: wrong })).status).toBe(422)
    expect(p.fingerprint()).toBe(before)
    for (let n = 0; n < 50; n++) expect((await add(p, p.customer, { name: `n${n}`, content })).status).toBe(201)
    expect((await add(p, p.customer, { name: 'n50', content })).body.error.code).toBe('limit_reached')
  })
  test('are those of nobody else', async () => {
    using p = await world()
    const { id } = (await add(p)).body
    const eve = p.account('customer', 'Eve')
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await p.call(eve, method, `/scripts/${id}`, method === 'PATCH' ? { name: 'y' } : undefined)).status).toBe(
        404,
      )
    expect((await add(p, eve, { name: 'y', content }, p.customer)).status).toBe(404)
    const theirs = (await add(p, eve)).body.id
    const before = p.db.$client.query('SELECT count(*) AS n FROM jobs').get()
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, scriptId: theirs })
    expect(body.error.details.fields[0].field).toBe('scriptId')
    expect(p.db.$client.query('SELECT count(*) AS n FROM jobs').get()).toEqual(before)
  })
})

describe('an installation', () => {
  test('runs the script as it was when it was chosen, and stores exit code and output', async () => {
    using p = await world()
    const { id: scriptId } = (await add(p)).body
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, scriptId })
    await p.call(p.customer, 'PATCH', `/scripts/${scriptId}`, { content: '#!/bin/sh\necho two\n' })
    await p.settle()
    expect(await resultOf(p, serverId)).toMatchObject({ name: 'Web', content, state: 'waiting', output: null })
    await turn(p)
    expect((await resultOf(p, serverId)).state).toBe('waiting')
    const hostile = 'out <script>alert(1)</script> \u001b[2J\n'
    // Line feeds stay; an escape sequence reaches no terminal.
    await file(p, serverId, startupFiles.output, hostile)
    await file(p, serverId, startupFiles.exitCode, '3\n')
    p.turnClock(15_000)
    await turn(p)
    expect(await resultOf(p, serverId)).toMatchObject({
      state: 'ended',
      exitCode: 3,
      output: 'out <script>alert(1)</script> \\x1b[2J\n',
      truncated: false,
    })
    const page = await (
      await p.controller.router.fetch(
        new Request(`http://localhost/servers/${serverId}`, {
          headers: { Cookie: `__Host-panel=${p.customer.cookie}` },
        }),
      )
    ).text()
    expect(page).toContain('Failed with exit code 3')
    expect(page).not.toContain('<script>alert(1)')
    // A reinstallation without a script has no result.
    await p.admin('POST', `/servers/${serverId}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(await resultOf(p, serverId)).toBeNull()
  })
  test('gives up on a script that has not ended within a day', async () => {
    using p = await world()
    const { id: scriptId } = (await add(p)).body
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, scriptId })
    await p.settle()
    p.turnClock(25 * 3_600_000)
    await turn(p)
    expect((await p.admin('GET', `/servers/${serverId}/startup-script`)).script.state).toBe('unknown')
  })
  test('writes the script and its wrapper into the seed, and own user-data as a second part', async () => {
    using p = await world()
    const { id: scriptId } = (await add(p)).body
    const plain = await seedOfOrder(p, { scriptId })
    const userData = JSON.parse(plain.userData.split('\n').slice(1).join('\n'))
    expect(userData.write_files.at(-1)).toMatchObject({ path: startupFiles.script, content: btoa(content) })
    expect(userData.runcmd).toEqual([expect.stringContaining('startup')])
    const own = '#cloud-config\npackages: [nginx]\n'
    const both = await seedOfOrder(p, { hostname: 'web02', userData: own })
    expect(both.userData).toStartWith('Content-Type: multipart/mixed')
    expect(both.userData).toContain(btoa(own))
    expect(both.userData.indexOf('Merge-Type: list(append)+dict(no_replace')).toBeGreaterThan(0)
  })
  test('refuses user-data that cloud-init would not take, and a script for a server without an image', async () => {
    using p = await world()
    const { id: scriptId } = (await add(p)).body
    const before = p.fingerprint()
    for (const userData of ['packages: [nginx]', '#cloud-configuration\n', `#!/bin/sh\n${'ä'.repeat(20_000)}`])
      expect((await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, userData })).status).toBe(422)
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    expect((await p.call(p.owner, 'POST', '/admin/servers', { ...waiting, scriptId })).status).toBe(422)
    expect(p.fingerprint()).toBe(before)
  })
})
