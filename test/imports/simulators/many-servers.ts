// Panels with many servers that are made up page by page, so that the memory of a reading is its own.
import type { Send } from '../../../src/imports/sources/send.ts'
import { json, type PanelAnswer } from './panel.ts'
import { placed, SolusPanel } from './solusvm2.ts'
import { addressesOf, VirtualizorPanel, server as virtualizorServer } from './virtualizor.ts'

const sent = ({ status, headers, body }: PanelAnswer) => ({ status, headers, body: Buffer.from(body) })
const pageOf = (url: URL, size: number, count: number) => {
  const page = Number(url.searchParams.get('page'))
  const first = (page - 1) * size + 1
  return { page, numbers: Array.from({ length: Math.max(0, Math.min(size, count - first + 1)) }, (_, i) => first + i) }
}

/** `count` servers on two hypervisors. */
export function manySolusServers(count: number): Send {
  const panel = new SolusPanel({ servers: 0 })
  return async (url, headers) => {
    if (url.pathname !== '/api/v1/servers') return panel.send(url, headers)
    const wanted = url.searchParams.get('filter[compute_resource_id]')
    const all = wanted === null ? count : Math.floor((count + (wanted === '1' ? 1 : 0)) / 2)
    const { page, numbers } = pageOf(url, 100, all)
    const data = numbers.map((n) => placed(wanted === null ? n : 2 * n - (wanted === '1' ? 1 : 0), 2, {}))
    const meta = { current_page: page, last_page: Math.max(1, Math.ceil(all / 100)), total: all }
    return sent(json({ data, links: { next: page < meta.last_page ? 'more' : null }, meta }))
  }
}

export function manyVirtualizorServers(count: number): Send {
  const panel = new VirtualizorPanel({ servers: 0, counts: 'none' })
  return async (url, headers) => {
    const act = url.searchParams.get('act')
    if (url.searchParams.has('vs_status') || (act !== 'vs' && act !== 'ips')) return panel.send(url, headers)
    if (act === 'vs') {
      const { numbers } = pageOf(url, 500, count)
      const rows = numbers.map((n) => virtualizorServer(n, {}))
      return sent(json({ vs: Object.fromEntries(rows.map((row) => [String(row['vpsid']), row])) }))
    }
    const { numbers } = pageOf(url, 250, count)
    const rows = numbers.flatMap(addressesOf)
    return sent(
      rows.length > 0
        ? json({ ips: Object.fromEntries(rows.map((row) => [String(row['ipid']), row])) })
        : json({ ips: [] }),
    )
  }
}
