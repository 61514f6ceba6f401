// Confirming one's identity again. public/panel/calls/confirm.js puts the inner part into a dialog when a call asks for
// it, and then sends that call again.
import type { ComponentChildren } from 'preact'
import { listIdentities } from '../../../../src/identity/auth/identity-provider/identities.ts'
import { passkeysWork } from '../../../../src/identity/auth/second-factors/passkeys.ts'
import { getSecondFactor } from '../../../../src/identity/auth/second-factors/second-factors.ts'
import { beginConfirm, confirmSession } from '../../../../src/identity/auth/sign-in/confirm.ts'
import { type Answers, page } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field, Username } from '../../../components/field.tsx'
import { Head } from '../../../components/head.tsx'
import { ProviderButton, provider } from '../identity-provider/provider.tsx'
import { PasskeyButton } from './passkey.tsx'

const reads = { factors: getSecondFactor, identities: listIdentities, provider }
type Data = Answers<typeof reads>
const leadsTo = '/account/security'

export const confirmPage = page({
  path: '/account/confirm',
  reads,
  title: "Confirm it's you",
  view: (data) => (
    <>
      <Head title="Security check" />
      <section class="sec first">
        <div id="confirm-in" class="stack">
          <h2 id="confirm-t">Confirm it's you</h2>
          <p class="muted">
            Some changes need a fresh sign-in from the last 10 minutes.
            <span class="in-dialog"> Your change continues by itself afterwards.</span>
          </p>
          <Ways {...data} />
        </div>
      </section>
    </>
  ),
})

/** The password, or for an account without one the authenticator app; a passkey beside both. */
function Ways({ factors: { email, hasPassword, totp, passkeys }, identities, provider }: Data) {
  const usesPasskeys = passkeysWork(useAt().origin) && passkeys.length > 0
  return (
    <>
      {hasPassword ? (
        <ConfirmForm>
          <Username email={email} />
          <Field
            scope="confirm"
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            required
          />
        </ConfirmForm>
      ) : totp ? (
        <ConfirmForm>
          <Field
            scope="confirm"
            name="code"
            label="Code from your authenticator app"
            autocomplete="one-time-code"
            inputmode="numeric"
            required
            mono
          />
        </ConfirmForm>
      ) : (
        !usesPasskeys && <Elsewhere linked={identities.data.length > 0} provider={provider} />
      )}
      {usesPasskeys && (
        <PasskeyButton begin={beginConfirm} finish={confirmSession} leadsTo={leadsTo} label="Use a passkey" />
      )}
    </>
  )
}

const ConfirmForm = ({ children }: { children: ComponentChildren }) => (
  <CallForm op={confirmSession} leadsTo={leadsTo} class="stack">
    {children}
    <div class="bar end">
      <button type="button" class="btn in-dialog" data-close="">
        Cancel
      </button>
      <button class="btn pri">Confirm</button>
    </div>
  </CallForm>
)

/** For accounts with neither password nor second factor. */
const Elsewhere = ({ linked, provider }: { linked: boolean; provider: Data['provider'] }) =>
  linked && provider.label !== null ? (
    <>
      <p>You sign in through another service. Sign in there again, then repeat the change.</p>
      <ProviderButton of={provider} again />
    </>
  ) : (
    <p>
      Your account has neither a password nor a second factor. Sign out and sign in again, then repeat the change within
      10 minutes.
    </p>
  )
