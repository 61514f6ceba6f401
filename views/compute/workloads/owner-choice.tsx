// The customer of an order: the reads of a page that chooses one, and the choice.
import type { ComponentChildren } from 'preact'
import { getCustomer, type listCustomers } from '../../../src/identity/customers/customers.ts'
import { type Answers, type At, ifNamed } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Radios } from '../../components/choices.tsx'
import type { Option } from '../../components/field.tsx'
import { count } from '../../components/words.ts'

const CUSTOMERS_SHOWN = 6

/** The customers that fit what is searched. */
export const customersFound = ({ query }: At) => ({
  query: { limit: String(CUSTOMERS_SHOWN), ...(query['owner'] ? { q: query['owner'] } : {}) },
})
/** The customer in the address, such as of a link on its page: it may not be among the few that are shown. */
export const namedCustomer = ifNamed(getCustomer, ({ query }) =>
  query['ownerId'] ? { params: { id: query['ownerId'] } } : undefined,
)

export type Customers = Answers<{ customers: typeof listCustomers }>['customers']
/** The customers to choose from, that of the address among them. */
export const withNamed = ({
  customers,
  named,
}: Answers<{ customers: typeof listCustomers; named: typeof namedCustomer }>): Customers =>
  !named || customers.data.some(({ id }) => id === named.id)
    ? customers
    : { ...customers, data: [named, ...customers.data] }

/** A reseller, which may order for itself. */
export type Itself = { id: string; name: string; email: string; organization: string | null; lockedAt: string | null }

/** The customer that the address names, where it may have something new. */
export const chosenCustomer = (
  { customers, itself }: { customers: Customers; itself?: Itself | undefined },
  ownerId: string | undefined,
) => [...(itself ? [itself] : []), ...customers.data].find((c) => c.id === ownerId && !c.lockedAt)

type ChoiceProps = {
  customers: Customers
  itself?: Itself | undefined
  /** In place of the customers where there are none. */
  none: ComponentChildren
  value: string | undefined
}
export function OwnerChoice({ customers, itself, none, value }: ChoiceProps) {
  const searched = useAt().query['owner']
  const nobody = searched ? `No customer matches “${searched}”.` : none
  const options = [...(itself ? [itself] : []), ...customers.data].map(
    (c): Option => ({
      value: c.id,
      label: c === itself ? `${c.name} (you)` : c.name,
      hint: `${c.email}${c.organization ? ` · ${c.organization}` : ''}`,
      why: c.lockedAt ? 'Locked.' : undefined,
    }),
  )
  const more = customers.total - customers.data.length
  return (
    <div class="stack">
      <div class="f">
        <label for="new-owner">Find customer</label>
        <input
          id="new-owner"
          type="search"
          data-ask="owner"
          value={searched ?? ''}
          placeholder="Name, organization or e-mail"
          autocomplete="off"
        />
      </div>
      <Radios scope="new" name="ownerId" quiet label="Customer" value={value} options={options} />
      {!customers.total && <p class="muted">{nobody}</p>}
      {more > 0 && (
        <p class="muted">
          {`${count(more, 'more customer', 'more customers')}: search to find ${more === 1 ? 'it' : 'them'}.`}
        </p>
      )}
    </div>
  )
}
