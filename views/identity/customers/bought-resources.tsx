import type { getCustomer } from '../../../src/identity/customers/customers.ts'
import { setAllowance } from '../../../src/identity/resellers/allowance.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { count, exactGb, exactMb, traffic, units } from '../../components/words.ts'

type Customer = Answers<{ customer: typeof getCustomer }>['customer']
type Amounts = Customer['allowance']

const inWords = (a: Amounts) =>
  [
    a.vcpus && `${a.vcpus} vCPU`,
    a.memoryMb && exactMb(a.memoryMb),
    a.diskGb && `${exactGb(a.diskGb)} disk`,
    a.trafficGb && `${traffic(a.trafficGb)} traffic`,
    a.ipv4 && count(a.ipv4, 'IPv4 address', 'IPv4 addresses'),
  ]
    .filter(Boolean)
    .join(' · ') || 'None'

const amounts: readonly (readonly [name: keyof Amounts, label: string, unit?: string])[] = [
  ['vcpus', 'vCPU'],
  ['memoryMb', 'Memory', units.memoryMb],
  ['diskGb', 'Disk', units.diskGb],
  ['trafficGb', 'Traffic', units.trafficGb],
  ['ipv4', 'IPv4 addresses'],
]

/** The resources that a customer has bought beside packages, and the dialog to change them. */
export const Allowance = ({ customer: c }: { customer: Customer }) => (
  <span class="bar">
    {inWords(c.allowance)}
    <Edit
      op={setAllowance}
      params={{ id: c.id }}
      of="allowance"
      small
      title={`Allowance of ${c.name}`}
      fields={
        <>
          <p class="muted">
            Resources that {c.name} has bought in addition to packages. Billing systems set them for resource packs.
          </p>
          {amounts.map(([name, label, unit]) => (
            <Field
              scope="allowance"
              name={name}
              label={label}
              as="number"
              min={0}
              value={c.allowance[name]}
              {...(unit && { unit })}
            />
          ))}
        </>
      }
    />
  </span>
)
