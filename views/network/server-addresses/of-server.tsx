import { inside } from '../../../src/kernel/net/cidr.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { setReverseName } from '../../../src/network/reverse-dns/set.ts'
import { addServerAddress } from '../../../src/network/server-addresses/add.ts'
import { removeServerAddress } from '../../../src/network/server-addresses/remove.ts'
import { Action, Menu } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Copyable, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import type { NetworkData } from '../../compute/servers/network/reads.ts'
import { NameActions, Names, type ReverseName } from '../../compute/servers/network/reverse-dns.tsx'
import { away } from '../../compute/servers/power-buttons.tsx'
import { disabledReason, type Server } from '../../compute/servers/words.ts'
import { ChangePrimary, type PrimaryOption, SwapPrimary } from './primary.tsx'

type Address = NetworkData['addresses']['data'][number]

export const Addresses = ({ server: s, addresses, reverse, primary }: NetworkData) => (
  <Section id="ips" title="Addresses" actions={<Add server={s} />} words={wordsOf(addresses.data)} flush>
    <AddressTable server={s} rows={addresses.data} reverse={reverse} primary={primary} />
  </Section>
)

/** The use of a prefix beyond the one address that the system has of it. */
function wordsOf(addresses: readonly Address[]) {
  const prefix = addresses.find(({ nextHop }) => nextHop !== null)
  return prefix
    ? `The whole /${prefix.prefixLength} is routed to this server; use its addresses freely. ` +
        `Next hop: ${prefix.nextHop}.`
    : undefined
}

const kinds = { primary: 'Primary', extra: 'Extra', floating: 'Floating' } as const

type TableProps = { server: Server; rows: readonly Address[] } & Pick<NetworkData, 'reverse' | 'primary'>
function AddressTable({ server: s, rows, reverse, primary }: TableProps) {
  const { may } = useAt()
  const mayName = reverse.configured && s.status !== 'terminated' && may(setReverseName)
  const columns: (Column<Address> | false)[] = [
    { title: 'Address', kind: 'name', width: 32, cell: (a) => <Copyable text={textOf(a)} what="address" /> },
    { title: 'Kind', kind: 'state', width: 20, cell: (a) => `${kinds[a.kind]} IPv${a.version}` },
    reverse.configured && {
      title: 'Reverse DNS',
      kind: 'addr',
      width: 30,
      cell: (a) => <Names of={namesIn(a, reverse.names)} address={guestAddress(a)} />,
    },
    {
      title: 'Gateway',
      kind: 'mid',
      width: 24,
      cell: (a) => (a.kind === 'floating' ? 'Routed' : <span class="mono">{a.gateway}</span>),
    },
    (may(removeServerAddress) || mayName) && {
      title: 'Actions',
      kind: 'more',
      cell: (a) =>
        (mayName || (a.kind !== 'floating' && may(removeServerAddress))) && (
          <RowMenu
            server={s}
            address={a}
            names={mayName ? namesIn(a, reverse.names) : undefined}
            option={a.kind === 'primary' ? primary?.options.find(({ version }) => version === a.version) : undefined}
          />
        ),
    },
  ]
  return <Table label="Addresses" rows={rows} columns={columns.filter((c) => c !== false)} idOf={(a) => a.id} />
}

/** The address inside the guest, without its prefix length. */
const guestAddress = (a: Address) => a.inGuest.split('/')[0]!
/** The names of an IPv4 address, or of all addresses in a prefix. */
const namesIn = (a: Address, names: readonly ReverseName[]) =>
  names.filter((n) =>
    a.version === 4 ? n.address === a.address : inside(n.address, [`${a.address}/${a.prefixLength}`]),
  )

/** An IPv4 address alone; of IPv6 the prefix that belongs to the server. */
const textOf = (a: Address) =>
  a.version === 4 || a.prefixLength === 128 ? a.address : `${a.address}/${a.prefixLength}`

const Add = ({ server: s }: { server: Server }) => (
  <Action
    op={addServerAddress}
    params={{ id: s.id }}
    label="Add address"
    icon="plus"
    small
    title={`Add an address to ${s.hostname}`}
    disabledReason={away(s) ?? disabledReason(s, 'addresses')}
    done="The address is being added"
    fields={
      <Radios
        scope={`ip-${s.id}`}
        name="version"
        label="Version"
        as="number"
        value="4"
        options={[
          { value: '4', label: 'IPv4', hint: 'One address' },
          { value: '6', label: 'IPv6', hint: 'A prefix of its own' },
        ]}
      />
    }
  />
)

type MenuProps = {
  server: Server
  address: Address
  names: readonly ReverseName[] | undefined
  option: PrimaryOption | undefined
}
const RowMenu = ({ server: s, address: a, names, option }: MenuProps) => (
  <Menu label={`Actions for ${a.address}`} small>
    {names && (
      <NameActions
        server={s}
        address={guestAddress(a)}
        name={names.find((n) => n.address === guestAddress(a))}
        isPrefix={a.version === 6 && a.prefixLength < 128}
      />
    )}
    {option && (
      <>
        <ChangePrimary server={s} option={option} />
        <SwapPrimary server={s} option={option} />
      </>
    )}
    {a.kind === 'extra' && <Remove server={s} address={a} />}
  </Menu>
)

const Remove = ({ server: s, address: a }: { server: Server; address: Address }) => (
  <Action
    op={removeServerAddress}
    params={{ id: s.id, addressId: a.id }}
    label="Remove"
    icon="trash"
    inMenu
    tone="bad"
    title={`Remove ${a.address}?`}
    submit="Remove address"
    disabledReason={away(s) ?? disabledReason(s, 'addresses')}
    done={`${a.address} is being removed`}
    confirm={{
      consequences: [`${s.hostname} cannot be reached at ${textOf(a)} any more.`, 'Somebody else may get the address.'],
    }}
  />
)
