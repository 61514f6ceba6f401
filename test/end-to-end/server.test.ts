// The main job on real input: a real QEMU guest, ordered through the API of the compiled program, on real libvirt and
// nftables.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { launch, open, screens, signIn } from '../support/browser.ts'
import {
  bridge,
  guestImage,
  must,
  newKey,
  noGuests,
  pinging,
  removeRules,
  run,
  sshWithKey,
  sshWithPassword,
} from '../support/guest.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { type Installation, installation } from '../support/world/processes.ts'

const chromium = '/usr/bin/chromium'
const why = await noGuests()
if (why) console.warn(`real guests are skipped: ${why}`)

describe.skipIf(!!why)('a real server', () => {
  let live: Installation
  let controller: Subprocess
  let agent: Subprocess
  let home: string
  let token: string
  let lan: Awaited<ReturnType<typeof bridge>>
  let key: Awaited<ReturnType<typeof newKey>>
  let order: Record<string, unknown>
  let byKey: { serverId: string; jobId: string; ipv4: string }
  let byPassword: { serverId: string; jobId: string; ipv4: string; rootPassword: string }

  beforeAll(async () => {
    lan = await bridge('bte2e0', '10.91.7.1/24')
    key = await newKey()
    live = await installation()
    controller = await live.serve()
    token = await live.staffToken()
    const location = (await live.admin('locations.create', { name: 'Lab' })).id
    home = await live.enroll(location, 'real-01', ['--bridge', 'bte2e0'])
    agent = live.agent(home)
    const node = await live.until('the node', async () =>
      (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
    )
    await live.admin('nodes.update', { id: node.id, bridge: 'bte2e0' })
    await live.admin('pools.create', {
      name: 'lan',
      network: '10.91.7.0/24',
      gateway: '10.91.7.1',
      first: '10.91.7.10',
      last: '10.91.7.20',
      nodeIds: [node.id],
    })
    const pack = (await live.admin('packages.create', { name: 'Tiny', vcpus: 1, memoryMb: 128, diskGb: 1 })).id
    copyFileSync(guestImage, `${live.dir}/incoming/tiny.qcow2`)
    const image = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny Linux' })).id
    const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    const sshKey = (await live.admin('ssh-keys.create', { id: customer, publicKey: key.publicKey })).id
    order = { ownerId: customer, packageId: pack, nodeGroupId: location, imageId: image }
    byKey = (
      await live.api(token, 'POST', '/admin/servers', {
        ...order,
        hostname: 'web01.example.com',
        access: { mode: 'ssh_keys', sshKeyIds: [sshKey] },
      })
    ).body
    byPassword = (
      await live.api(token, 'POST', '/admin/servers', { ...order, hostname: 'db01', access: { mode: 'password' } })
    ).body
  }, 120_000)

  afterAll(async () => {
    key?.remove()
    for (const { serverId } of [byKey, byPassword].filter(Boolean))
      await run(['virsh', '-c', 'qemu:///system', 'destroy', serverId])
    for (const { serverId } of [byKey, byPassword].filter(Boolean))
      await run(['virsh', '-c', 'qemu:///system', 'undefine', serverId])
    await live?.close()
    await lan?.remove()
    await removeRules()
  })

  const ended = (jobId: string, seconds = 240) =>
    live.until(
      `the end of ${jobId}`,
      async () => {
        const { body } = await live.api(token, 'GET', `/jobs/${jobId}`)
        return (body.state === 'succeeded' || body.state === 'failed') && body
      },
      seconds,
    )

  test('is built from the order, and answers SSH by key and by password with the right hostname', async () => {
    for (const { jobId } of [byKey, byPassword]) {
      const job = await ended(jobId)
      expect(job).toMatchObject({ state: 'succeeded', error: null })
    }
    const first = await live.until(
      'SSH by key',
      async () => {
        const said = await sshWithKey(byKey.ipv4, key.path, 'hostname')
        return said.code === 0 && said
      },
      60,
    )
    expect(first.out).toBe('web01')
    const second = await live.until(
      'SSH by password',
      async () => {
        const said = await sshWithPassword(byPassword.ipv4, byPassword.rootPassword, 'hostname')
        return said.code === 0 && said
      },
      60,
    )
    expect(second.out).toBe('db01')
    expect((await sshWithPassword(byPassword.ipv4, 'not the password at all', 'hostname')).code).not.toBe(0)
    expect((await live.api(token, 'GET', `/servers/${byKey.serverId}`)).body).toMatchObject({
      status: 'running',
      sshCommand: `ssh root@${byKey.ipv4}`,
      job: null,
    })
  }, 300_000)

  test.skipIf(!existsSync(chromium))(
    'has a serial line and a screen in the browser: a login prompt is read, and keys that are typed arrive',
    async () => {
      const browser = await launch()
      try {
        const { page, complaints } = await open(browser, screens[0]!, live.url)
        await signIn(page, 'ada@example.com', 'seven green bicycles')
        const path = `/admin/servers/${byPassword.serverId}/console`
        await page.goto(`${path}?kind=serial`)
        const rows = page.locator('.xterm-rows > div')
        const lines = async () => (await rows.allTextContents()).map((line) => line.trim()).filter(Boolean)
        await rows.first().waitFor({ timeout: 20_000 })
        await page.locator('.xterm-screen').click()
        // A slow guest may throw away what is typed too early: each prompt is answered as often as it comes.
        const answers: [RegExp, string][] = [
          [/^db01 login:$/, 'root'],
          [/^Password:$/, byPassword.rootPassword],
          [/[#$]$/, 'echo "$((20 + 22)) by $(tty)"'],
        ]
        const greeted = Date.now()
        for (let stands = ''; !(await lines()).includes('42 by /dev/ttyS0'); ) {
          // Long enough for a login that gives up after a minute and asks again.
          if (Date.now() - greeted > 150_000) expect(await lines()).toContain('42 by /dev/ttyS0')
          const last = (await lines()).at(-1) ?? ''
          const answer = answers.find(([prompt]) => prompt.test(last))?.[1]
          // Ends what was typed into a prompt that still stands, whichever of the two ends a line for the guest.
          if (last === stands) await page.keyboard.press('Control+j')
          else if (answer) await page.keyboard.type(`${answer}\n`)
          stands = last === stands ? '' : last
          // Time for the guest to answer, so that a prompt that stands is not answered twice.
          await eventually(async () => (await lines()).at(-1) !== last, 8)
        }

        const screen = await page.context().newPage()
        await screen.goto(path)
        await screen.locator('[data-when=connected]').waitFor({ timeout: 20_000 })
        const colours = () =>
          screen.evaluate(() => {
            const canvas = document.querySelector('canvas')!
            const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
            return new Set(new Uint32Array(data.buffer)).size
          })
        await live.until('a picture of the screen', async () => (await colours()) > 1, 20)
        // Typed key by key at the other login, whose shell then writes to the serial line. A guest that was too slow
        // for one text sees all of them again.
        for (let tries = 1; !(await lines()).includes('from /dev/tty1'); tries++) {
          expect(tries).toBeLessThan(4)
          for (const text of ['root', byPassword.rootPassword, 'echo "from $(tty)" >/dev/ttyS0']) {
            await screen.getByRole('button', { name: 'Paste text…' }).click()
            await screen.getByLabel('Text', { exact: true }).fill(`${text}\n`)
            await screen.getByRole('button', { name: 'Type', exact: true }).click()
            await screen.getByRole('button', { name: 'Stop typing' }).waitFor({ state: 'hidden', timeout: 20_000 })
            await Bun.sleep(1500 * tries)
          }
          await live
            .until('the text', async () => (await lines()).includes('from /dev/tty1'), 10)
            .catch(() => undefined)
        }
        expect(complaints).toEqual([])
        const audit = (await live.api(token, 'GET', `/admin/audit?target=${byPassword.serverId}`)).body.data
        expect(audit.map((line: any) => line.operation)).toContain('consoles.opened')
      } finally {
        await browser.close()
      }
    },
    300_000,
  )

  test('keeps no first-boot data on the node once it has booted', async () => {
    expect((await must('virsh', '-c', 'qemu:///system', 'dumpxml', byPassword.serverId)).toLowerCase()).not.toContain(
      'seed',
    )
    const files = await must('find', home, '-name', '*.iso')
    expect(files).toBe('')
  })

  test('cannot speak with an address that is not its own: to nobody, not even by ARP', async () => {
    const drops = async () =>
      [...(await must('nft', '-j', 'list', 'table', 'bridge', 'berth')).matchAll(/"packets": ?(\d+)/g)].reduce(
        (n, [, packets]) => n + Number(packets),
        0,
      )
    expect((await sshWithKey(byKey.ipv4, key.path, 'ping -c 1 -W 3 10.91.7.1 >/dev/null && echo through')).out).toBe(
      'through',
    )
    const before = await drops()
    const forged = await sshWithKey(
      byKey.ipv4,
      key.path,
      'ip addr add 10.91.7.99/24 dev eth0; ping -c 2 -W 1 -I 10.91.7.99 10.91.7.1 >/dev/null 2>&1 && echo ' +
        'through || echo dropped; ip addr del 10.91.7.99/24 dev eth0',
    )
    expect(forged.out).toBe('dropped')
    expect(await drops()).toBeGreaterThan(before)
    expect(await must('ip', 'neigh', 'show', 'dev', 'bte2e0')).not.toMatch(/10\.91\.7\.99 .*lladdr/)
  }, 60_000)

  test('answers ping without a gap while controller and agent are killed and started again', async () => {
    const ping = pinging(byKey.ipv4)
    await Bun.sleep(1000)
    agent.kill('SIGKILL')
    controller.kill('SIGKILL')
    await Promise.all([agent.exited, controller.exited])
    await Bun.sleep(1000)
    controller = await live.serve()
    agent = live.agent(home)
    await live.until('the node', async () => (await live.admin('nodes.list')).data[0].connected)
    await Bun.sleep(1000)
    const { sent, received } = await ping.stop()
    expect(sent).toBeGreaterThan(15)
    expect(received).toBe(sent)
    const { body } = await live.api(token, 'GET', `/servers/${byKey.serverId}`)
    expect(body.status).toBe('running')
    expect((await live.admin('nodes.list')).data[0].differences).toBe(0)
  }, 60_000)

  test('that its owner shuts down from inside is seen as stopped at once, and starts again by the API', async () => {
    await sshWithKey(byKey.ipv4, key.path, 'poweroff')
    await live.until(
      'stopped',
      async () => (await live.api(token, 'GET', `/servers/${byKey.serverId}`)).body.status === 'stopped',
      30,
    )
    const { body } = await live.api(token, 'POST', `/servers/${byKey.serverId}/actions/power`, { action: 'start' })
    expect((await ended(body.jobId)).state).toBe('succeeded')
    await live.until('SSH again', async () => (await sshWithKey(byKey.ipv4, key.path, 'hostname')).out === 'web01', 90)
  }, 180_000)

  test('leaves nothing behind when it is terminated: no domain, disk, seed, tap, rule or address', async () => {
    const jobs = await Promise.all(
      [byKey, byPassword].map(({ serverId }) => live.api(token, 'DELETE', `/servers/${serverId}?immediately=true`)),
    )
    for (const { status, body } of jobs) {
      expect(status).toBe(202)
      expect((await ended(body.jobId)).state).toBe('succeeded')
    }
    const domains = await must('virsh', '-c', 'qemu:///system', 'list', '--all', '--name')
    for (const { serverId } of [byKey, byPassword]) expect(domains).not.toContain(serverId)
    expect(await must('find', `${home}/pools`, '-type', 'f')).toBe('')
    expect(await must('find', home, '-name', '*.iso')).toBe('')
    expect(
      readdirSync('/sys/class/net').filter(
        (name) =>
          readdirSync('/sys/class/net').includes('bte2e0') &&
          /^bth[0-9]+$/.test(name) &&
          Bun.file(`/sys/class/net/${name}/master`).size > 0,
      ),
    ).toEqual([])
    for (const mac of (await must('nft', 'list', 'table', 'bridge', 'berth')).match(/02:[0-9a-f:]{14}/g) ?? [])
      throw new Error(`a rule for ${mac} is left`)
    expect((await live.admin('pools.list')).data[0]).toMatchObject({ held: 0, resting: 2 })
  }, 120_000)
})
