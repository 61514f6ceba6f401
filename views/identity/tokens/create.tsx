import { USUAL_LIFE_MS } from '../../../src/identity/tokens/model.ts'
import { presets } from '../../../src/identity/tokens/presets.ts'
import { createToken } from '../../../src/identity/tokens/tokens.ts'
import type { Scope } from '../../../src/kernel/api/access.ts'
import { day, iso } from '../../../src/kernel/db/clock.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field, type Option, Select } from '../../components/field.tsx'

/** Shows the value of a token, this one time. */
export const shownOnce = {
  field: 'token',
  title: 'The new token',
  words: 'Save it where it will be used. Programs send it in the header "Authorization: Bearer …".',
}

const presetTitles: Record<keyof typeof presets, string> = {
  billing: 'Billing system: orders and manages servers',
  'reseller-billing': "Reseller's billing system: orders and manages servers of its customers",
}

/** Presets whose scopes the reader has: a token cannot do more. */
const presetsFor = ({ actor }: At): Option[] =>
  Object.entries(presets)
    .filter(([, scopes]) => (scopes as readonly Scope[]).every((scope) => actor.scopes.has(scope)))
    .map(([value]) => ({ value, label: presetTitles[value as keyof typeof presets] }))

const scopesFor = ({ actor, registry }: At): Option[] =>
  Object.entries(registry.scopes)
    .filter(([name]) => actor.scopes.has(name as Scope))
    .map(([value, { words }]) => ({ value, label: `${words} (${value})` }))

export const CreateToken = () => (
  <Action
    op={createToken}
    label="Create token"
    icon="plus"
    tone="pri"
    wide
    secret={shownOnce}
    fields={<TokenFields />}
  />
)

function TokenFields() {
  const at = useAt()
  const offered = presetsFor(at)
  return (
    <>
      <Field
        scope="token"
        name="name"
        label="Name"
        required
        hint="Where it will be used. The audit log shows it beside the token's actions."
      />
      {offered.length > 0 && (
        <Select
          scope="token"
          name="preset"
          label="Preset"
          options={[{ value: '', label: 'None: the scopes ticked below' }, ...offered]}
        />
      )}
      <Checks
        scope="token"
        name="scopes"
        label="Scopes"
        hint={offered.length > 0 ? 'Without a preset: what the token may do.' : 'What the token may do.'}
        values={[]}
        options={scopesFor(at)}
      />
      <Field
        scope="token"
        name="allow"
        label="Allowed from"
        as="words"
        mono
        hint="Addresses or CIDRs, separated by spaces. Empty: from anywhere."
        placeholder="203.0.113.7 2001:db8::/48"
      />
      <Expires />
    </>
  )
}

function Expires() {
  const { now } = useAt()
  return (
    <Select
      scope="token"
      name="expiresAt"
      label="Expires"
      nullable
      value={iso(now + USUAL_LIFE_MS)}
      options={[
        { value: iso(now + 30 * day), label: 'In 30 days' },
        { value: iso(now + 90 * day), label: 'In 90 days' },
        { value: iso(now + USUAL_LIFE_MS), label: 'In a year' },
        { value: '', label: 'Never' },
      ]}
    />
  )
}
