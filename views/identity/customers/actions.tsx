// The actions of staff and resellers on the account of a customer.

import { openSupport } from '../../../src/identity/auth/sessions/support-session.ts'
import {
  changeCustomer,
  type getCustomer,
  lockCustomer,
  unlockCustomer,
} from '../../../src/identity/customers/customers.ts'
import type { changeReseller } from '../../../src/identity/resellers/resellers.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, Edit, EditEntry } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'

type CustomerProps = { customer: Answers<{ customer: typeof getCustomer }>['customer'] }
type Account = { id: string; name: string; email: string; organization: string | null; externalId: string | null }

export const EditCustomer = ({ customer: c }: CustomerProps) => (
  <EditEntry op={changeCustomer} of={c} label="Edit" inMenu={false} fields={<AccountFields of={c} />} />
)

/** The fields of an account that change without a confirmation of the sender's identity. */
export const AccountFields = ({ of: account }: { of: Account }) => (
  <>
    <Field scope="edit" name="name" label="Name" required value={account.name} />
    <Field scope="edit" name="organization" label="Organization" nullable value={account.organization} />
    <Field
      scope="edit"
      name="externalId"
      label="External id"
      nullable
      value={account.externalId}
      hint="The id in your billing system, which finds the account by it."
    />
  </>
)

type EmailProps = { op: typeof changeCustomer | typeof changeReseller; of: Pick<Account, 'id' | 'name' | 'email'> }
/** A call of its own, because it asks for the sender's identity again: who receives the mails can set the password. */
export const ChangeAccountEmail = ({ op, of: account }: EmailProps) => (
  <Edit
    op={op}
    params={{ id: account.id }}
    of="the e-mail address"
    part="email"
    small
    title={`E-mail address of ${account.name}`}
    fields={
      <Field
        scope="email"
        name="email"
        label="E-mail address"
        type="email"
        required
        value={account.email}
        hint="They sign in with it."
      />
    }
  />
)

type SupportProps = { customer: { id: string; name: string }; label?: string }
export const SupportSession = ({ customer: c, label = 'Support session' }: SupportProps) => (
  <Action
    op={openSupport}
    params={{ id: c.id }}
    label={label}
    title={`Open a support session for ${c.name}?`}
    submit="Open session"
    leadsTo="{home}"
    confirm={{
      consequences: [
        `For 60 minutes you see and do what ${c.name} can, except passwords, keys, tokens and other secrets.`,
        'The audit log records everything as done by you in their account, with the reason.',
      ],
    }}
    fields={
      <Field
        scope="support"
        name="reason"
        label="Reason"
        required
        placeholder="Ticket 4711"
        hint="Kept in the audit log."
      />
    }
  />
)

export const LockCustomer = ({ customer: c }: CustomerProps) => (
  <Action
    op={lockCustomer}
    params={{ id: c.id }}
    label="Lock"
    icon="lock"
    tone="bad"
    title={`Lock ${c.name}?`}
    done={`${c.name} is locked`}
    confirm={{
      keep: 'Keep open',
      consequences: [
        'Orders for this account are refused, including those of the billing system.',
        c.servers > 0 && 'Its servers keep running. Suspend those that should stop.',
        'It can be unlocked.',
      ],
    }}
    fields={
      <Field
        scope="lock"
        name="reason"
        label="Reason"
        required
        hint="Shown on this page, and to the customer through the API."
      />
    }
  />
)

export const UnlockCustomer = ({ customer: c }: CustomerProps) => (
  <Action
    op={unlockCustomer}
    params={{ id: c.id }}
    label="Unlock"
    icon="play"
    title={`Unlock ${c.name}?`}
    done={`${c.name} is unlocked`}
    confirm={{
      keep: 'Keep locked',
      consequences: [
        'Orders for this account are accepted again.',
        'The reason is removed here; the audit log keeps it.',
      ],
    }}
  />
)
