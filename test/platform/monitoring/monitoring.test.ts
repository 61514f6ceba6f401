// Figures for Prometheus: who may read them, that they are true, and that documents name no other ones.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { asText, type Figure } from '../../../src/kernel/monitoring.ts'
import { golden } from '../../support/golden.ts'
import { reportCards } from '../../support/nodes/gpus.ts'
import { gpuWorld } from '../../support/nodes/instances.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const docs = new URL('../../../docs/', import.meta.url).pathname
let p: World
let token: Who
let text = ''
beforeAll(async () => {
  p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  token = p.token(p.owner.id, ['metrics:read'])
  text = await scraped()
})
afterAll(() => p.close())

const scrapeOf = (of: World, who?: Who, path = '/metrics') =>
  of.controller.router.fetch(
    new Request(`http://localhost${path}`, who && { headers: { Authorization: `Bearer ${who.token}` } }),
  )
const scrape = (who?: Who, path?: string) => scrapeOf(p, who, path)
const scraped = async () => (await scrape(token)).text()
const value = (line: string, of = text) =>
  Number(new RegExp(`^${line.replace(/[{}"]/g, '\\$&')} (.+)$`, 'm').exec(of)?.[1])
const namesIn = (of: string) => [...new Set([...of.matchAll(/berth_[a-z_]+[a-z]/g)].map(([name]) => name))].sort()

describe('GET /metrics', () => {
  test('answers a token with its scope, at both addresses, as Prometheus reads it', async () => {
    const answer = await scrape(token)
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect((await scrape(token, '/api/v1/metrics')).status).toBe(200)
    const line =
      /^(# (HELP|TYPE) berth_\w+ .+|berth_\w+(\{\w+="[^"\n]*"(,\w+="[^"\n]*")*\})? -?\d+(\.\d+)?(e[+-]\d+)?)$/
    for (const one of text.trimEnd().split('\n')) expect(one).toMatch(line)
    for (const name of namesIn(text))
      expect(text).toContain(`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`)
  })
  test('answers nobody else, and tells them nothing', async () => {
    const others: [number, Who | undefined][] = [
      [401, undefined],
      [401, { token: 'pnl_nonsense' }],
      [403, p.token(p.owner.id, ['servers:read'])],
      [403, p.token(p.customer.id)],
    ]
    for (const [status, who] of others) {
      const answer = await scrape(who)
      expect(answer.status).toBe(status)
      expect(await answer.text()).not.toContain('berth_')
    }
    const post = await p.controller.router.fetch(new Request('http://localhost/metrics', { method: 'POST' }))
    expect(post.status).toBe(405)
  })
  test('is true, and changes with what is', async () => {
    expect([value('berth_servers{status="running"}'), value('berth_nodes{state="connected"}')]).toEqual([1, 1])
    expect(value(`berth_node_up{node="${nodeName()}"}`)).toBe(1)
    expect(value('berth_database_writable')).toBe(1)
    expect(value('berth_jobs{state="queued"}')).toBe(0)
    expect(value('berth_jobs_ended_last_day{state="succeeded"}')).toBe(1)
    p.node.agent.disconnect()
    const { jobId } = await p.admin('POST', `/servers/${serverId()}/actions/power`, { action: 'restart' })
    expect(jobId).toStartWith('job_')
    p.turnClock(90_000)
    const after = await scraped()
    expect(value('berth_nodes{state="away"}', after)).toBe(1)
    expect(value(`berth_node_up{node="${nodeName()}"}`, after)).toBe(0)
    expect(value('berth_jobs{state="queued"}', after) + value('berth_jobs{state="running"}', after)).toBe(1)
    p.node.agent.connect()
    await p.settle()
  })
  test('counts GPU cards by their state', async () => {
    using g = await gpuWorld({ cards: 2 })
    const [well, broken] = g.host.cards
    reportCards(g, g.host.id, { cards: [well!, { ...broken!, problems: ['It fell off the bus.'] }] })
    const answer = await scrapeOf(g, g.token(g.owner.id, ['metrics:read']))
    const after = await answer.text()
    expect([value('berth_cards{state="free"}', after), value('berth_cards{state="broken"}', after)]).toEqual([1, 1])
  })
  test('tells of no customer, no server and no secret', () => {
    const told = p.db.$client
      .query<{ text: string }, []>(
        `SELECT id AS text FROM accounts UNION SELECT email FROM accounts UNION SELECT name FROM accounts
         UNION SELECT id FROM workloads UNION SELECT hostname FROM workloads`,
      )
      .all()
    for (const one of told) expect(text).not.toContain(one.text)
  })
  test('writes any name of a node as one label', () => {
    const figure: Figure = {
      name: 'berth_x',
      help: 'X.',
      type: 'gauge',
      samples: [{ labels: { node: 'a"b\\c\nd' }, value: 1 }],
    }
    expect([...asText([figure])].join('')).toBe(
      '# HELP berth_x X.\n# TYPE berth_x gauge\nberth_x{node="a\\"b\\\\c\\nd"} 1\n',
    )
  })
})

const serverId = () => p.db.$client.query<{ id: string }, []>('SELECT id FROM servers').get()!.id
const nodeName = () => p.db.$client.query<{ name: string }, []>('SELECT name FROM nodes').get()!.name

describe('what is written about the figures', () => {
  test('the dashboard of Grafana asks for none that there is not, and for every one of a node', () => {
    const dashboard = JSON.parse(readFileSync(`${docs}grafana-dashboard.json`, 'utf8'))
    const asked = dashboard.panels.flatMap(({ targets }: any) => targets.map(({ expr }: any) => expr))
    expect(asked.length).toBeGreaterThan(15)
    const there = namesIn(text)
    for (const name of namesIn(asked.join('\n'))) expect(there).toContain(name)
    for (const name of there.filter((one) => one.startsWith('berth_node_'))) expect(asked.join('\n')).toContain(name)
  })
  // GOLDEN=write bun test test/platform/monitoring writes the table.
  test('docs/monitoring.md names every one with its meaning', () => {
    const path = `${docs}monitoring.md`
    const document = readFileSync(path, 'utf8')
    const rows = namesIn(text).map(
      (name) => `| \`${name}\` | ${new RegExp(`^# HELP ${name} (.+)$`, 'm').exec(text)?.[1]} |`,
    )
    const table = ['| Name | Meaning |', '|---|---|', ...rows].join('\n')
    const wanted = document.replace(
      /<!-- figures -->[\s\S]*<!-- \/figures -->/,
      `<!-- figures -->\n${table}\n<!-- /figures -->`,
    )
    golden('docs/monitoring.md', wanted)
    for (const name of namesIn(document)) expect(namesIn(text)).toContain(name)
  })
})
