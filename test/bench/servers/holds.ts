// How long each operation holds the event loop of a large installation, with its largest body or query: a table of all
// that is over 50 ms, or over --most.
//
//   bun test/bench/servers/holds.ts [--servers 60000] [--most 50]
import { registry } from '../../../src/app/features.ts'
import { companyOf, type Held, heldBy, MOST_HOLD_MS } from '../../support/load/holds.ts'
import { flags, goal, ms, say, table } from '../words.ts'

const { servers, most } = flags(
  'Measures how long each operation holds the event loop with its largest body or query over so many servers.',
  { servers: 60_000, most: MOST_HOLD_MS },
)
say(`Seeding ${servers} servers …`)
const p = await companyOf(servers)
const held: Held[] = []
for await (const one of heldBy(p, registry.operations)) held.push(one)
const long = held.filter((one) => one.ms > most).toSorted((a, b) => b.ms - a.ms)
table(
  ['operation', 'call', 'status', 'longest hold'],
  long.map(({ id, variant, status, ms: took }) => [id, variant, status, ms(took)]),
)
say(`${held.length} calls of ${new Set(held.map(({ id }) => id)).size} operations; ${long.length} are over ${most} ms.`)
say(goal(!long.length, 'No operation holds it longer:'))
p.close()
process.exit(0)
