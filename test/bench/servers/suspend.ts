// Suspends and unsuspends 1,000 servers through the API, beside the bare changes of power on the same fake host.
//
//   bun test/bench/servers/suspend.ts [--servers 1000]
import { parseArgs } from 'node:util'
import { handlers as commands } from '../../../agent/commands/index.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { world } from '../../support/world/panel.ts'

const { values } = parseArgs({
  options: { servers: { type: 'string', default: '1000' }, help: { type: 'boolean', default: false } },
})
if (values.help) {
  console.log('--servers N   how many servers (1000)')
  process.exit(0)
}
const count = Number(values.servers)
const silent = { line: () => {}, progress: () => {} }

/** Milliseconds that `work` takes, and those of the processor. */
async function timed(work: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
  const [began, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - began, cpuMs: (user + system) / 1000 }
}
const each = (t: { ms: number; cpuMs: number }) =>
  `${(t.ms / count).toFixed(2)} ms each, ${(t.cpuMs / count).toFixed(2)} ms of processor`

const p = await world()
write(p.db, ({ $client }) => {
  $client.run('UPDATE nodes SET memory_mb = 1048576')
  $client.run('UPDATE storage_pools SET total_bytes = 1125899906842624, free_bytes = NULL')
})
try {
  await p.admin('POST', '/admin/ip-pools', {
    name: 'wide',
    network: '10.64.0.0/16',
    gateway: '10.64.0.1',
    nodeIds: [p.node.id],
  })
  const small = await p.admin('POST', '/admin/packages', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 1 })
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const order = { ...p.order, packageId: small.id, hostname: `web${i}` }
    ids.push((await p.admin('POST', '/admin/servers', order)).serverId)
    if (i % 50 === 49) await p.settle()
  }
  await p.settle()
  const off = async (id: string) => commands['vm.stop']({ workload: id, graceSeconds: 0 }, p.node.agent.host)
  const on = async (id: string) => commands['vm.start']({ workload: id }, p.node.agent.host)
  const bare = async (power: (id: string) => Promise<unknown>) => {
    for (const id of ids) await loggingTo(silent, () => power(id))
  }
  const through = async (action: string, body: object) => {
    for (const id of ids) await p.admin('POST', `/servers/${id}/actions/${action}`, body)
    await p.settle()
  }
  const suspended = await timed(() => through('suspend', { reason: 'Overdue' }))
  const unsuspended = await timed(() => through('unsuspend', {}))
  const [stopped, started] = [await timed(() => bare(off)), await timed(() => bare(on))]
  console.log(`${count} servers on one node of the fake host`)
  console.log(
    `suspend:    ${each(suspended)}; bare stop:  ${each(stopped)}; ratio ${(stopped.ms / suspended.ms).toFixed(2)}`,
  )
  console.log(
    `unsuspend:  ${each(unsuspended)}; bare start: ${each(started)}; ratio ${(started.ms / unsuspended.ms).toFixed(2)}`,
  )
  const running = (await p.node.agent.host.hypervisor.look()).ours.filter(({ power }) => power === 'running').length
  if (running !== count) throw new Error(`${running} of ${count} run afterwards`)
} finally {
  p.close()
}
