// A reseller's quotas and what it may sell, as staff and the reseller itself see them.
import type { ComponentChildren } from 'preact'
import { suspended } from '../../../src/identity/resellers/attention.ts'
import type { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { nearIn, quotaResources, quotaWords } from '../../../src/identity/resellers/quota.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Meter } from '../../components/figures.tsx'
import { Empty, Facts, Section } from '../../components/section.tsx'
import { OpenState, State } from '../../components/state.tsx'
import { Count, Table } from '../../components/table.tsx'
import { exactGb, exactMb, traffic } from '../../components/words.ts'

export type Terms = Answers<{ account: typeof getResellerAccount }>['account']
type Package = Terms['packages'][number]
type Resource = (typeof quotaResources)[number]

/** A meter for each limited resource, words for the others. */
export function QuotaSection({ terms, actions }: { terms: Terms; actions?: ComponentChildren }) {
  const limited = quotaResources.filter((resource) => terms.quotas[resource])
  const others = quotaResources.filter((resource) => !terms.quotas[resource])
  return (
    <Section id="quotas" title="Quotas" actions={actions}>
      <div class="stack">
        {limited.map((resource) => (
          <QuotaMeter terms={terms} resource={resource} limit={terms.quotas[resource]!} />
        ))}
        {others.length > 0 && (
          <Facts
            of={others.map((resource) => [
              quotaWords[resource].label,
              <>
                {quotaWords[resource].say(terms.used[resource])}{' '}
                <span class="muted">· {terms.quotas[resource] === 0 ? 'none allowed' : 'not limited'}</span>
              </>,
            ])}
          />
        )}
      </div>
    </Section>
  )
}

function QuotaMeter({ terms, resource, limit }: { terms: Terms; resource: Resource; limit: number }) {
  const { label, say } = quotaWords[resource]
  const used = terms.used[resource]
  const near = nearIn(terms).find((n) => n.resource === resource)
  const warning = near && (
    <>
      <State tone={near.full ? 'bad' : 'warn'} shape="away">
        {near.full ? 'Used up' : 'Nearly used up'}
      </State>{' '}
    </>
  )
  return (
    <Meter
      label={label}
      value={used}
      total={limit}
      words={
        <>
          {warning}
          {say(used)} of {say(limit)}
        </>
      }
    />
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

/** For a suspended reseller, in place of what it could order. */
export const SuspendedWords = () => (
  <>
    <strong>{suspended.what}</strong>
    <br />
    {suspended.effect} Ask your provider about it.
  </>
)

type PackagesProps = { packages: readonly Package[]; actions?: ComponentChildren; children: ComponentChildren }
/** `children`: in place of an empty list. */
export const PackageSection = ({ packages, actions, children }: PackagesProps) => (
  <Section id="packages" title="Packages" count={packages.length || undefined} actions={actions} flush>
    {packages.length > 0 ? <PackageTable packages={packages} /> : <Empty>{children}</Empty>}
  </Section>
)

const PackageTable = ({ packages }: { packages: readonly Package[] }) => (
  <Table
    label="Packages"
    rows={packages}
    idOf={(p) => p.id}
    columns={[
      { title: 'Package', kind: 'name', width: 28, cell: (p) => <PackageName of={p} /> },
      {
        title: 'Product id',
        kind: 'mid',
        width: 14,
        cell: (p) => (p.billingProductId ? <span class="mono">{p.billingProductId}</span> : '–'),
      },
      { title: 'Addresses', kind: 'addr', width: 16, cell: addressesOf },
      { title: 'vCPUs', kind: 'a', num: true, width: 10, cell: (p) => <Count n={p.vcpus} of="vCPU" /> },
      { title: 'Memory', kind: 'b', num: true, width: 12, cell: (p) => exactMb(p.memoryMb) },
      { title: 'Disk', kind: 'wide', num: true, width: 10, cell: (p) => exactGb(p.diskGb) },
      {
        title: 'Traffic',
        kind: 'wide',
        num: true,
        width: 12,
        cell: (p) => (p.trafficGb ? traffic(p.trafficGb) : 'Not limited'),
      },
    ]}
  />
)

const addressesOf = (p: Package) => `${p.ipv4} IPv4${p.ipv6Prefix ? `, IPv6 /${p.ipv6Prefix}` : ''}`

const PackageName = ({ of: p }: { of: Package }) => (
  <>
    <b title={p.name}>{p.name}</b>
    {p.archived && (
      <>
        {' '}
        <State tone="idle" shape="hold">
          Archived
        </State>
      </>
    )}
    <small class="mono" title={p.id}>
      {p.id}
    </small>
  </>
)

type LocationsProps = { locations: Terms['locations']; actions?: ComponentChildren; children: ComponentChildren }
/** `children`: in place of an empty list. */
export const LocationSection = ({ locations, actions, children }: LocationsProps) => (
  <Section id="locations" title="Locations" count={locations.length || undefined} actions={actions} flush>
    {locations.length > 0 ? (
      <Table
        label="Locations"
        rows={locations}
        idOf={(l) => l.id}
        columns={[
          { title: 'Location', kind: 'name', width: 28, cell: (l) => <b title={l.name}>{l.name}</b> },
          { title: 'Id', kind: 'addr', cell: (l) => <span class="mono">{l.id}</span> },
          { title: 'State', kind: 'state', width: 24, cell: (l) => <OpenState open={l.open} /> },
        ]}
      />
    ) : (
      <Empty>{children}</Empty>
    )}
  </Section>
)
