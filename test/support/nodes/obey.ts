// A node in a network namespace: obeys the commands that come as lines of JSON, and answers each with a line, in order.
// One that is to be done at once does not wait for the others, and gets no answer.
//   ip netns exec NODE bun obey.ts DATA-DIR [IMAGE]
// IMAGE is a file that its commands can download from http://127.0.0.1:8000/.
import { createInterface } from 'node:readline'
import { parseCommand } from '../../../agent/commands/index.ts'
import { usualLimits } from '../../../agent/drivers/migration/leaving.ts'
import { LibvirtMigration } from '../../../agent/drivers/migration/libvirt.ts'
import { reopenTransfers } from '../../../agent/drivers/transfer/opening.ts'
import type { SshTransfers } from '../../../agent/drivers/transfer/ssh/ssh-transfers.ts'
import { openLabHost } from './lab-host.ts'

const [, , dir, image] = process.argv
if (image) Bun.serve({ port: 8000, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })
const opened = openLabHost(dir!)
// As on a host with KVM: an emulated guest runs on while its memory is sent, which can break it.
const asWithKvm = { ...usualLimits, stopsEmulated: false }
const host = process.env['EMULATED_AS_KVM']
  ? { ...opened, migration: new LibvirtMigration(opened, opened.transfers as SshTransfers, asWithKvm) }
  : opened
void reopenTransfers(host, Date.now())
const work = (name: string, input: unknown) =>
  parseCommand(name, input)
    .work(host)
    .then(
      (output) => ({ output }),
      (error) => ({ error: `${error}`, code: error?.code }),
    )
let turn: Promise<unknown> = Promise.resolve()
for await (const line of createInterface({ input: process.stdin })) {
  const { name, input, atOnce } = JSON.parse(line)
  if (atOnce) void work(name, input)
  else
    turn = turn.then(async () => {
      process.stdout.write(`${JSON.stringify(await work(name, input))}\n`)
    })
}
await turn
host.close()
process.exit()
