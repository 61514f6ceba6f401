// A panel with an import from another panel that is held in memory.
import type { World } from '../support/world/panel.ts'
import { world } from '../support/world/panel.ts'
import { type Listed, MemoryPanel } from './panel-in-memory.ts'

export const TOKEN = 'canary-token-5f1b'
export type Importing = World & { other: MemoryPanel }

/** Opens a panel, with another one in memory in place of each that could be read. */
export async function open(listed?: Partial<Listed>): Promise<Importing> {
  const p = Object.assign(await world(), { other: new MemoryPanel() })
  Object.assign(p.other.listed, listed)
  put(p)
  return p
}
/** The other panel in place of the drivers; again after a restart. */
export const put = (p: Importing) =>
  void Object.assign(p.controller.app, {
    importPanels: new Map([
      ['solusvm2', p.other.source],
      ['virtualizor', { ...p.other.source, kind: 'virtualizor', label: 'Virtualizor' }],
    ]),
  })

export const begin = async (p: World, body: object = {}): Promise<string> =>
  (
    await p.admin('POST', '/admin/migrations', {
      kind: 'solusvm2',
      address: 'https://panel.source.test:443',
      credentials: { token: TOKEN },
      ...body,
    })
  ).id

/** One turn of the clock, and everything that it begins. */
export async function turn(p: World) {
  const { app } = p.controller
  app.importReadings.turn(p.db, app)
  await app.importReadings.settled()
}
/** Turns until nothing is read and nothing is left to compare; answers the import. */
export async function settled(p: World, id: string) {
  for (let i = 0; i < 5; i++) {
    await turn(p)
    const row = await p.admin('GET', `/admin/migrations/${id}`)
    if (row.status !== 'discovering' && (row.isCompared || row.status !== 'mapping')) return row
  }
  throw new Error('the import does not settle')
}
export async function discovered(p: World, id: string) {
  await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
  return await settled(p, id)
}
/** An import that has read the other panel. */
export async function imported(listed?: Partial<Listed>) {
  const p = await open(listed)
  const id = await begin(p)
  await discovered(p, id)
  return Object.assign(p, { id })
}
type Read = Awaited<ReturnType<typeof imported>>

export const map = (p: World, id: string, body: object) => p.admin('PATCH', `/admin/migrations/${id}/mapping`, body)
export const rows = async (p: Read, part: string, query = '') =>
  (await p.admin('GET', `/admin/migrations/${p.id}/mapping/${part}?limit=200${query}`)).data
export const row = async (p: Read, part: string, sourceId: string) =>
  (await rows(p, part)).find((one: { sourceId: string }) => one.sourceId === sourceId)
export const servers = async (p: Read, query = '') =>
  (await p.admin('GET', `/admin/migrations/${p.id}/servers?limit=200${query}`)).data.toSorted(
    (a: { sourceId: string }, b: { sourceId: string }) => Number(a.sourceId) - Number(b.sourceId),
  )
/** Of a row the choices that are offered. */
export const offered = (one: { offers: { choice: string; isOffered: boolean }[] }) =>
  one.offers.filter(({ isOffered }) => isOffered).map(({ choice }) => choice)
/** Why a choice is not offered. */
export const withheld = (one: { offers: { choice: string; isOffered: boolean; words: string }[] }, choice: string) =>
  one.offers.find((each) => each.choice === choice && !each.isOffered)?.words
/** The status and the code of a refused call, which has changed nothing. */
export async function refused(p: World, method: string, path: string, body?: object) {
  const before = p.fingerprint(['audit'])
  const reply = await p.call(p.owner, method, path, body)
  if (p.fingerprint(['audit']) !== before) throw new Error('a refused call has changed something')
  return [reply.status, reply.body.error?.code]
}
/** The addresses that a node says its host has; answers the id of the node. */
export function giveAddresses(p: World, { id }: { id: string }, addresses: readonly string[]): string {
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.addresses', json(?)) WHERE id = ?", [
    JSON.stringify(addresses),
    id,
  ])
  return id
}
