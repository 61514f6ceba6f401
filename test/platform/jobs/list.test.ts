// The list of jobs is searched and narrowed as people speak of it, and from an index whatever it is narrowed by.
import { expect, test } from 'bun:test'
import { type Who, type World, world } from '../../support/world/panel.ts'

const titles = async (p: World, who: Who, query: string) => {
  const { status, body } = await p.call(who, 'GET', `/jobs?${query}`)
  expect(status).toBe(200)
  expect(body.total).toBe(body.data.length)
  return body.data.map(({ title }: { title: string }) => title)
}
async function withJobs() {
  const p = await world()
  for (const hostname of ['web01', 'mail01']) {
    await p.admin('POST', '/admin/servers', { ...p.order, hostname })
    await p.settle()
  }
  const { data } = await p.admin('GET', '/servers?q=web01')
  await p.call(p.customer, 'POST', `/servers/${data[0].id}/actions/power`, { action: 'restart' })
  await p.settle()
  return { p, id: data[0].id as string }
}

test('it is searched by words of a title and by the name that a server has now', async () => {
  const { p, id } = await withJobs()
  using _ = p
  expect(await titles(p, p.customer, 'q=web01')).toEqual(['Restart web01', 'Install web01'])
  expect(await titles(p, p.owner, 'q=install')).toEqual(['Install mail01', 'Install web01'])
  expect(await titles(p, p.owner, 'q=install+WEB')).toEqual(['Install web01'])
  await p.call(p.customer, 'PATCH', `/servers/${id}/name`, { name: 'Shop of Ada' })
  expect(await titles(p, p.customer, 'q=shop')).toEqual(['Restart web01', 'Install web01'])
  const [{ id: jobId }] = (await p.call(p.customer, 'GET', '/jobs?q=restart')).body.data
  expect(await titles(p, p.customer, `q=${jobId}`)).toEqual(['Restart web01'])
  expect(await titles(p, p.customer, 'q=nothing')).toEqual([])
  // A name leads nobody to the jobs of others.
  expect(await titles(p, p.account('customer', 'Eve'), 'q=web01')).toEqual([])
})

test('it is narrowed by kind and node, which the page offers by their names', async () => {
  const { p } = await withJobs()
  using _ = p
  expect(await titles(p, p.customer, 'kind=power')).toEqual(['Restart web01'])
  expect(await titles(p, p.owner, `kind=install&nodeId=${p.node.id}`)).toHaveLength(2)
  const page = async (who: Who, path: string) =>
    (
      await p.controller.router.fetch(
        new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
      )
    ).text()
  const [ofStaff, ofCustomer] = [await page(p.owner, '/admin/jobs'), await page(p.customer, '/jobs')]
  for (const html of [ofStaff, ofCustomer]) expect(html).toContain('<option value="reinstall">Reinstallation</option>')
  expect([ofStaff.includes('>Drain</option>'), ofStaff.includes('>fra-01</option>')]).toEqual([true, true])
  expect([ofCustomer.includes('>Drain</option>'), ofCustomer.includes('>fra-01</option>')]).toEqual([false, false])
})

test('its pages come from an index', async () => {
  const { p, id } = await withJobs()
  using _ = p
  const { $client } = p.db
  const query = $client.query.bind($client)
  let asked: string[] = []
  $client.query = ((sql: string) => {
    asked.push(sql)
    return query(sql)
  }) as typeof query
  const planOf = async (filter: string) => {
    asked = []
    await p.admin('GET', `/jobs?${filter}`)
    return asked
      .filter((sql) => /\bFROM jobs j\b/.test(sql))
      .flatMap((sql) => query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail)
      .join('\n')
  }
  const indexOf: Record<string, string> = {
    'kind=install': 'jobs_kind (kind=?)',
    [`serverId=${id}`]: 'jobs_subject (subject_id=?)',
    [`nodeId=${p.node.id}`]: 'jobs_node (node_id=?)',
    'q=web01': 'SEARCH j USING INDEX sqlite_autoindex_jobs_1 (id=?)',
  }
  for (const [filter, index] of Object.entries(indexOf)) {
    const plan = await planOf(filter)
    expect([filter, plan.includes(index) || plan]).toEqual([filter, true])
  }
})
