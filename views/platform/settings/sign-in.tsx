// Signing in through an identity provider, as the operator sets it up.

import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import {
  type getSignInProvider,
  removeSignInProvider,
  setSignInProvider,
} from '../../../src/identity/auth/identity-provider/configure.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Copyable, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { OwnersOnly, StoredSecret } from './mail.tsx'

type Provider = Answers<{ p: typeof getSignInProvider }>['p']
type ProviderProps = { of: Provider }

const kindNames = { staff: 'Staff', reseller: 'Resellers', customer: 'Customers' } as const

export const SignInProvider = ({ of: provider }: ProviderProps) => (
  <Section
    id="provider"
    title="Single sign-on"
    count={
      <State tone={provider.issuer ? 'ok' : 'idle'} shape={provider.issuer ? 'tick' : 'stop'}>
        {provider.issuer ? 'On' : 'Off'}
      </State>
    }
    actions={provider.issuer && <TurnOff of={provider} />}
    words={
      'People who have an account here can sign in with their account at an OpenID Connect provider. ' +
      'It creates no accounts.'
    }
  >
    <div class="stack">
      <Facts of={[['Redirect URL', <Copyable text={provider.redirectUrl} what="redirect URL" />]]} />
      <OwnersOnly
        op={setSignInProvider}
        of={[
          ['Issuer', provider.issuer ?? 'None'],
          ['Client ID', provider.clientId ?? 'None'],
        ]}
      >
        <ProviderForm of={provider} />
      </OwnersOnly>
    </div>
  </Section>
)

const TurnOff = ({ of: provider }: ProviderProps) => (
  <Action
    op={removeSignInProvider}
    label="Turn off"
    of="single sign-on"
    done="Single sign-on is off"
    confirm={{
      keep: 'Keep it on',
      consequences: [
        <>
          The button <strong>{provider.label}</strong> disappears from the sign-in page.
        </>,
        'People who are signed in stay signed in.',
        'From now on, people without a password ask for a sign-in link by email.',
      ],
    }}
  />
)

const ProviderForm = ({ of: provider }: ProviderProps) => (
  <CallForm op={setSignInProvider} class="stack" done="People can sign in through the provider">
    <Field
      scope="provider"
      name="issuer"
      label="Issuer"
      required
      mono
      value={provider.issuer}
      placeholder="https://id.example.com/realms/staff"
      hint="Exactly as the provider writes it. Berth contacts it before anything is saved."
    />
    <div class="pair">
      <Field scope="provider" name="clientId" label="Client ID" required mono value={provider.clientId} />
      <StoredSecret scope="provider" name="clientSecret" label="Client secret" isStored={provider.hasSecret} />
    </div>
    <Field
      scope="provider"
      name="label"
      label="Button text"
      required
      value={provider.label}
      placeholder="Sign in with Example"
    />
    <Checks
      scope="provider"
      name="for"
      label="Who can sign in this way"
      values={provider.for}
      options={accountKinds.map((value) => ({ value, label: kindNames[value] }))}
    />
    <div class="bar">
      <button class="btn pri">Save single sign-on</button>
    </div>
  </CallForm>
)
