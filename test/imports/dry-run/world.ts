// Imports whose servers are checked: source hypervisors that all nodes of a panel share.
import { type FakeSourceHost, FakeSourceHosts } from '../../../agent/drivers/source-host/fake.ts'
import { closedAtEnd } from '../../support/opened.ts'
import type { World } from '../../support/world/panel.ts'
import type { Listed } from '../panel-in-memory.ts'
import { imported, map, settled } from '../world.ts'

/** The address of the hypervisor `1` of the panel in memory. */
export const KVM_1 = '192.0.2.11'
export const GIB = 1024 ** 3

type Options = { lets?: FakeSourceHost['lets']; servers?: FakeSourceHost['servers']; nodes?: readonly string[] }
/**
 * An import that is decided: everything is copied to Frankfurt, into packages like those there, with its addresses. The
 * hypervisors let every node in. `nodes`: the names of further nodes in Frankfurt.
 */
export async function decided(listed: Partial<Listed> = {}, { lets = 'everyone', servers, nodes = [] }: Options = {}) {
  const p = await imported(listed)
  const path = `${p.node.agent.home}/source-hosts.db`
  const sources = new FakeSourceHosts(path, 'test', p.now)
  const close = closedAtEnd(() => sources.close())
  const more = nodes.map((name) => p.addNode(p.location, name, { sourceHosts: path }))
  const { data } = await p.admin('GET', `/admin/migrations/${p.id}/mapping/hypervisors`)
  for (const { address } of data) sources.describe(address, { lets, ...(servers && { servers }) })
  await decide(p, p.id, p.location)
  return Object.assign(p, {
    sources,
    sourcesPath: path,
    more,
    [Symbol.dispose]() {
      close()
      p.close()
    },
  })
}
export type Decided = Awaited<ReturnType<typeof decided>>

const usual = { hypervisors: 'copy', packages: 'like', ranges: 'keep', owners: 'create' } as const
/** Decides what is not decided, in the usual way. */
export async function decide(p: World, id: string, locationId: string) {
  for (const part of ['hypervisors', 'packages', 'ranges', 'owners'] as const) {
    const { data } = await p.admin('GET', `/admin/migrations/${id}/mapping/${part}?limit=200`)
    const open = (data as { sourceId: string; choice: string | null }[]).filter(({ choice }) => choice === null)
    const more = part === 'hypervisors' ? { locationId } : {}
    const rows = open.map(({ sourceId }) => ({ sourceId, choice: usual[part], ...more }))
    if (rows.length) await map(p, id, { [part]: rows })
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
export type Shown = {
  sourceId: string
  state: string
  reason: string | null
  check: { result: string | null; findings: Found[]; node: { name: string } | null } & Record<string, any>
}
/** The servers of the import, in the order of their ids there. */
export const shown = async (p: World & { id: string }, query = ''): Promise<Shown[]> =>
  (await p.admin('GET', `/admin/migrations/${p.id}/servers?limit=200${query}`)).data.toSorted(
    (a: Shown, b: Shown) => Number(a.sourceId) - Number(b.sourceId),
  )
/** The result of each server, with the codes of its findings. */
export const results = async (p: World & { id: string }) =>
  (await shown(p)).map(({ check }) => [check?.result ?? null, ...(check?.findings ?? []).map(({ code }) => code)])
/** The words of the findings of a server. */
export const wordsOf = async (p: World & { id: string }, sourceId: string) =>
  (await shown(p)).find((one) => one.sourceId === sourceId)!.check.findings.map(({ words }) => words)
export const totals = (p: World & { id: string }) => p.admin('GET', `/admin/migrations/${p.id}/dry-run`)
