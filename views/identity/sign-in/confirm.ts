// Showing once more who one is. public/panel/confirm.js puts the inner part into a dialog when a call asks for it, and then sends that call again.

import { beginConfirm, confirmSession } from '../../../src/identity/auth/confirm.ts'
import { listIdentities } from '../../../src/identity/auth/identity-provider/identities.ts'
import { passkeysWork } from '../../../src/identity/auth/second-factors/passkeys.ts'
import { getSecondFactor } from '../../../src/identity/auth/second-factors/second-factors.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../html/act.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { withPasskey } from '../../html/passkey.ts'
import { provider, providerButton } from './oidc.ts'

export const confirmPage = page({
  path: '/account/confirm',
  reads: { factors: getSecondFactor, identities: listIdentities, provider },
  title: 'Confirm that it is you',
  view: ({ factors: { email, hasPassword, totp, passkeys }, identities, provider, at }) => {
    const keys = passkeys.length > 0 && passkeysWork(at.origin)
    const leadsTo = '/account/security'
    const buttons = (label: string) =>
      html`<div class="bar end"><button type="button" class="btn in-dialog" data-close>Cancel</button><button class="btn pri">${label}</button></div>`
    return html`${head({ title: 'Confirm that it is you' })}<section class="sec"><div id="confirm-in" class="in">
      <h2 id="confirm-t">Show who you are</h2>
      <p class="muted">Some changes ask again after 10 minutes who is there.<span class="in-dialog"> What you were about to do then goes on by itself.</span></p>
      ${
        hasPassword
          ? callForm(
              confirmSession,
              {},
              { leadsTo, name: 'stack' },
              html`<input hidden autocomplete="username" value="${email}">${field('confirm', 'password', { label: 'Password', type: 'password', autocomplete: 'current-password', required: true })}${buttons('Confirm')}`,
            )
          : totp
            ? callForm(
                confirmSession,
                {},
                { leadsTo, name: 'stack' },
                html`${field('confirm', 'code', { label: 'Code of your authenticator app', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, mono: true })}${buttons('Confirm')}`,
              )
            : !keys &&
              (identities.data.length && provider.label !== null
                ? html`<p>You sign in elsewhere. Sign in there once more, then repeat what you were about to do.</p>${providerButton(provider, { again: true })}`
                : html`<p>Your account has neither password nor second factor. Sign out and in again, then repeat it within 10 minutes.</p>`)
      }
      ${keys && withPasskey({ begin: beginConfirm, finish: confirmSession, leadsTo, label: 'Use a passkey' })}
    </div></section>`
  },
})
