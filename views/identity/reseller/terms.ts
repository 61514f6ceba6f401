// A reseller's quotas and what it may sell, as staff and the reseller itself are shown them.

import { suspended } from '../../../src/identity/resellers/attention.ts'
import type { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { nearIn, quotaResources, quotaWords } from '../../../src/identity/resellers/quota.ts'
import { type Content, type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { exactGb, exactMb, traffic } from '../../components/words.ts'
import { card, empty, inside, kv, meter } from '../../html/card.ts'
import { openState, pill } from '../../html/state.ts'
import { table } from '../../html/table.ts'

export type Terms = Answers<{ account: typeof getResellerAccount }>['account']
type Package = Terms['packages'][number]

/** A bar for what is limited, words for the rest. */
export function quotaCard(terms: Terms, { actions, words }: { actions?: Content; words?: Content } = {}): Html {
  const near = new Map(nearIn(terms).map((n) => [n.resource, n]))
  const limited = quotaResources.filter((resource) => terms.quotas[resource])
  const said = quotaResources.filter((resource) => !terms.quotas[resource])
  return card(
    { id: 'quotas', title: 'Quotas', actions, words },
    inside(html`
      ${limited.map((resource) => {
        const { label, say } = quotaWords[resource]
        const [used, limit] = [terms.used[resource], terms.quotas[resource]!]
        const warned = near.get(resource)
        return meter(
          label,
          used,
          limit,
          html`${warned && html`${pill(warned.full ? 'bad' : 'warn', 'away', warned.full ? 'Used up' : 'Nearly used up')} `}${say(used)} of ${say(limit)}`,
        )
      })}
      ${said.length > 0 && kv(said.map((resource) => [quotaWords[resource].label, html`${quotaWords[resource].say(terms.used[resource])} <span class="muted">· ${terms.quotas[resource] === 0 ? 'none allowed' : 'not limited'}</span>`] as const))}`),
  )
}

/** Which quota an order of this package would exceed, in words; undefined when it fits. */
export function overQuota({ quotas, used }: Terms, p: Omit<Package, 'archived'>): string | undefined {
  const needs = { servers: 1, vcpus: p.vcpus, memoryMb: p.memoryMb, diskGb: p.diskGb, ipv4: p.ipv4 }
  for (const [resource, need] of Object.entries(needs) as [keyof typeof needs, number][]) {
    const limit = quotas[resource]
    const { label, say } = quotaWords[resource]
    if (need > 0 && limit !== null && used[resource] + need > limit)
      return `Over quota. ${label}: ${say(used[resource])} of ${say(limit)} used.`
  }
  return undefined
}

export const suspendedWords = html`<strong>${suspended.what}</strong><br>${suspended.effect} Ask your provider about it.`

export const packagesCard = (packages: readonly Package[], none: Content, actions?: Content): Html =>
  card(
    { id: 'packages', title: 'Packages', count: packages.length || undefined, actions },
    packages.length
      ? table<Package>(
          'Packages',
          packages,
          [
            {
              title: 'Package',
              main: true,
              cell: (p) =>
                html`<strong>${p.name}</strong>${p.archived && html` ${pill('idle', 'hold', 'Archived')}`}<small class="mono">${p.id}</small>`,
            },
            {
              title: 'Product id',
              cell: (p) => (p.billingProductId ? html`<span class="mono">${p.billingProductId}</span>` : '–'),
            },
            { title: 'vCPUs', num: true, cell: (p) => p.vcpus },
            { title: 'Memory', num: true, cell: (p) => exactMb(p.memoryMb) },
            { title: 'Disk', num: true, cell: (p) => exactGb(p.diskGb) },
            { title: 'Traffic', num: true, cell: (p) => (p.trafficGb ? traffic(p.trafficGb) : 'Not limited') },
            { title: 'Addresses', cell: (p) => `${p.ipv4} IPv4${p.ipv6Prefix ? `, IPv6 /${p.ipv6Prefix}` : ''}` },
          ],
          (p) => p.id,
        )
      : empty(none),
  )

export const locationsCard = (locations: Terms['locations'], none: Content, actions?: Content): Html =>
  card(
    { id: 'locations', title: 'Locations', count: locations.length || undefined, actions },
    locations.length
      ? table<Terms['locations'][number]>(
          'Locations',
          locations,
          [
            {
              title: 'Location',
              main: true,
              cell: (l) => html`<strong>${l.name}</strong><small class="mono">${l.id}</small>`,
            },
            { title: 'State', cell: (l) => openState(l.open) },
          ],
          (l) => l.id,
        )
      : empty(none),
  )
