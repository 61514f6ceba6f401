// The provider gets a notice about failed jobs, one for all of a minute.
import { expect, test } from 'bun:test'
import { failuresToTell } from '../../../src/platform/jobs/queries.ts'
import { tellFailures } from '../../../src/platform/jobs/told.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const noticesOf = async (p: World, who: Who) =>
  (await p.call(who, 'GET', '/notices')).body.data.filter(({ kind }: { kind: string }) => kind === 'job_failed')
const mailsOf = (p: World) =>
  p.db.$client
    .query<{ n: number }, []>("SELECT count(*) AS n FROM deliveries WHERE kind = 'mail' AND subject LIKE '%failed%'")
    .get()!.n
const failed = async (p: World, hostname: string) => {
  p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 99 })
  const { jobId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  return jobId as string
}

test('staff are told of a failed job within a minute, and its owner reads when', async () => {
  using p = await world()
  const jobId = await failed(p, 'web01')
  const job = () => p.call(p.customer, 'GET', `/jobs/${jobId}`).then(({ body }) => body)
  expect(await job()).toMatchObject({ state: 'failed', kindTitle: 'Installation', providerToldAt: null })
  tellFailures(p.db, p.controller.app)
  expect((await job()).providerToldAt).toMatch(/^\d{4}-/)
  expect(await noticesOf(p, p.owner)).toMatchObject([
    { subject: 'Install web01 failed', href: `/admin/jobs/${jobId}`, readAt: null },
  ])
  expect(await noticesOf(p, p.customer)).toEqual([])
  // Once.
  tellFailures(p.db, p.controller.app)
  expect(await noticesOf(p, p.owner)).toHaveLength(1)
})

test('a notice that nobody has read makes way for the next, which is not mailed', async () => {
  using p = await world()
  await failed(p, 'web01')
  tellFailures(p.db, p.controller.app)
  const mails = mailsOf(p)
  await failed(p, 'web02')
  await failed(p, 'web03')
  tellFailures(p.db, p.controller.app)
  expect(await noticesOf(p, p.owner)).toMatchObject([
    { subject: '2 jobs failed, and others before', href: '/admin/jobs?state=failed' },
  ])
  expect(mailsOf(p)).toBe(mails)
  await p.call(p.owner, 'POST', '/notices/actions/read', {})
  await failed(p, 'web04')
  tellFailures(p.db, p.controller.app)
  expect(await noticesOf(p, p.owner)).toMatchObject([{ readAt: null }, {}])
  expect(mailsOf(p)).toBe(mails + 1)
})

test('nobody is told of a job that somebody cancelled, nor of one that failed hours ago', async () => {
  using p = await world()
  const jobId = await failed(p, 'web01')
  p.db.$client.run("UPDATE jobs SET error_code = 'cancelled' WHERE id = ?", [jobId])
  tellFailures(p.db, p.controller.app)
  const hoursAgo = p.now() - 2 * 3_600_000
  p.db.$client.run("UPDATE jobs SET error_code = 'tool_failed', finished_at = ? WHERE id = ?", [hoursAgo, jobId])
  tellFailures(p.db, p.controller.app)
  expect(await noticesOf(p, p.owner)).toEqual([])
  expect((await p.call(p.customer, 'GET', `/jobs/${jobId}`)).body.providerToldAt).toBeNull()
})

test('what is to be told is found by its index, however many jobs there are', async () => {
  using p = await world()
  expect(failuresToTell(p.db, 0, 1)).toEqual([])
  const plan = p.db.$client
    .query<{ detail: string }, []>(
      "EXPLAIN QUERY PLAN SELECT 1 FROM jobs INDEXED BY jobs_ended WHERE state = 'failed' AND finished_at > 1",
    )
    .all()
  expect(plan.map(({ detail }) => detail).join()).toContain('SEARCH jobs USING')
})
