// Signing in through an identity provider, as the operator sets it up.

import {
  type getSignInProvider,
  removeSignInProvider,
  setSignInProvider,
} from '../../../src/identity/auth/identity-provider/configure.ts'
import { accountKinds } from '../../../src/kernel/api/access.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { act, callForm } from '../../html/act.ts'
import { card, copyable, inside, kv } from '../../html/card.ts'
import { checks, field } from '../../html/field.ts'
import { pill } from '../../html/state.ts'

type Provider = Answers<{ p: typeof getSignInProvider }>['p']

const words = { staff: 'Staff', reseller: 'Resellers', customer: 'Customers' } as const

export const signInProviderCard = (at: At, it: Provider): Html =>
  card(
    {
      id: 'provider',
      title: 'Single sign-on',
      count: it.issuer ? pill('ok', 'tick', 'On') : pill('idle', 'stop', 'Off'),
      actions:
        it.issuer &&
        act(at, removeSignInProvider, {}, 'Turn off', {
          of: 'single sign-on',
          done: 'Single sign-on is off',
          confirm: {
            keep: 'Keep it on',
            consequences: [
              html`The button <strong>${it.label}</strong> goes from the sign-in page.`,
              'People who are signed in stay signed in. People without a password ask for a link by mail from now on.',
            ],
          },
        }),
      words:
        'People who have an account here may sign in with the one that they have at an OpenID Connect provider. It creates no accounts.',
    },
    inside(html`
      ${kv([['Redirect URL', copyable(it.redirectUrl, 'redirect URL')]])}
      ${callForm(
        setSignInProvider,
        {},
        { name: 'stack', done: 'People can sign in through the provider' },
        html`
        ${field('provider', 'issuer', { label: 'Issuer', required: true, mono: true, value: it.issuer, placeholder: 'https://id.example.com/realms/staff', hint: 'Exactly as the provider writes it. Berth contacts it before anything is saved.' })}
        <div class="pair">
          ${field('provider', 'clientId', { label: 'Client ID', required: true, mono: true, value: it.clientId })}
          ${field('provider', 'clientSecret', { label: 'Client secret', type: 'password', autocomplete: 'new-password', hint: it.hasSecret ? 'One is stored. Leave this empty to keep it.' : 'It is stored encrypted and never shown again.' })}
        </div>
        ${field('provider', 'label', { label: 'Words on the button', required: true, value: it.label, placeholder: 'Sign in with Example' })}
        ${checks('provider', 'for', { label: 'Who may sign in this way', values: it.for, options: accountKinds.map((value) => ({ value, label: words[value] })) })}
        <div class="bar"><button class="btn pri">Save single sign-on</button></div>`,
      )}`),
  )
