// Deliveries a second to a receiver on loopback, with every row durable and logged, beside a bare loop that sends the
// same requests over as many connections; both turn by turn. Also how long a dead receiver delays the others.
import { createServer } from 'node:https'
import { keepAliveAgent } from '../../agent/protocol/net/pinned-request.ts'
import { configFrom } from '../../src/app/config.ts'
import { createController } from '../../src/app/controller.ts'
import { registry } from '../../src/app/features.ts'
import { signedHeaders } from '../../src/billing/webhooks/signature.ts'
import { secretsWith } from '../../src/kernel/crypto/secrets.ts'
import { openDb, write } from '../../src/kernel/db/open.ts'
import { emit } from '../../src/kernel/jobs/outbox.ts'
import { quieten } from '../../src/kernel/log.ts'
import { exchange } from '../../src/kernel/net/exchange.ts'
import { groupState } from '../../src/kernel/queue/queries.ts'
import { selfSigned } from '../support/services/certificate.ts'
import { start, tempDir } from './cleanup.ts'

const flag = (name: string, usual: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? usual : Number(process.argv[at + 1])
}
if (process.argv.includes('--help')) {
  console.log('bun test/bench/webhooks.ts [--events 4000] [--rounds 3] [--lanes 200]')
  process.exit(0)
}
if (process.argv.includes('--receiver')) await receive(process.argv.at(-2)!, process.argv.at(-1)!)

/** The receiver, in a process of its own: answers at once, and `/dead` never. Prints its port. */
async function receive(key: string, cert: string): Promise<never> {
  const server = createServer(
    { key: await Bun.file(key).text(), cert: await Bun.file(cert).text() },
    (request, answer) => {
      request.resume()
      request.on('end', () => {
        if (request.url !== '/dead') answer.end('ok')
      })
    },
  )
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
  return new Promise<never>(() => {})
}

quieten(true)
const { key, cert, pem } = await selfSigned(tempDir, 'receiver', 'DNS:*.example.com')
const child = start([process.execPath, import.meta.path, '--receiver', key, cert], { stdout: 'pipe' })
const reader = (child.stdout as ReadableStream<Uint8Array>).getReader()
const port = Number(new TextDecoder().decode((await reader.read()).value))
const transport = {
  ca: pem,
  silenceMs: 10_000,
  totalMs: 15_000,
  agent: keepAliveAgent(),
  lookUp: async () => [{ address: '93.184.215.14' }],
  dial: () => ({ host: '127.0.0.1', port }),
}
const controller = await createController({
  config: configFrom({ PANEL_DATA_DIR: tempDir, PANEL_PUBLIC_URL: 'https://panel.test' }),
  secrets: secretsWith(Buffer.alloc(32, 7)),
  db: openDb(`${tempDir}/berth.db`, registry.migrations),
  services: { webhookTransport: transport },
})
const { db, deliveries, app } = controller
const call = async (method: string, path: string, body?: unknown) => {
  const response = await controller.fetchLocal(
    new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  if (!response.ok) throw new Error(await response.text())
  return response.json() as Promise<any>
}
const server = { hostname: 'web01', status: 'running', package: 'KVM 2G', location: 'Frankfurt', ipv4: '203.0.113.10' }
const customer = { id: 'usr_x', email: 'cal@example.com', name: 'Cal', externalId: '4711' }
const happen = (n: number, from: number, customerId = 'usr_none') =>
  write(db, (tx) => {
    for (let i = from; i < from + n; i++) {
      const id = `srv_${i % 50}`
      const subject = { type: 'server', id }
      emit(tx, app.clock(), 'server.unsuspended', { subject, customerId, resellerId: null }, {
        server: { id, ...server, billingServiceId: null },
        customer,
      } as never)
    }
  })
const waiting = () => groupState(db, 'webhook', 'platform').waiting

/** The queue of the platform holds 5000. */
const events = Math.min(5000, flag('events', 4000))
const rounds = flag('rounds', 3)
const IN_FLIGHT = 32
const seconds = (from: number) => (performance.now() - from) / 1000

const { id: hook } = await call('POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
deliveries.start()
let made = 0
/** Fills the queue: what emits events is busy elsewhere. */
async function fill(n: number) {
  await deliveries.stop()
  for (let left = n; left > 0; left -= 100) {
    happen(Math.min(100, left), made)
    made += 100
  }
}
async function berth(n: number): Promise<number> {
  const began = performance.now()
  deliveries.start()
  while (waiting() > 0) await Bun.sleep(1)
  return n / seconds(began)
}
/** The same requests, signed anew each, and nothing stored. */
async function bare(n: number): Promise<number> {
  const body = JSON.stringify({ id: 'evt_x', type: 'server.unsuspended', created_at: '', data: { server, customer } })
  const url = new URL('https://hooks.example.com/')
  const policy = { ranges: ['unicast'], loopback: false }
  const { signal } = new AbortController()
  let left = n
  const began = performance.now()
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) {
        const about = { deliveryId: `dlv_${left}`, eventId: 'evt_x', type: 'server.unsuspended', timestamp: 1, body }
        await exchange(transport, { url, policy, headers: signedHeaders(['whsec_AAAA'], about), body, signal })
      }
    }),
  )
  return n / seconds(began)
}

await bare(500)
await fill(500)
await berth(500)
/** Rates, and the processor time of each delivery in ms: it is the same on a machine that has other work. */
const [ours, theirs, ourMs, theirMs]: number[][] = [[], [], [], []]
const measured = async (rates: number[], costs: number[], work: (n: number) => Promise<number>) => {
  const before = process.cpuUsage()
  rates.push(await work(events))
  const { user, system } = process.cpuUsage(before)
  costs.push((user + system) / 1000 / events)
}
for (let i = 0; i < rounds; i++) {
  await measured(theirs!, theirMs!, bare)
  await fill(events)
  await measured(ours!, ourMs!, berth)
}
const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!
const failed = db.$client
  .query<{ n: number }, []>("SELECT count(*) AS n FROM deliveries WHERE kind = 'webhook' AND state <> 'delivered'")
  .get()!.n
console.log(`deliveries      ${median(ours!).toFixed(0)}/s, each in the queue and in the log, ${failed} not delivered`)
console.log(`bare loop       ${median(theirs!).toFixed(0)}/s over ${IN_FLIGHT} connections`)
console.log(`processor time  ${median(ourMs!).toFixed(2)} ms a delivery; bare ${median(theirMs!).toFixed(2)} ms`)
console.log(`ratio           ${(median(ours!) / median(theirs!)).toFixed(2)}`)

// ---------------------------------------------------------------- fairness
await call('DELETE', `/webhooks/${hook}`)
const accounts = flag('lanes', 100)
const holders: string[] = []
for (let i = 0; i < accounts; i++) {
  const { id } = await call('POST', '/admin/customers', { name: `C${i}`, email: `c${i}@example.com` })
  holders.push(id)
}
const insert = db.$client.prepare(
  `INSERT INTO webhooks (id, owner, url, events, encrypted_secret, created_at) VALUES (?, ?, ?, '["*"]', ?, 1)`,
)
for (const [i, owner] of holders.entries()) {
  const id = `whk_${i}`
  // Every tenth receiver is dead.
  insert.run(
    id,
    owner,
    `https://hooks.example.com/${i % 10 === 0 ? 'dead' : 'live'}`,
    app.secrets.encrypt(id, 'whsec_AAAA'),
  )
}
const began = performance.now()
let n = 0
while (performance.now() - began < 6000) {
  for (const owner of holders) happen(1, n++, owner)
  await Bun.sleep(500)
}
await Bun.sleep(1500)
const delays = db.$client
  .query<{ ms: number }, []>(
    `SELECT d.ended_at - d.created_at AS ms FROM deliveries d JOIN webhooks w ON w.id = d.recipient
     WHERE d.kind = 'webhook' AND d.state = 'delivered' AND w.url LIKE '%/live' ORDER BY ms`,
  )
  .all()
  .map(({ ms }) => ms)
const at = (part: number) => delays[Math.floor((delays.length - 1) * part)]
console.log(
  `beside the dead ${delays.length} to live receivers of ${accounts} accounts, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
)
process.exit(0)
