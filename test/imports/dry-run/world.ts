// Imports whose servers are checked: source hypervisors that all nodes of a panel share.
import { type FakeSourceHost, FakeSourceHosts } from '../../../agent/drivers/source-host/fake.ts'
import { closedAtEnd } from '../../support/opened.ts'
import type { World } from '../../support/world/panel.ts'
import { type Listed, owner, server } from '../panel-in-memory.ts'
import { discovered, imported, map, settled } from '../world.ts'

/** The hypervisor `1` of the panel in memory. */
export const KVM_1 = '192.0.2.11'

type Options = { lets?: FakeSourceHost['lets']; servers?: FakeSourceHost['servers'] }
/**
 * An import that is decided: everything is copied to Frankfurt, into packages like those there, with its addresses. The
 * hypervisor lets every node in.
 */
export async function decided(listed: Partial<Listed> = {}, { lets = 'everyone', servers }: Options = {}) {
  const p = await imported(listed)
  const path = `${p.dir}/source-hosts.db`
  const sources = new FakeSourceHosts(path, 'test')
  const close = closedAtEnd(() => sources.close())
  p.node.agent.settings.sourceHosts = path
  p.node.agent.restart()
  const parts = await p.admin('GET', `/admin/migrations/${p.id}/mapping/hypervisors`)
  for (const { address } of parts.data) sources.describe(address, { lets, servers: servers ?? {} })
  await decide(p, p.id)
  return Object.assign(p, {
    sources,
    sourcesPath: path,
    [Symbol.dispose]() {
      close()
      p.close()
    },
  })
}
export type Checked = Awaited<ReturnType<typeof decided>>

/** Decides what is not decided, in the usual way. */
export async function decide(p: World, id: string) {
  const path = `/admin/migrations/${id}/mapping`
  const sources = async (part: string) =>
    (await p.admin('GET', `${path}/${part}?limit=200`)).data as { sourceId: string; choice: string | null }[]
  for (const part of ['hypervisors', 'packages', 'ranges', 'owners'] as const) {
    const open = (await sources(part)).filter(({ choice }) => choice === null)
    const choice = { hypervisors: 'copy', packages: 'like', ranges: 'keep', owners: 'create' }[part]
    const more = part === 'hypervisors' ? { locationId: (p as never as { location: string }).location } : {}
    if (open.length) await map(p, id, { [part]: open.map(({ sourceId }) => ({ sourceId, choice, ...more })) })
  }
  await settled(p, id)
}

/** One turn of the clock for nodes and dry runs, and everything that it begins. */
export async function look(p: World) {
  const { app, hub } = p.controller
  app.sourceLogins.turn(hub, p.db, app)
  await app.sourceLogins.settled()
  app.dryRuns.turn(hub, p.db, app)
  await app.dryRuns.settled()
}
/** Runs until the dry run has ended; answers the import. */
export async function checked(p: World, id: string) {
  for (let i = 0; i < 5; i++) {
    await look(p)
    const row = await p.admin('GET', `/admin/migrations/${id}`)
    if (row.status !== 'checking') return row
  }
  throw new Error('the dry run does not end')
}
export async function dryRun(p: World & { id: string }) {
  await p.admin('POST', `/admin/migrations/${p.id}/actions/dry-run`)
  return await checked(p, p.id)
}
type Found = { code: string; level: string; words: string; remedy: string }
/** The result and the findings of each server, in the order of their ids there. */
export async function results(p: World & { id: string }) {
  const { data } = await p.admin('GET', `/admin/migrations/${p.id}/servers?limit=200`)
  return (data as { sourceId: string; check: { result: string; findings: Found[] } | null }[])
    .toSorted((a, b) => Number(a.sourceId) - Number(b.sourceId))
    .map(({ check }) => [check?.result ?? null, ...(check?.findings ?? []).map(({ code }) => code)])
}
export const totals = (p: World & { id: string }) => p.admin('GET', `/admin/migrations/${p.id}/dry-run`)
export { discovered, owner, server }
