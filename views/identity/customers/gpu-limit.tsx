import type { getCustomer } from '../../../src/identity/customers/customers.ts'
import { setGpuLimit } from '../../../src/identity/customers/gpu-limit.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { count } from '../../components/words.ts'

type Customer = Answers<{ customer: typeof getCustomer }>['customer']

/** How many GPUs a customer may have where it orders instances itself, and the dialog to change it. */
export const GpuLimit = ({ customer: c }: { customer: Customer }) => (
  <span class="bar">
    {c.gpuLimit === 0 ? 'Orders none itself' : `May order ${count(c.gpuLimit, 'GPU')} itself`}
    <Edit
      op={setGpuLimit}
      params={{ id: c.id }}
      of="GPU limit"
      small
      title={`GPU limit of ${c.name}`}
      fields={
        <Field
          scope="gpu-limit"
          name="gpuLimit"
          label="GPUs"
          as="number"
          min={0}
          required
          value={c.gpuLimit}
          hint="With those of instances that others ordered for it. 0: it orders none itself. What it has stays."
        />
      }
    />
  </span>
)
