// A panel with a release and nodes whose agents update themselves, each as its script says.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import type { AgentUpdate } from '../../../agent/protocol/values/reports.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { advanceRollOut } from '../../../src/platform/roll-outs/advance.ts'
import { newKey, writeRelease } from '../../release/signed.ts'
import { world } from '../../support/world/panel.ts'

export const BEFORE = '0.0.9'
const ours = newKey()

/** `good`: trial, and accepted. `goes_back`: trial, then the former version. `silent`: it is never heard of again. */
export type Script = 'good' | 'goes_back' | 'refuses' | 'finds' | 'silent'

/** Nodes `n01` (the one of the panel, too) to `nN`, whose agents run `BEFORE`. */
export async function fleet(n: number) {
  const p = await world({ updates: { keys: [ours.key] } })
  const content = randomBytes(100_000)
  mkdirSync(`${p.dir}/upgrade/incoming`, { recursive: true })
  const release = writeRelease(`${p.dir}/upgrade/incoming/berth-${VERSION}.release`, {
    ...{ by: ours, version: VERSION, content },
  })
  /** That of the version before, whose program differs a little. */
  const releaseBefore = () =>
    writeRelease(`${p.dir}/upgrade/incoming/berth-${BEFORE}.release`, {
      ...{
        by: ours,
        version: BEFORE,
        content: Buffer.concat([content.subarray(0, 50_000), randomBytes(100), content]),
      },
    })
  for (let i = 2; i <= n; i++) p.addNode(p.location, `n${String(i).padStart(2, '0')}`)
  p.db.$client.run("UPDATE nodes SET name = 'n01' WHERE name = 'fra-01'")
  const names = new Map(
    p.db.$client
      .query<{ id: string; name: string }, []>('SELECT id, name FROM nodes')
      .all()
      .map(({ id, name }) => [name, id]),
  )
  const idOf = (name: string) => names.get(name)!
  const agentOf = (name: string) => p.agents.get(idOf(name))!
  const scripts = new Map<string, Script>()
  const said = new Map<string, Parameters<typeof says>>()

  /** The agent says that it runs this version, and what became of an update. */
  async function says(name: string, agentVersion: string, update?: Partial<AgentUpdate>, by = 'itself') {
    said.set(name, [name, agentVersion, update && { at: p.now(), ...update }, by])
    const { facts } = p.db.$client
      .query<{ facts: string }, [string]>('SELECT facts FROM nodes WHERE id = ?')
      .get(idOf(name))!
    const { update: _, ...rest } = JSON.parse(facts)
    agentOf(name).say({
      type: 'facts',
      facts: { ...rest, agentVersion, updatedBy: by, ...(update && { update: { at: p.now(), ...update } }) },
    })
    await agentOf(name).look()
  }
  const trial = (findings?: string[]) => ({ state: 'trial' as const, version: VERSION, from: BEFORE, findings })

  async function answer(name: string, frame: 'lookForRelease' | 'acceptRelease') {
    if (frame === 'acceptRelease') return says(name, VERSION)
    const script = scripts.get(name) ?? 'good'
    if (script === 'refuses')
      return says(name, BEFORE, { state: 'refused', version: VERSION, code: 'release_too_old', reason: 'Not newer.' })
    if (script === 'silent') {
      await says(name, BEFORE, { state: 'switching', version: VERSION })
      await p.reported()
      return agentOf(name).disconnect()
    }
    await says(name, VERSION, trial(script === 'finds' ? ['web01 is not there.'] : []))
    if (script !== 'goes_back') return
    await p.reported()
    advanceRollOut(p.db, p.controller.app)
    const reason = 'It saw 37 of 38 servers.'
    await says(name, BEFORE, { state: 'went_back', version: VERSION, code: 'inventory_differs', reason })
  }

  for (const name of names.keys()) await says(name, BEFORE)
  await p.reported()
  const path = '/admin/roll-outs'
  return Object.assign(p, {
    release,
    releaseBefore,
    scripts,
    idOf,
    agentOf,
    says,
    start: (body: object = {}) => p.admin('POST', path, { watchSeconds: 60, firstNodeId: idOf('n01'), ...body }),
    shown: (id: string) => p.admin('GET', `${path}/${id}`),
    act: (id: string, action: string, body?: object) =>
      p.call(p.owner, 'POST', `${path}/${id}/actions/${action}`, body),
    /** After a restart of the controller the agents say what they said last. */
    async saysAgain() {
      for (const words of said.values()) await says(...words)
      await p.reported()
    },
    /** Ten seconds: the controller looks, and the agents do what they were told. */
    async turn() {
      advanceRollOut(p.db, p.controller.app)
      await Bun.sleep(0)
      for (const name of names.keys())
        for (const frame of agentOf(name).aboutReleases.splice(0)) await answer(name, frame)
      await p.reported()
      p.turnClock(10_000)
    },
    /** A turn whose transaction is through; nothing of what it says to agents is sent. */
    turnUnsent() {
      const lost = () => {
        throw new Error('killed')
      }
      const app = { ...p.controller.app, nodes: Object.create(p.controller.app.nodes) }
      Object.assign(app.nodes, { lookForRelease: lost, acceptRelease: lost })
      try {
        advanceRollOut(p.db, app)
      } catch (error) {
        if ((error as Error).message !== 'killed') throw error
      }
    },
    /** Turns until the roll-out has what is asked for. */
    async until(id: string, is: (rollOut: any) => boolean) {
      for (let i = 0; i < 200; i++) {
        const rollOut = await p.admin('GET', `${path}/${id}`)
        if (is(rollOut)) return rollOut
        await this.turn()
      }
      throw new Error(`it does not come so far: ${JSON.stringify(await p.admin('GET', `${path}/${id}`))}`)
    },
  })
}
export type Fleet = Awaited<ReturnType<typeof fleet>>

/** The names of nodes by their state. */
export const byState = (rollOut: { members: { name: string; state: string }[] }) =>
  Object.fromEntries(
    [...Map.groupBy(rollOut.members, ({ state }) => state)].map(([state, of]) => [
      state,
      of.map(({ name }) => name).toSorted(),
    ]),
  )
