// The memory and the time of reading another panel with many servers, in this process: both panels one after another,
// each from made-up answers. Prints a line of JSON for each.
import { parseArgs } from 'node:util'
import type { Send } from '../../../src/imports/sources/send.ts'
import type { SourceOptions, SourceReader } from '../../../src/imports/sources/source.ts'
import { manySolusServers, manyVirtualizorServers } from '../../imports/simulators/many-servers.ts'
import { Panel } from '../../imports/simulators/panel.ts'
import { all, solusReader, virtualizorReader } from '../../imports/simulators/reading.ts'

const HELP = `bun test/bench/imports/reading.ts [--servers 20000] [--panel solusvm2|virtualizor]`
const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '20000' },
    panel: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const count = Number(values.servers)
const nothing = new Panel(() => {
  throw new Error('every answer is made up')
})
type Read = (panel: Panel, options: SourceOptions) => SourceReader
const panels: Readonly<Record<string, readonly [Read, (count: number) => Send]>> = {
  solusvm2: [solusReader, manySolusServers],
  virtualizor: [virtualizorReader, manyVirtualizorServers],
}
const MIB = 1024 ** 2
const rssMb = () => process.memoryUsage.rss() / MIB

for (const [name, [reader, send]] of Object.entries(panels)) {
  if (values.panel !== undefined && values.panel !== name) continue
  // The code is warm and the heap has its usual size before the figure that counts.
  const read = async (servers: number) => {
    const answers = send(servers)
    let requests = 0
    let peakMb = 0
    const reading = reader(nothing, {
      send: async (url, headers) => {
        requests++
        peakMb = Math.max(peakMb, rssMb())
        return answers(url, headers)
      },
    })
    const hypervisors = await all(reading.hypervisors())
    const ids = hypervisors.map(({ id }) => ({ id }))
    const found = await all(reading.servers(ids))
    return { found: found.length, requests, peakMb: Math.max(peakMb, rssMb()) }
  }
  await read(200)
  Bun.gc(true)
  const idleMb = rssMb()
  const began = performance.now()
  const { found, requests, peakMb } = await read(count)
  const seconds = (performance.now() - began) / 1000
  const rounded = (n: number) => Number(n.toFixed(1))
  console.log(
    JSON.stringify({
      panel: name,
      found,
      requests,
      seconds: rounded(seconds),
      idleMb: rounded(idleMb),
      aboveIdleMb: rounded(peakMb - idleMb),
    }),
  )
}
