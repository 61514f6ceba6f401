import { setReverseName, setReverseNameUnconfirmed } from '../../../../src/network/reverse-dns/set.ts'
import { Edit } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { State } from '../../../components/state.tsx'
import type { Server } from '../words.ts'
import type { NetworkData } from './reads.ts'

export type ReverseName = NetworkData['reverse']['names'][number]

/** The names in an address of the server, which may be a whole prefix: each with its address where it has another. */
export const Names = ({ of, address }: { of: readonly ReverseName[]; address: string }) =>
  of.length ? of.map((n) => <Name of={n} address={address} />) : <span class="muted">None</span>

const Name = ({ of: n, address }: { of: ReverseName; address: string }) =>
  n.state === 'refused' ? (
    <State tone="bad" shape="fail">
      Refused<span class="sr">:</span> {n.name}
    </State>
  ) : (
    <span class={n.state === 'set' ? 'cut' : 'cut muted'} title={n.state === 'set' ? n.name : `${n.name}: being set`}>
      {n.name}
      {n.state === 'waiting' && <span class="sr"> is being set</span>}
      {n.address !== address && <span class="muted mono"> {n.address}</span>}
    </span>
  )

type NameActionProps = { server: Server; address: string; name: ReverseName | undefined; isPrefix: boolean }
/** `address`: the one inside the guest. In a prefix another one can be named. */
export const NameActions = (props: NameActionProps) => (
  <>
    <NameAction {...props} op={setReverseName} label="Change reverse DNS" />
    <NameAction {...props} op={setReverseNameUnconfirmed} label="Set reverse DNS without check" />
  </>
)

type Op = typeof setReverseName | typeof setReverseNameUnconfirmed
const NameAction = ({ server: s, address, name, isPrefix, op, label }: NameActionProps & { op: Op; label: string }) => (
  <Edit
    op={op}
    params={{ id: s.id }}
    part={address}
    {...(!isPrefix && { body: { address } })}
    label={label}
    inMenu
    title={`Reverse DNS of ${isPrefix ? 'the prefix' : address}`}
    fields={
      <>
        {isPrefix && (
          <Field
            scope={`${op.id}-at-${address}`}
            name="address"
            label="Address"
            required
            mono
            value={address}
            hint="Any address in the prefix"
          />
        )}
        <Field
          scope={`${op.id}-${address}`}
          name="name"
          label="Name"
          nullable
          mono
          value={name?.name}
          hint={
            op === setReverseName
              ? 'A name that resolves to this address, for example mail.example.com. Leave empty for none.'
              : 'Set without checking where the name leads. Leave empty for none.'
          }
        />
      </>
    }
  />
)
