// The addresses of an IPv4 pool as a map of cells, and the cell that was opened.
import { minuteText } from '../../../src/kernel/db/clock.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { inContext, useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { listAddressHistory } from '../../../src/network/address-history/show.ts'
import { type listPoolAddresses, reserveAddress } from '../../../src/network/ip-pools/pools.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Copyable, Facts, Section } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { EndRest } from './quarantine.tsx'
import { Retirement } from './retirement.tsx'

type Addresses = Answers<{ a: typeof listPoolAddresses }>['a']
export type PoolAddress = Addresses['data'][number]
type AddressProps = { of: PoolAddress }

/** Half of a /24: the most that a person can look over at once. */
export const CELLS = 128

export const stateWords: Record<PoolAddress['state'], string> = {
  free: 'Free',
  held: 'Used by a server',
  reserved: 'Reserved',
  resting: 'Resting',
}

/** The cell that was opened. The address of the page names it, so it can be sent to somebody. */
export function ChosenAddress({ addresses }: { addresses: readonly PoolAddress[] }) {
  const id = useAt().query['address']
  const a = addresses.find((address) => address.id === id)
  if (!a) return null
  return (
    <Section id="address" title={a.address} count={stateWords[a.state]} first>
      <div class="stack">
        <Facts
          of={[
            ['Address', <Copyable text={`${a.address}/${a.prefixLength}`} what="address" />],
            [
              'Server',
              a.workload && (
                <Link to="/admin/servers/{id}" params={{ id: a.workload.id }}>
                  {a.workload.hostname}
                </Link>
              ),
            ],
            ['Reserved for', a.retiredFor === null && a.reservedFor],
            ['Never given out again', a.retiredFor],
            ['Rests until', a.restsUntil && <Exact iso={a.restsUntil} />],
            ['History', useAt().may(listAddressHistory) && <HistoryLink of={a} />],
          ]}
        />
        <div class="bar">
          {a.state !== 'held' &&
            a.retiredFor === null &&
            (a.state === 'reserved' ? <Release of={a} /> : <Reserve of={a} />)}
          {a.state === 'resting' && <EndRest of={a} />}
          <Retirement of={a} />
        </div>
      </div>
    </Section>
  )
}

const HistoryLink = ({ of: a }: AddressProps) => (
  <Link to="/admin/addresses/{address}" params={{ address: a.address }}>
    Who had it
  </Link>
)

const Reserve = ({ of: a }: AddressProps) => (
  <Action
    op={reserveAddress}
    params={{ id: a.id }}
    label="Reserve"
    title={`Reserve ${a.address}?`}
    done="{address} is reserved"
    fields={
      <Field
        scope={`reserve-${a.id}`}
        name="reservedFor"
        label="Purpose"
        required
        hint="For example: switch, or migration from another panel"
      />
    }
  />
)

const Release = ({ of: a }: AddressProps) => (
  <Action
    op={reserveAddress}
    params={{ id: a.id }}
    label="Release"
    of={a.address}
    body={{ reservedFor: null }}
    title={`Release ${a.address}?`}
    done="{address} is free"
    confirm={{
      keep: 'Keep it reserved',
      consequences: [`It was reserved for: ${a.reservedFor}.`, 'The next server may get it.'],
    }}
  />
)

export function PoolMap({ addresses }: { addresses: Addresses }) {
  const [first, last] = [addresses.data[0], addresses.data.at(-1)]
  const range = first && last && (
    <>
      <span class="mono">{first.address}</span> to <span class="mono">{last.address}</span>
    </>
  )
  return (
    <Section id="map" title="Addresses" count={range}>
      <div class="stack">
        <Legend />
        <div class="map">
          {addresses.data.map((a) => (
            <Cell of={a} />
          ))}
        </div>
      </div>
      <MapPager addresses={addresses} />
    </Section>
  )
}

const Legend = () => (
  <div class="legend">
    {(['free', 'held', 'reserved', 'resting'] as const).map((state) => (
      <span>
        <i class={`cell ${state} key`} />
        {stateWords[state]}
      </span>
    ))}
  </div>
)

const spoken = (a: PoolAddress) =>
  `${a.address}: ${
    a.state === 'held'
      ? `used by ${a.workload?.hostname}`
      : a.state === 'reserved'
        ? `reserved for ${a.reservedFor}`
        : a.state === 'resting'
          ? `rests until ${a.restsUntil && minuteText(Date.parse(a.restsUntil))}`
          : 'free'
  }`

function Cell({ of: a }: AddressProps) {
  const { cursor, address } = useAt().query
  const query = new URLSearchParams({ ...(cursor && { cursor }), address: a.id })
  return (
    <a
      class={`cell ${a.state}`}
      href={`?${query}#address`}
      aria-label={spoken(a)}
      title={spoken(a)}
      aria-current={a.id === address ? 'true' : undefined}
    >
      {`.${a.address.split('.').at(-1)}`}
    </a>
  )
}

/** The next cells have another one opened, or none: the pager forgets which it was. */
function MapPager({ addresses }: { addresses: Addresses }) {
  const context = usePageContext()
  const { cursor } = context.at.query
  const query: Record<string, string> = cursor ? { cursor } : {}
  return inContext({ ...context, at: { ...context.at, query } }, <Pager of={addresses} />)
}
