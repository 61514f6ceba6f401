// A message to the owners of a large installation: its plan, the record of its recipients, and a slice of its mails, by
// the time for which each holds the event loop. Processor time of the thread counts.
//
//   bun test/bench/servers/messages.ts [--servers 20000] [--owners 5000]
import { sendMessages } from '../../../src/platform/messages/send.ts'
import { threadMs } from '../../support/load/event-loop.ts'
import { panel } from '../../support/world/panel.ts'
import { flags, goal, ms, say, table } from '../words.ts'

const PLAN_MS = 200
const SLICE_MS = 25
const { servers, owners } = flags(
  'Measures how long a message to the owners of so many servers holds the event loop.',
  { servers: 20_000, owners: 5000 },
)
say(`Seeding ${servers} servers of ${owners} customers …`)
const nodes = Math.max(2, Math.floor(servers / 300))
const p = await panel({ seeded: { servers, customers: owners, nodes, tokens: 1, freeAddresses: 100 } })
// The ledger takes all of them in with the first change.
await p.admin('POST', '/admin/roles', { name: 'Nobody', permissions: ['servers.power'] })
async function took<T>(work: () => T | Promise<T>): Promise<{ took: number; answer: T }> {
  const before = threadMs()
  const answer = await work()
  return { took: threadMs() - before, answer }
}
const draft = await p.admin('POST', '/admin/messages', { template: 'maintenance' })
const path = `/admin/messages/${draft.id}`
const plans: number[] = []
for (let i = 0; i < 5; i++) plans.push((await took(() => p.admin('GET', path))).took)
const sent = await took(() => p.admin('POST', `${path}/actions/send`, { expected: draft.counts.recipients }))
const slices: number[] = []
for (let i = 0; i < 20; i++) slices.push((await took(() => sendMessages(p.db, p.controller.app))).took)
const middle = (all: readonly number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!
table(
  ['part', 'median', 'longest'],
  [
    ['plan', ms(middle(plans)), ms(Math.max(...plans))],
    ['send now', ms(sent.took), ms(sent.took)],
    ['slice', ms(middle(slices)), ms(Math.max(...slices))],
  ],
)
say(`${draft.counts.recipients} recipients with ${draft.counts.servers} servers.`)
say(goal(middle(plans) <= PLAN_MS, `Plan within ${PLAN_MS} ms:`))
say(goal(middle(slices) <= SLICE_MS, `Slice within ${SLICE_MS} ms:`))
p.close()
process.exit(0)
