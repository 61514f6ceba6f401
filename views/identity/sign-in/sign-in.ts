import { beginPasskeySignIn, passkeySignIn } from '../../../src/identity/auth/second-factors/complete-second-factor.ts'
import { passkeysWork } from '../../../src/identity/auth/second-factors/passkeys.ts'
import { signIn } from '../../../src/identity/auth/sign-in.ts'
import { homeOf } from '../../../src/kernel/api/access.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { type At, page } from '../../../src/kernel/web/page.ts'
import { safePath } from '../../../src/kernel/web/safe-path.ts'
import { callForm } from '../../components/act.ts'
import { inside } from '../../components/card.ts'
import { field } from '../../components/field.ts'
import { withPasskey } from '../../components/passkey.ts'
import { provider, providerButton, providerRefusal } from './oidc.ts'

/** Back to where somebody was going, unless that was here. */
export const nextIn = ({ query }: At): string | undefined => {
  const next = safePath(query['next'])
  return next?.startsWith('/login') ? undefined : next
}

export const signInPage = page({
  path: '/login',
  open: true,
  reads: { provider },
  title: 'Sign in',
  view: ({ provider, at }) => html`
    <section class="card"><header><h1>Sign in</h1></header>${inside(html`
      ${providerRefusal(at.query['refused'])}
      ${at.actor.accountId !== '' && html`<p>You are signed in as ${at.actor.name}. <a href="${homeOf(at.actor.kind)}">Go to the start page</a></p>`}
      ${callForm(
        signIn,
        {},
        { leadsTo: nextIn(at) ?? '{home}', name: 'stack' },
        html`
        ${field('sign-in', 'email', { label: 'E-mail address', type: 'email', autocomplete: 'username', required: true, focus: true })}
        ${field('sign-in', 'password', { label: 'Password', type: 'password', autocomplete: 'current-password', required: true })}
        <div class="bar"><button class="btn pri grow">Sign in</button></div>
        <p><a href="/forgot">Forgotten your password?</a></p>`,
      )}
      ${passkeysWork(at.origin) && withPasskey({ begin: beginPasskeySignIn, finish: passkeySignIn, leadsTo: nextIn(at) ?? '{home}', label: 'Sign in with a passkey' })}
      ${providerButton(provider, { next: nextIn(at) })}`)}</section>
    <noscript><p class="muted">Signing in and changing things needs JavaScript; reading does not.</p></noscript>`,
})
