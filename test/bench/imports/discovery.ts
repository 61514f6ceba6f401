// An import of a large panel by the program: discovery over HTTPS from a simulated SolusVM 2, Discover again, decisions
// by rules and by spreadsheet, and the lists of it meanwhile. Memory is that of the controller's process.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { manySolusPanel } from '../../imports/simulators/many-servers.ts'
import { TOKEN } from '../../imports/simulators/solusvm2.ts'
import { scratch } from '../../support/world/fresh-db.ts'
import { installation } from '../../support/world/processes.ts'
import { flags, goal, ms, percentile, round, say, table } from '../words.ts'

const { servers, calls, mostAboveMb, mostMs } = flags('A large panel, discovered, discovered again and mapped.', {
  ...{ servers: 20_000, calls: 40, mostAboveMb: 200, mostMs: 300 },
})

const dir = mkdtempSync(`${scratch}/berth-bench-imports-`)
const panel = manySolusPanel(servers)
const served = await panel.serve(dir)
const live = await installation()
const controller = await live.serve()
const token = await live.ownerToken()
say(`${live.program.join(' ')}, ${servers.toLocaleString('en')} servers`)

const MIB = 1024
const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${controller.pid}/status`, 'utf8'))![1]) / MIB
const api = async (method: string, path: string, body?: unknown) => {
  const found = await fetch(`${live.url}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await found.text()
  if (!found.ok) throw new Error(`${method} ${path}: ${found.status} ${text.slice(0, 500)}`)
  return found.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text
}
const timed = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
  const began = performance.now()
  const made = await work()
  return [performance.now() - began, made]
}

const location = await api('POST', '/admin/node-groups', { name: 'Frankfurt' })
const own = await api('POST', '/admin/packages', { name: 'Own', vcpus: 2, memoryMb: 2048, diskGb: 25 })
const address = served.address
const { id } = await api('POST', '/admin/migrations', { kind: 'solusvm2', address, credentials: { token: TOKEN } })
const path = `/admin/migrations/${id}`
/** Waits for the end of what goes on by itself: the reading, or comparing. */
async function settled() {
  for (;;) {
    const row = await api('GET', path)
    if (row.status !== 'discovering' && (row.isCompared || !row.discoveredAt)) return row
    await Bun.sleep(100)
  }
}
await api('POST', `${path}/actions/discover`)
const { asksFor } = await settled()
await api('POST', `${path}/actions/trust`, { sha256: asksFor.sha256 })
// The code is warm before the figure that counts: the same calls that are made later.
for (let i = 0; i < 20; i++) for (const list of ['', '/servers', '/plan', '/mapping']) await api('GET', path + list)
await Bun.sleep(1000)
const idleMb = rssMb()

const phases: [string, number, number][] = []
const times: [string, number[]][] = []
const slowest = new Map<string, number>()
/** Does the work with lists asked for beside it; notes its time and the most memory. */
async function phase(name: string, work: () => Promise<unknown>) {
  let peakMb = 0
  let isOver = false
  const watch = setInterval(() => (peakMb = Math.max(peakMb, rssMb())), 50)
  const beside = (async () => {
    while (!isOver) {
      for (const list of ['', '/servers?limit=50']) {
        const [took] = await timed(() => api('GET', path + list))
        slowest.set(name, Math.max(slowest.get(name) ?? 0, took))
      }
      await Bun.sleep(200)
    }
  })()
  const [took] = await timed(work)
  isOver = true
  await beside
  clearInterval(watch)
  phases.push([name, took, Math.max(0, peakMb - idleMb)])
}
const discover = async () => {
  await api('POST', `${path}/actions/discover`)
  const row = await settled()
  if (row.trouble || row.servers.total !== servers) throw new Error(JSON.stringify(row.trouble ?? row.servers))
}
await phase('Discover', discover)
const sent = panel.requests.length
await phase('Discover again', discover)
await phase('own package for all by a rule', () =>
  api('POST', `${path}/mapping/actions/apply-to-packages`, { where: {}, choice: 'own', packageId: own.id }),
)
await phase('hypervisors copied by a rule', () =>
  api('POST', `${path}/mapping/actions/apply-to-hypervisors`, {
    ...{ where: {}, choice: 'copy', locationId: location.id },
  }),
)
await phase('ranges get new addresses by a rule', () =>
  api('POST', `${path}/mapping/actions/apply-to-ranges`, { where: {}, choice: 'new' }),
)
await phase('owners left out and made by rules', async () => {
  for (const choice of ['leave_out', 'create'])
    for (let isComplete = false; !isComplete; )
      ({ isComplete } = await api('POST', `${path}/mapping/actions/apply-to-owners`, {
        ...{ where: { conflict: 'none' }, choice },
      }))
})
await phase('compared', settled)
await phase('spreadsheet down and up', async () => {
  const csv = (await api('GET', `${path}/mapping.csv`)) as string
  await api('POST', `${path}/mapping/actions/upload`, { csv: csv.replaceAll('"create"', '"leave_out"') })
  await settled()
})
table(
  ['step', 'time', 'memory above idle', 'slowest list meanwhile'],
  phases.map(([name, took, mb]) => [name, ms(took), `${round(mb)} MB`, ms(slowest.get(name) ?? 0)]),
)

const [one] = (await api('GET', `${path}/servers`)).data
const lists = [
  ...['', '/plan', '/mapping', '/log', '/changes', '/servers?limit=50', '/servers?limit=200', '/servers?state=waiting'],
  ...['/servers?q=server-19', '/servers?undecided=true', '/servers?sort=hostname', '/mapping/owners?limit=200'],
  ...['/mapping/owners?choice=create', '/mapping/owners?q=owner-4', '/mapping/packages', '/mapping/ranges'],
  '/mapping/hypervisors',
].map((list) => [list || '(the import)', path + list] as const)
for (const [name, list] of [
  ...lists,
  ['/admin/migrations', '/admin/migrations'] as const,
  ['one server', `/admin/migration-servers/${one.id}`] as const,
]) {
  const took: number[] = []
  for (let i = 0; i < calls; i++) took.push((await timed(() => api('GET', list)))[0])
  times.push([name, took])
}
table(
  ['list', 'median', 'p99'],
  times.map(([name, took]) => [name, ms(percentile(took, 50)), ms(percentile(took, 99))]),
)
const worst = Math.max(...times.map(([, took]) => percentile(took, 99)))
const aboveMb = Math.max(...phases.map(([, , mb]) => mb))
const refused = panel.violations.length
say(`requests of a discovery ${sent}, of which none but reads (${refused} violations); idle ${round(idleMb)} MB`)
say(goal(aboveMb <= mostAboveMb, `memory above idle ${round(aboveMb)} MB of at most ${mostAboveMb}:`))
say(goal(worst <= mostMs, `slowest p99 of a list ${ms(worst)} of at most ${mostMs} ms:`))

await live.close()
await served[Symbol.asyncDispose]()
rmSync(dir, { recursive: true })
process.exit(0)
