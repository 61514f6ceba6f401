// The second step of signing in.

import { SECOND_FACTOR_PAGE } from '../../../src/identity/auth/complete-sign-in.ts'
import {
  beginSecondPasskey,
  completeSecondFactor,
  getSignInChallenge,
} from '../../../src/identity/auth/second-factors/complete-second-factor.ts'
import { html } from '../../../src/kernel/web/html.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../html/act.ts'
import { inside } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { withPasskey } from '../../html/passkey.ts'
import { nextIn } from './sign-in.tsx'

export const secondFactorPage = page({
  path: SECOND_FACTOR_PAGE,
  open: true,
  reads: { pending: reading(getSignInChallenge, () => ({})) },
  title: 'Sign in: second step',
  view: ({ pending: { secondFactor }, at }) => {
    const leadsTo = nextIn(at) ?? '{home}'
    const has = (name: (typeof secondFactor)[number]) => secondFactor.includes(name)
    const again = `/login${nextIn(at) ? `?next=${encodeURIComponent(nextIn(at)!)}` : ''}`
    return html`
    <section class="sec"><header><h1>Second step</h1></header>${inside(
      secondFactor.length
        ? html`
          ${
            has('totp') &&
            callForm(
              completeSecondFactor,
              {},
              { leadsTo, name: 'stack' },
              html`
              ${field('second', 'code', { label: 'Code of your authenticator app', hint: 'Six digits. Each code works once.', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, mono: true, focus: true })}
              <div class="bar"><button class="btn pri grow">Sign in</button></div>`,
            )
          }
          ${has('passkey') && withPasskey({ begin: beginSecondPasskey, finish: completeSecondFactor, leadsTo, label: 'Use a passkey', pri: !has('totp') })}
          <details${!has('totp') && !has('passkey') && html` open`}><summary>I do not have my device</summary>
            <div class="stack">
            ${
              has('recovery')
                ? html`<p class="muted">Use one of the recovery codes that you stored when you set up your second factor. Each code works once.</p>
                ${callForm(
                  completeSecondFactor,
                  {},
                  { leadsTo, name: 'stack' },
                  html`
                  ${field('second', 'recoveryCode', { label: 'Recovery code', required: true, mono: true, placeholder: 'xxxx-xxxx-xxxx-xxxx' })}
                  <div class="bar"><button class="btn grow">Sign in with a recovery code</button></div>`,
                )}`
                : html`<p class="muted">There is no recovery code left.</p>`
            }
            <p class="muted">Without a recovery code, ask whoever runs this panel. They check who you are, then remove the lost device from your account. An e-mail link alone cannot do that.</p>
            </div>
          </details>
          <p><a href="${again}">Start again</a></p>`
        : html`
          <p>No sign-in is waiting for its second step: it took longer than ten minutes, failed five times, or was finished.</p>
          <div class="bar"><a class="btn pri" href="${again}">Sign in</a></div>`,
    )}</section>`
  },
})
