import { createCustomer } from '../../../src/identity/customers/customers.ts'
import { createResellerCustomer } from '../../../src/identity/resellers/own.ts'
import { Action } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'

const operations = { '/admin': createCustomer, '/reseller': createResellerCustomer } as const
/** The areas whose readers have customers. */
export type SellingArea = keyof typeof operations

export const AddCustomer = ({ area, tone }: { area: SellingArea; tone?: 'pri' }) => (
  <Action
    op={operations[area]}
    label="Add customer"
    icon="plus"
    tone={tone}
    done="{name} is added"
    leadsTo={`${area}/customers/{id}`}
    fields={<NewAccountFields scope="customer" />}
  />
)

type NewAccountProps = {
  scope: string
  /** Below the address. */
  emailHint?: string
}
/** The fields of a new account, of a customer or a reseller. */
export const NewAccountFields = ({ scope, emailHint }: NewAccountProps) => (
  <>
    <Field scope={scope} name="name" label="Name" required />
    <Field scope={scope} name="email" label="E-mail address" type="email" required hint={emailHint} />
    <Field scope={scope} name="organization" label="Organization" nullable />
    <Field scope={scope} name="externalId" label="External id" nullable hint="The id in your billing system." />
    <Check scope={scope} name="invite" label="Send an invitation to choose a password" checked />
  </>
)
