// Freed addresses that rest before somebody else gets them.
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getPool } from '../../../src/network/ip-pools/pools.ts'
import { endAddressRest, setQuarantine } from '../../../src/network/ip-pools/quarantine/operations.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'

type Pool = Answers<{ p: typeof getPool }>['p']

export const EndRest = ({ of: a }: { of: { id: string; address: string } }) => (
  <Action
    op={endAddressRest}
    params={{ id: a.id }}
    label="End rest"
    of={a.address}
    title={`End the rest of ${a.address}?`}
    done="{address} can be given again"
    confirm={{
      keep: 'Let it rest',
      consequences: [
        'The next order may get it.',
        'Mail and connections meant for the server that had it may still come to it.',
      ],
    }}
  />
)

export const QuarantineField = ({ scope, value }: { scope: string; value: number }) => (
  <Field
    scope={scope}
    name="quarantineHours"
    label="Rest of freed addresses"
    as="number"
    unit="hours"
    value={String(value)}
    hint="So long nobody gets an address that a server gave back. 0: it can be given at once."
  />
)

export const SetQuarantine = ({ pool: p }: { pool: Pool }) => (
  <Edit
    op={setQuarantine}
    params={{ id: p.id }}
    label="Set rest"
    title={`Rest of freed addresses of ${p.name}`}
    fields={<QuarantineField scope={`quarantine-${p.id}`} value={p.quarantineHours} />}
  />
)
