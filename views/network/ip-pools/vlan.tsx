// The VLAN of a pool.
import { FIRST_VLAN, LAST_VLAN } from '../../../agent/protocol/wire.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getPool } from '../../../src/network/ip-pools/pools.ts'
import { setPoolVlan } from '../../../src/network/ip-pools/vlan/set.ts'
import { Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { count } from '../../components/words.ts'

type Pool = Answers<{ p: typeof getPool }>['p']

export const VlanField = ({ scope, value }: { scope: string; value: number | null }) => (
  <Field
    scope={scope}
    name="vlan"
    label="VLAN"
    as="number"
    nullable
    min={FIRST_VLAN}
    max={LAST_VLAN}
    value={value}
    hint="In which its servers are, on the uplinks of its nodes. Empty: they are on the bridge of their node, untagged."
  />
)

export const SetVlan = ({ pool: p }: { pool: Pool }) => (
  <Edit
    op={setPoolVlan}
    params={{ id: p.id }}
    label="Set VLAN"
    title={`VLAN of ${p.name}`}
    disabledReason={
      p.held > 0 &&
      `Servers use ${count(p.held, 'address', 'addresses')} of it. Add a pool in the other VLAN, and give them ` +
        'addresses of that one.'
    }
    fields={<VlanField scope={`vlan-${p.id}`} value={p.vlan} />}
  />
)

/** `VLAN 20`, or nothing for a pool without. */
export const vlanOf = ({ vlan }: Pick<Pool, 'vlan'>) => vlan !== null && `VLAN ${vlan}`
