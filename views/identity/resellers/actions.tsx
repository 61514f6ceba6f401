// The actions of staff on a reseller: its details, quotas, packages and locations, and its suspension.
import type { ComponentChildren } from 'preact'
import type { listPackages } from '../../../src/catalog/packages/packages.ts'
import { quotaResources, quotaWords } from '../../../src/identity/resellers/quota.ts'
import {
  changeReseller,
  type getReseller,
  suspendReseller,
  unsuspendReseller,
} from '../../../src/identity/resellers/resellers.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { count, size } from '../../components/words.ts'
import { AccountFields } from '../customers/actions.tsx'

type Reseller = Answers<{ r: typeof getReseller }>['r']
type Offer = Answers<{ p: typeof listPackages }>['p']
type ResellerProps = { reseller: Reseller }

type ChangeProps = ResellerProps & { label: string; part?: string; title: string; fields: ComponentChildren }
const Change = ({ reseller, label, part, title, fields }: ChangeProps) => (
  <Edit
    op={changeReseller}
    params={{ id: reseller.id }}
    label={label}
    {...(part && { of: part, part })}
    title={title}
    fields={fields}
  />
)

export const EditReseller = ({ reseller: r }: ResellerProps) => (
  <Change reseller={r} label="Edit" title={`Edit ${r.name}`} fields={<AccountFields of={r} />} />
)

export const ChangeQuotas = ({ reseller: r }: ResellerProps) => (
  <Change
    reseller={r}
    label="Change"
    part="quotas"
    title={`Quotas of ${r.name}`}
    fields={
      <>
        <p class="muted">
          For {r.name} and its customers together. Empty: not limited. Existing services stay, also above a lower quota.
        </p>
        <div class="pair">
          {quotaResources.map((resource) => (
            <QuotaField reseller={r} resource={resource} />
          ))}
        </div>
      </>
    }
  />
)

function QuotaField({ reseller: r, resource }: ResellerProps & { resource: keyof Reseller['quotas'] }) {
  const { label, say, unit } = quotaWords[resource]
  return (
    <Field
      scope="quota"
      name={`quotas.${resource}`}
      label={label}
      as="number"
      nullable
      value={r.quotas[resource]}
      hint={`${say(r.used[resource])} used`}
      {...(unit && { unit })}
    />
  )
}

/** Entries on the reseller's list are offered even where the reader cannot read the whole list. */
const withAllowed = <T extends { id: string }>(allowed: readonly T[], offered: readonly T[] = []) => [
  ...offered,
  ...allowed.filter(({ id }) => !offered.some((o) => o.id === id)),
]

type PackagesProps = ResellerProps & { offered: Offer['data'] | undefined }
export const ChangePackages = ({ reseller: r, offered }: PackagesProps) => (
  <Change
    reseller={r}
    label="Change"
    part="packages"
    title={`Packages that ${r.name} may sell`}
    fields={
      <Checks
        scope="packages"
        name="packageIds"
        label="Packages"
        hint="Existing servers keep theirs."
        values={r.packages.map((p) => p.id)}
        options={withAllowed(
          r.packages,
          offered?.filter((p) => !p.archived),
        ).map((p) => ({ value: p.id, label: p.name, hint: size(p) }))}
        empty={
          <p class="muted">
            There is no package yet. <Link to="/admin/packages">Add one</Link> first.
          </p>
        }
      />
    }
  />
)

type LocationsProps = ResellerProps & { offered: Offer['locations'] | undefined }
export const ChangeLocations = ({ reseller: r, offered }: LocationsProps) => (
  <Change
    reseller={r}
    label="Change"
    part="locations"
    title={`Locations where ${r.name} may sell`}
    fields={
      <Checks
        scope="locations"
        name="locationIds"
        label="Locations"
        hint="Servers in other locations stay there."
        values={r.locations.map((l) => l.id)}
        options={withAllowed(r.locations, offered).map((l) => ({ value: l.id, label: l.name }))}
        empty={
          <p class="muted">
            There is no location yet. <Link to="/admin/node-groups">Add one</Link> first.
          </p>
        }
      />
    }
  />
)

const suspensionOf = ({ name, used }: Reseller): string[] => [
  `Orders for ${name}${used.customers > 0 ? ` and its ${count(used.customers, 'customer')}` : ''} are refused, ` +
    'also yours and those of billing systems.',
  'It cannot add customers.',
  used.servers > 0
    ? `The ${count(used.servers, 'server')} of ${name} and its customers ${used.servers === 1 ? 'keeps' : 'keep'} ` +
      'running. Suspend those that should stop.'
    : 'No server is affected.',
  'Everyone can still sign in and manage existing services.',
  'Unsuspending restores all of it.',
]

export const SuspendReseller = ({ reseller: r }: ResellerProps) => (
  <Action
    op={suspendReseller}
    params={{ id: r.id }}
    label="Suspend"
    icon="lock"
    tone="bad"
    title={`Suspend ${r.name}?`}
    done={`${r.name} is suspended`}
    confirm={{ keep: 'Keep active', consequences: suspensionOf(r) }}
    fields={
      <Field scope="suspend" name="reason" label="Reason" required hint={`${r.name} sees it; its customers do not.`} />
    }
  />
)

export const UnsuspendReseller = ({ reseller: r }: ResellerProps) => (
  <Action
    op={unsuspendReseller}
    params={{ id: r.id }}
    label="Unsuspend"
    icon="play"
    title={`Unsuspend ${r.name}?`}
    done={`${r.name} is active again`}
    confirm={{
      keep: 'Keep suspended',
      consequences: [
        `Orders for ${r.name} and its customers are accepted again, within its quotas.`,
        'The reason is removed here; the audit log keeps it.',
      ],
    }}
  />
)
