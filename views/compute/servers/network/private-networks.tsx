import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { attachServer, detachServer } from '../../../../src/network/private-networks/members.ts'
import { listNetworks } from '../../../../src/network/private-networks/networks.ts'
import { Action } from '../../../components/action.tsx'
import { Link } from '../../../components/link.tsx'
import { Copyable, Section } from '../../../components/section.tsx'
import type { Server } from '../words.ts'
import type { NetworkData } from './reads.ts'

type Network = NonNullable<NetworkData['networks']>['data'][number]

/** The networks that the server is in. Members of a team see none: they are the owner's. */
export function PrivateNetworks({ server: s, networks, area }: NetworkData) {
  const { may } = useAt()
  if (!networks || !may(listNetworks) || s.status === 'terminated') return null
  const here = networks.data.filter((n) => n.members.some(({ server }) => server.id === s.id))
  return (
    <Section
      id="nets"
      title="Private networks"
      actions={
        <>
          <Link href={`${area}/networks`}>Show all</Link>
          <Attach server={s} networks={networks.data} />
        </>
      }
      words="Your servers in this location reach each other here. Packets have 1,450 bytes at most (MTU)."
    >
      {here.length > 0 ? (
        <ul class="rows">
          {here.map((n) => (
            <Row of={n} server={s} />
          ))}
        </ul>
      ) : (
        <p class="muted">It is not in a private network.</p>
      )}
    </Section>
  )
}

function Row({ of: n, server: s }: { of: Network; server: Server }) {
  const own = n.members.find(({ server }) => server.id === s.id)!
  return (
    <li>
      <div>
        <b>{n.name}</b> <Copyable text={own.ipv4} what="private address" />
        <p class="muted">
          {own.ipv6 && <span class="mono">{own.ipv6} · </span>}
          <span class="mono">{own.mac}</span>
          {own.atNextStart && ' · its network card is added at the next start'}
        </p>
      </div>
      <div class="acts">
        <Action
          op={detachServer}
          params={{ id: n.id, serverId: s.id }}
          label="Detach"
          of={n.name}
          small
          title={`Detach ${s.hostname} from ${n.name}?`}
          done="The server is being detached"
          confirm={{ consequences: [`${s.hostname} can no longer reach the other servers in ${n.name}.`] }}
        />
      </div>
    </li>
  )
}

function Attach({ server: s, networks }: { server: Server; networks: readonly Network[] }) {
  const near = networks.filter(
    (n) =>
      n.owner.id === s.owner.id &&
      n.location.id === s.location.id &&
      !n.members.some(({ server }) => server.id === s.id),
  )
  if (near.length === 0) return null
  return (
    <>
      {near.map((n) => (
        <Action
          op={attachServer}
          params={{ id: n.id }}
          body={{ serverId: s.id }}
          label={`Attach to ${n.name}`}
          icon="plus"
          small
          title={`Attach ${s.hostname} to ${n.name}?`}
          submit="Attach"
          done="The server is being attached"
          confirm={{ consequences: [`${s.hostname} gets a network card and an address of ${n.ipv4}.`] }}
        />
      ))}
    </>
  )
}
