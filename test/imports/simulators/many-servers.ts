// Panels with many servers that are made up page by page, so that the memory of a reading is its own. Their owners and
// packages are many too.
import type { Send } from '../../../src/imports/sources/send.ts'
import { json, type PanelRequest } from './panel.ts'
import { placed, plan, SolusPanel, user } from './solusvm2.ts'
import { addressesOf, VirtualizorPanel, owner as virtualizorOwner, server as virtualizorServer } from './virtualizor.ts'

const OWNERS_PER_SERVER = 4
const PACKAGES = 40
const ownerOf = (n: number) => 1000 + Math.ceil(n / OWNERS_PER_SERVER)
const packageOf = (n: number) => 100 + (n % PACKAGES)
const emailOf = (owner: number) => `owner-${owner}@example.com`
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const ownersOf = (count: number) => upTo(Math.ceil(count / OWNERS_PER_SERVER)).map((n) => 1000 + n)

const pageOf = ({ query }: PanelRequest, size: number, count: number) => {
  const page = Number(query.get('page'))
  const first = (page - 1) * size + 1
  return { page, numbers: upTo(Math.max(0, Math.min(size, count - first + 1))).map((n) => first + n - 1) }
}

/** `count` servers on two hypervisors. */
export function manySolusPanel(count: number): SolusPanel {
  const panel = new SolusPanel({ servers: 0 })
  panel.owners.push(...ownersOf(count).map((id) => user(id, emailOf(id))))
  panel.packages.push(...upTo(PACKAGES).map((n) => plan(99 + n, `KVM ${n}`)))
  panel.fault = (request, answer) => {
    if (request.path !== '/api/v1/servers') return answer()
    const wanted = request.query.get('filter[compute_resource_id]')
    const all = wanted === null ? count : Math.floor((count + (wanted === '1' ? 1 : 0)) / 2)
    const { page, numbers } = pageOf(request, 100, all)
    const data = numbers
      .map((n) => (wanted === null ? n : 2 * n - (wanted === '1' ? 1 : 0)))
      .map((n) => ({
        ...placed(n, 2, {}),
        plan: { id: packageOf(n), name: `KVM ${packageOf(n)}` },
        user: { id: ownerOf(n), email: emailOf(ownerOf(n)) },
      }))
    const meta = { current_page: page, last_page: Math.max(1, Math.ceil(all / 100)), total: all }
    return json({ data, links: { next: page < meta.last_page ? 'more' : null }, meta })
  }
  return panel
}
export const manySolusServers = (count: number): Send => manySolusPanel(count).send

export function manyVirtualizorPanel(count: number): VirtualizorPanel {
  const panel = new VirtualizorPanel({ servers: 0, counts: 'none' })
  panel.owners.push(...ownersOf(count).map((id) => virtualizorOwner(String(id), emailOf(id), {})))
  panel.fault = (request, answer) => {
    const act = request.query.get('act')
    if (request.query.has('vs_status') || (act !== 'vs' && act !== 'ips')) return answer()
    if (act === 'vs') {
      const rows = pageOf(request, 500, count).numbers.map((n) => ({
        ...virtualizorServer(n, {}),
        uid: String(ownerOf(n)),
        email: emailOf(ownerOf(n)),
      }))
      return json({ vs: Object.fromEntries(rows.map((row) => [String((row as { vpsid?: unknown }).vpsid), row])) })
    }
    const rows = pageOf(request, 250, count).numbers.flatMap(addressesOf)
    return json({ ips: rows.length ? Object.fromEntries(rows.map((row) => [String(row['ipid']), row])) : [] })
  }
  return panel
}
export const manyVirtualizorServers = (count: number): Send => manyVirtualizorPanel(count).send
