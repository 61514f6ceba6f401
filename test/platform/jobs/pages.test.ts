// The texts of the pages of jobs.
import { expect, test } from 'bun:test'
import { type Who, type World, world } from '../../support/world/panel.ts'

const page = async (p: World, who: Who, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

test('the list says how far each job came, the page of one has its log to copy and to keep', async () => {
  using p = await world()
  const { serverId, jobId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  p.node.agent.fault({ command: 'vm.stop', mode: 'fail', times: 1 })
  await p.call(p.customer, 'POST', `/servers/${serverId}/actions/power`, { action: 'shutdown' })
  await p.settle()
  const { step } = (await p.call(p.customer, 'GET', `/jobs/${jobId}`)).body
  const list = await page(p, p.customer, '/jobs')
  const steps = [...list.matchAll(/<td data-l="Step"[^>]*>([^<]*)</g)].map(([, text]) => text)
  expect(steps[1]).toBe(`${step.of} of ${step.of}`)
  expect(steps[0]).toMatch(/^\d+ of \d+/)
  expect(steps[0]).not.toBe(steps[1]!)
  const one = await page(p, p.customer, `/jobs/${jobId}`)
  expect(one).toContain(`data-name="${jobId}"`)
  for (const does of ['copyAll', 'save']) expect(one).toContain(`x-on:click="${does}"`)
})

test('the page of a job shows the commands on the node to staff alone', async () => {
  using p = await world()
  const { jobId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  p.db.$client.run(
    "INSERT INTO job_log (job_id, n, at, level, text) VALUES (?, 900, 1, 'command', 'virsh define /etc/secret-path')",
    [jobId],
  )
  expect(await page(p, p.owner, `/admin/jobs/${jobId}`)).toContain('secret-path')
  expect(await page(p, p.customer, `/jobs/${jobId}`)).not.toContain('secret-path')
})
