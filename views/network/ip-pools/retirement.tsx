// Addresses that are never given out again.
import { retireAddress, unretireAddress } from '../../../src/network/ip-pools/retirement/operations.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'

type Of = { id: string; address: string; state: string; retiredFor: string | null }

/** Both ways: never again, and the way back. */
export const Retirement = ({ of: a }: { of: Of }) => (a.retiredFor === null ? <Retire of={a} /> : <Unretire of={a} />)

const Retire = ({ of: a }: { of: Of }) => (
  <Action
    op={retireAddress}
    params={{ id: a.id }}
    label="Never give out again"
    of={a.address}
    title={`Never give out ${a.address} again?`}
    submit="Never give out again"
    done="{address} is never given out again"
    confirm={{
      keep: 'Leave it',
      consequences: [
        a.state === 'held' ? 'Its server keeps it. When it is given back, it is reserved.' : 'No order gets it.',
        'You can take this back.',
      ],
    }}
    fields={
      <Field
        scope={`retire-${a.id}`}
        name="reason"
        label="Reason"
        required
        hint="For example: on block lists since report 118"
      />
    }
  />
)

const Unretire = ({ of: a }: { of: Of }) => (
  <Action
    op={unretireAddress}
    params={{ id: a.id }}
    label="Let it be given out"
    of={a.address}
    title={`Let ${a.address} be given out again?`}
    done="{address} can be given out again"
    confirm={{
      keep: 'Never give it out',
      consequences: [
        `It was never to be given out again: ${a.retiredFor}.`,
        a.state === 'held' ? 'Its server keeps it.' : 'The next order may get it.',
      ],
    }}
  />
)
