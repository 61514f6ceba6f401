// An import into real nodes, by the API: what every test of a real guest does before and beside what it is about.
import { expect } from 'bun:test'
import type { RealNodes } from '../../support/nodes/real-nodes.ts'

type Panel = { kind: 'solusvm2' | 'virtualizor'; address: string; credentials: object }
/** How the hypervisors with these ids are decided; others are copied. */
type Ways = Readonly<Record<string, 'adopt' | 'leave_out'>>

export type Importing = Awaited<ReturnType<typeof importing>>
/** Begins an import from the panel. */
export async function importing(nodes: RealNodes, panel: Panel) {
  const must = async (method: string, path: string, body?: object) => {
    const answer = await nodes.api(method, path, body)
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const id: string = (await must('POST', '/admin/migrations', panel)).id
  const api = (method: string, path: string, body?: object) => must(method, `/admin/migrations/${id}${path}`, body)
  /** The import when it is not at work any more. */
  const settled = () =>
    nodes.live.until('the end of what the import does', async () => {
      const row = await api('GET', '')
      return !['discovering', 'checking', 'migrating'].includes(row.status) && row
    })
  /** Something that access says of each node, for the first hypervisor that is copied from. */
  const ofNodes = async (name: string) =>
    (await api('GET', '/access')).data[0].nodes.map((node: any) => node[name]).join()
  return {
    id,
    must,
    api,
    settled,
    ofNodes,
    act: (serverId: string, action: string, body?: object) =>
      must('POST', `/admin/migration-servers/${serverId}/actions/${action}`, body),
    moveOf: async (hostname: string) =>
      (await api('GET', '/moves')).data.find((move: any) => move.hostname === hostname),
    /** Reads it, after its certificate was trusted. */
    async read() {
      await api('POST', '/actions/discover')
      await api('POST', '/actions/trust', { sha256: (await settled()).asksFor.sha256 })
      await api('POST', '/actions/discover')
      return await settled()
    },
    /** Everything comes, with addresses of the nodes' own pool. */
    async decide(ways: Ways = {}) {
      const [{ id: locationId }] = (await nodes.live.admin('locations.list')).data
      const wanted = { hypervisors: 'copy', packages: 'like', ranges: 'pool', owners: 'create' } as const
      for (const [part, usual] of Object.entries(wanted)) {
        const { data } = await api('GET', `/mapping/${part}?limit=200`)
        const isHost = part === 'hypervisors'
        const decided = data
          .filter((row: any) => row.choice === null || (isHost && ways[row.sourceId]))
          .map(({ sourceId }: any) => {
            const choice = (isHost && ways[sourceId]) || usual
            return { sourceId, choice, ...(choice === 'copy' && { locationId }) }
          })
        if (decided.length) await api('PATCH', '/mapping', { [part]: decided })
      }
      const left = await api('GET', '/mapping')
      expect(Object.keys(wanted).map((part) => left[part].rows)).toEqual([0, 0, 0, 0])
    },
    /** Both nodes are let in at the hypervisor by its root password. */
    async letIn(hypervisorId: string, password: string) {
      await nodes.live.until('both nodes to have a key', async () => (await ofNodes('hasKey')) === 'true,true')
      const { jobId } = await api('POST', '/actions/add-keys', { hypervisorId, password })
      expect((await nodes.ended(jobId)).state).toBe('succeeded')
      await nodes.live.until('both nodes to be let in', async () => (await ofNodes('login')) === 'works,works')
    },
  }
}
