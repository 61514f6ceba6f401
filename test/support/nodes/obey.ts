// A node in a network namespace: obeys the commands that come as lines of JSON, and answers each with a line, in order.
//   ip netns exec NODE bun obey.ts DATA-DIR [IMAGE]
// IMAGE is a file that its commands can download from http://127.0.0.1:8000/.
import { createInterface } from 'node:readline'
import { parseCommand } from '../../../agent/commands/index.ts'
import { reopenTransfers } from '../../../agent/drivers/transfer/opening.ts'
import { openLabHost } from './lab-host.ts'

const [, , dir, image] = process.argv
if (image) Bun.serve({ port: 8000, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })
const host = openLabHost(dir!)
void reopenTransfers(host, Date.now())
for await (const line of createInterface({ input: process.stdin })) {
  const { name, input } = JSON.parse(line)
  const answer = await parseCommand(name, input)
    .work(host)
    .then(
      (output) => ({ output }),
      (error) => ({ error: `${error}` }),
    )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
host.close()
process.exit()
