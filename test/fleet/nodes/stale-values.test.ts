// Every page that shows what a node measures shows its age, without colour, while the node is away.
import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { listGpus } from '../../../src/fleet/gpus/hosts.ts'
import { listStoragePools } from '../../../src/fleet/storage-pools/list.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import type { Page } from '../../../src/kernel/web/page.ts'
import { getInstanceMetrics, getNodeCardMetrics } from '../../../src/platform/metrics/cards/show.ts'
import { getStorageFill } from '../../../src/platform/metrics/fill.ts'
import { getMetrics, getNodeMetrics } from '../../../src/platform/metrics/show.ts'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import type { World } from '../../support/world/panel.ts'

/** They answer what nodes measure. A page of a drain or a move reads a node for its name. */
const measuring: readonly Operation<any, any, any, any, any>[] = [
  getMetrics,
  getNodeMetrics,
  getInstanceMetrics,
  getNodeCardMetrics,
  getStorageFill,
  listStoragePools,
  listGpus,
]
const opsOf = ({ reads }: Page) =>
  Object.values(reads as Record<string, any>).map((read): Operation => ('op' in read ? read.op : read))
const showing = registry.pages.filter((page) => opsOf(page).some((op) => measuring.includes(op)))

// Those of resellers are the same pages as those of staff and customers.
const paths = showing.map(({ path }) => path).filter((path) => !path.startsWith('/reseller'))

const MINUTE = 60_000
/** All of one node measure for five minutes, and it tells its load. */
function measured(p: World, agent: World['node']['agent'], ids: readonly string[], cards: readonly string[]) {
  for (let i = 0; i < 30; i++) {
    p.turnClock(10_000)
    const use = { ms: 10_000, fast: [5000, 10_000, 20_000, 0, 0], memory: { ms: 10_000, usedMb: 512 } }
    agent.say({
      type: 'metrics',
      host: { ...use, disk: { ms: 10_000, sums: [40_960, 81_920, 0, 0] } },
      samples: ids.map((id) => ({ id, ...use })),
      cards: cards.map((uuid) => ({
        ...{ uuid, usePercent: 93, memoryUsedMb: 1000, temperatureC: 60, powerW: 300 },
        ...{ correctedErrors: 0, uncorrectedErrors: 0 },
      })),
    })
  }
  const load = { cpuPercent: 12, load1: 0.5, memoryFreeMb: 1000, pools: [] }
  agent.say({ type: 'heartbeat', at: p.now(), ...load, workloads: [] })
}

test('every page that shows what nodes measure says how old it is while they are away, and not before', async () => {
  using p = await gpuWorld()
  const instance = await orderInstance(p)
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'busy01' })
  await p.settle()
  const cards = p.db.$client.query<{ uuid: string }, []>('SELECT uuid FROM gpu_cards').all()
  measured(p, p.node.agent, [serverId], [])
  measured(
    p,
    p.host.agent,
    [],
    cards.map(({ uuid }) => uuid),
  )
  const idFor = (path: string) =>
    path.includes('/servers/') ? serverId : /\/gpu(-instances)?\/\{/.test(path) ? instance : nodeFor(path)
  const nodeFor = (path: string) => (path.includes('/gpu') ? p.host.id : p.node.id)
  const shown = async () => {
    const found: Record<string, boolean> = {}
    for (const path of paths) {
      using pages = pagesFor(p, path.startsWith('/admin') ? p.owner : p.customer)
      const answer = await fetch(new URL(path.replace('{id}', idFor(path)), pages.url))
      const html = await answer.text()
      expect([path, answer.status]).toEqual([path, 200])
      const stale = [...html.matchAll(/class="(?:[^"]* )?stale(?: [^"]*)?"[\s\S]*?<time/g)]
      found[path] = stale.length > 0
    }
    return found
  }
  const all = (is: boolean) => Object.fromEntries(paths.map((path) => [path, is]))
  expect(paths.length).toBeGreaterThan(10)
  expect(await shown()).toEqual(all(false))
  p.node.agent.disconnect()
  p.host.agent.disconnect()
  p.turnClock(32 * MINUTE)
  expect(await shown()).toEqual(all(true))
})
