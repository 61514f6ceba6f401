import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { listFloatingIps } from '../../../../src/network/floating-ips/list.ts'
import { assignFloatingIp, unassignFloatingIp } from '../../../../src/network/floating-ips/move.ts'
import { reserveFloatingIp } from '../../../../src/network/floating-ips/reserve.ts'
import { Action } from '../../../components/action.tsx'
import { Radios } from '../../../components/choices.tsx'
import { Field } from '../../../components/field.tsx'
import { Link } from '../../../components/link.tsx'
import { Copyable, Section } from '../../../components/section.tsx'
import { State } from '../../../components/state.tsx'
import { away } from '../power-buttons.tsx'
import { disabledReason, type Server } from '../words.ts'
import type { NetworkData } from './reads.ts'

type Floating = NonNullable<NetworkData['floating']>['data'][number]

/** Those that point here first, then those that could. Members of a team see none: they are the owner's. */
export function FloatingAddresses({ server: s, floating, area }: NetworkData) {
  const { may } = useAt()
  if (!floating || !may(listFloatingIps) || s.status === 'terminated') return null
  const near = floating.data
    .filter((f) => f.location.id === s.location.id)
    .toSorted((a, b) => Number(b.server?.id === s.id) - Number(a.server?.id === s.id))
  return (
    <Section
      id="floats"
      title="Floating addresses"
      actions={
        <>
          <Link href={`${area}/floating-ips`}>Show all</Link>
          <Reserve server={s} />
        </>
      }
      words="A floating address stays the same when it moves to another server in this location."
    >
      {near.length > 0 ? (
        <ul class="rows">
          {near.map((f) => (
            <Row of={f} server={s} />
          ))}
        </ul>
      ) : (
        <p class="muted">No floating address in {s.location.name} yet.</p>
      )}
    </Section>
  )
}

const Row = ({ of: f, server: s }: { of: Floating; server: Server }) => (
  <li>
    <div class="grow">
      <Copyable text={f.address} what="floating address" />
      <small>
        {f.name !== f.address && `${f.name} · `}
        {f.server
          ? f.server.id === s.id
            ? 'assigned to this server'
            : `assigned to ${f.server.hostname}`
          : 'not assigned'}
      </small>
    </div>
    <Button of={f} server={s} />
  </li>
)

function Button({ of: f, server: s }: { of: Floating; server: Server }) {
  if (f.jobId)
    return (
      <State tone="work" shape="work">
        Moving
      </State>
    )
  if (f.server?.id === s.id)
    return (
      <>
        <State tone="ok" shape="tick">
          Here
        </State>
        <Action
          op={unassignFloatingIp}
          params={{ id: f.id }}
          label="Unassign"
          of={f.address}
          small
          title={`Unassign ${f.address}?`}
          done={`${f.address} is being unassigned`}
          confirm={{ consequences: [`Nothing answers at ${f.address} until it is assigned again.`] }}
        />
      </>
    )
  return (
    <Action
      op={assignFloatingIp}
      params={{ id: f.id }}
      body={{ serverId: s.id }}
      label="Assign here"
      of={f.address}
      small
      title={`Assign ${f.address} to ${s.hostname}?`}
      disabledReason={away(s) ?? disabledReason(s, 'restart_policy')}
      done={`${f.address} is on its way`}
      confirm={{
        consequences: [
          f.server && `${f.server.hostname} cannot be reached at ${f.address} any more.`,
          `${s.hostname} answers at ${f.address} within seconds.`,
        ],
      }}
    />
  )
}

const Reserve = ({ server: s }: { server: Server }) => (
  <Action
    op={reserveFloatingIp}
    params={{ id: s.owner.id }}
    body={{ locationId: s.location.id }}
    label="Reserve"
    of="a floating address"
    icon="plus"
    small
    title={`Reserve a floating address in ${s.location.name}`}
    submit="Reserve address"
    done="{address} is reserved"
    fields={
      <>
        <Radios
          scope={`fip-${s.id}`}
          name="version"
          label="Version"
          as="number"
          value="4"
          options={[
            { value: '4', label: 'IPv4' },
            { value: '6', label: 'IPv6' },
          ]}
        />
        <Field scope={`fip-${s.id}`} name="name" label="Name" hint="Leave empty to use the address." />
      </>
    }
  />
)
