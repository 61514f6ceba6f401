// Entries of the settings that every kind of workload has.
import { restartPolicyWords } from '../../../src/fleet/workloads/restart-policy.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { Edit } from '../../components/action.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Setting } from './settings-entry.tsx'

type Of<More = unknown> = { op: Operation; of: { id: string; name: string } & More }

export const Rename = ({ op, of: { id, name } }: Of) => (
  <Setting op={op} title="Name" words={name}>
    <Edit
      op={op}
      params={{ id }}
      label="Rename"
      title={`Rename ${name}`}
      fields={
        <Field
          scope="rename"
          name="name"
          label="Name"
          required
          value={name}
          hint="Shown in the panel. The hostname stays."
        />
      }
    />
  </Setting>
)

type BillingProps = Of<{ billingServiceId: string | null }> & { more?: string }
/** `more`: a sentence behind the hint. */
export const BillingService = ({ op, of: { id, name, billingServiceId }, more = '' }: BillingProps) => (
  <Setting
    op={op}
    title="Billing service id"
    words={billingServiceId ?? 'None: a billing system sets it with its order.'}
  >
    <Edit
      op={op}
      params={{ id }}
      of="the billing service id"
      title={`Billing service id of ${name}`}
      fields={
        <Field
          scope={`billing-${id}`}
          name="billingServiceId"
          label="Billing service id"
          value={billingServiceId}
          nullable
          mono
          hint={`As the billing system knows the service, for example whmcs:4711.${more}`}
        />
      }
    />
  </Setting>
)

type RestartProps = Of<{ restartPolicy: keyof typeof restartPolicyWords }> & {
  /** How such a workload ends, as in `stops on its own`. */
  ends: string
  /** Of its entry, as in `After a crash`. */
  title: string
  hint: string
  disabledReason: string | undefined
}
export const RestartPolicy = ({
  op,
  of: { id, name, restartPolicy },
  ends,
  title,
  hint,
  disabledReason,
}: RestartProps) => (
  <Setting op={op} title={title} words={restartPolicyWords[restartPolicy]}>
    <Edit
      op={op}
      params={{ id }}
      of={`what happens when it ${ends}`}
      title={`When ${name} ${ends}`}
      disabledReason={disabledReason}
      fields={
        <Select
          scope={`restart-${id}`}
          name="restartPolicy"
          label="Restart policy"
          value={restartPolicy}
          options={Object.entries(restartPolicyWords).map(([value, label]) => ({ value, label }))}
          hint={hint}
        />
      }
    />
  </Setting>
)
