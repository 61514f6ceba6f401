// The newest use of a server on its overview.
import { expect, test } from 'bun:test'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { world } from '../../support/world/panel.ts'

test('the overview of a running server shows its newest use, and nothing before the first value', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'busy01' })
  await p.settle()
  using pages = pagesFor(p, p.customer)
  const page = async () => (await fetch(new URL(`/servers/${serverId}`, pages.url))).text()
  const figures = async () => {
    return [
      ...(await page()).matchAll(
        /<a href="\/servers\/\w+\/metrics"><span>(.*?)<\/span><b>(.*?)<small> (.*?)<\/small>/g,
      ),
    ].map(([, title, value, of]) => `${title}: ${value} ${of}`)
  }
  expect(await figures()).toEqual([])
  const { vcpus } = (await p.call(p.customer, 'GET', `/servers/${serverId}`)).body
  for (let i = 0; i < 12; i++) {
    p.turnClock(10_000)
    const use = { ms: 10_000, fast: [vcpus * 2500, 2_500_000, 5_000_000, 0, 0] }
    const memory = { ms: 10_000, usedMb: 512 }
    p.node.agent.say({ type: 'metrics', samples: [{ id: serverId, ...use, memory }] })
  }
  const [cpu, memory] = await figures()
  expect([cpu, memory]).toEqual([`CPU: 25 % of ${vcpus} vCPU`, 'Memory: 512 MiB of 2 GiB'])
  expect(await page()).toContain('2 Mbit/s in, 4 Mbit/s out')
})
