// Decisions about many owners at once, and the choice of a customer for servers that belong to nobody.
import type { listCustomers } from '../../../src/identity/customers/customers.ts'
import { changeMapping } from '../../../src/imports/mapping/mapping.ts'
import { applyToOwners } from '../../../src/imports/mapping/rules.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'
import type { Import } from '../imports/words.tsx'
import { nameOf, type Owner } from './words.ts'

const rules = [
  {
    title: 'Same e-mail and same name or company',
    words: 'Customers that are not locked: into their account.',
    where: { conflict: 'customer', hasSameName: true, isLocked: false },
    choice: 'merge',
  },
  {
    title: 'Same e-mail, customer, not locked',
    words: 'Those that are still to decide: into their account.',
    where: { conflict: 'customer', isLocked: false, isUndecided: true },
    choice: 'merge',
  },
  {
    title: 'Same e-mail, still to decide',
    words: 'Each gets a separate account.',
    where: { conflict: 'customer', isUndecided: true },
    choice: 'separate',
  },
  {
    title: 'No server that can come',
    words: 'They are left out: no account is made for them.',
    where: { hasNoServers: true },
    choice: 'leave_out',
  },
] as const

export const Rules = ({ of }: { of: Import }) => (
  <Section id="rules" title="Bulk rules" count="nothing is decided by a preview" flush>
    <ul class="rows wrap">
      {rules.map((rule, i) => (
        <li>
          <Icon name="plus" class="muted" />
          <div class="grow">
            <b>{rule.title}</b>
            <small>{rule.words}</small>
            <small id={`rule-${i}`} role="status" />
          </div>
          <Apply of={of} rule={rule} at={`#rule-${i}`} rehearses />
          <Apply of={of} rule={rule} at={`#rule-${i}`} />
        </li>
      ))}
    </ul>
  </Section>
)

type ApplyProps = { of: Import; rule: (typeof rules)[number]; at: string; rehearses?: boolean }
const Apply = ({ of, rule: { title, where, choice }, at, rehearses }: ApplyProps) => (
  <CallForm
    op={applyToOwners}
    params={{ id: of.id }}
    body={{ where, choice }}
    class="call"
    hands={{ to: rehearses ? 'showPreview' : 'showApplied', at }}
    {...(rehearses && { rehearses })}
  >
    <button class="btn s" aria-label={`${rehearses ? 'Preview' : 'Apply'}: ${title}`}>
      {rehearses ? 'Preview' : 'Apply'}
    </button>
  </CallForm>
)

type GiveProps = {
  of: Import
  row: Owner
  customers: Answers<{ customers: typeof listCustomers }>['customers'] | undefined
}
/** The customer who gets the servers of an owner whom the other panel does not name. */
export function GiveToCustomer({ of, row, customers }: GiveProps) {
  const at = useAt()
  return (
    <Section id="give" title={`Who gets the servers of ${nameOf(row)}?`} count={count(row.importable, 'server')}>
      {customers ? (
        <div class="stack">
          <form class="bar" method="get" action={at.path} role="search" aria-label="Customers">
            <input type="hidden" name="give" value={row.sourceId} />
            <div class="search">
              <Icon name="search" />
              <label class="sr" for="give-q">
                Name or e-mail of a customer
              </label>
              <input
                id="give-q"
                type="search"
                name="customer"
                value={at.query['customer'] ?? ''}
                placeholder="Name or e-mail of a customer"
                autocomplete="off"
              />
            </div>
            <button class="btn">Find</button>
          </form>
          <CallForm
            op={changeMapping}
            params={{ id: of.id }}
            body={{ 'owners.0.sourceId': row.sourceId, 'owners.0.choice': 'existing' }}
            class="stack"
            done="Saved"
            leadsTo={at.path}
          >
            <Radios
              scope="give"
              name="owners.0.accountId"
              label="Customer"
              value={row.accountId ?? undefined}
              options={customers.data.map(({ id, name, email }) => ({ value: id, label: name, hint: email }))}
              empty={<p class="muted">No customer has this in their name or e-mail address.</p>}
            />
            <div class="bar">
              <button class="btn pri">
                <Icon name="check" />
                Give them the servers
              </button>
              <a class="btn bare" href={at.path}>
                Not now
              </a>
            </div>
          </CallForm>
        </div>
      ) : (
        <p class="muted">Your role does not show customers, so that none can be chosen here.</p>
      )}
    </Section>
  )
}
