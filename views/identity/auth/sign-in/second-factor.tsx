// The second step of signing in.

import {
  beginSecondPasskey,
  completeSecondFactor,
  getSignInChallenge,
} from '../../../../src/identity/auth/sign-in/complete-second-factor.ts'
import { SECOND_FACTOR_PAGE } from '../../../../src/identity/auth/sign-in/complete-sign-in.ts'
import { type Answers, page, reading } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { FormRefusal } from './form-refusal.tsx'
import { PasskeyButton } from './passkey.tsx'
import { afterSignIn, nextIn } from './sign-in.tsx'

const reads = { pending: reading(getSignInChallenge, () => ({})) }
type Factors = Answers<typeof reads>['pending']['secondFactor']

export const secondFactorPage = page({
  path: SECOND_FACTOR_PAGE,
  open: true,
  reads,
  takes: { op: completeSecondFactor, keeps: [], leadsTo: afterSignIn },
  title: 'Sign in: second step',
  view: ({ pending: { secondFactor }, at }) => {
    const next = nextIn(at)
    const again = `/login${next ? `?next=${encodeURIComponent(next)}` : ''}`
    return (
      <>
        <h1>Second step</h1>
        <FormRefusal of={at.refusedForm} />
        {secondFactor.length > 0 ? <SecondStep factors={secondFactor} again={again} /> : <NotPending again={again} />}
      </>
    )
  },
})

const NotPending = ({ again }: { again: string }) => (
  <>
    <p>No sign-in is waiting for a second step: it took longer than ten minutes, failed five times, or is complete.</p>
    <a class="btn pri" href={again}>
      Sign in
    </a>
  </>
)

function SecondStep({ factors, again }: { factors: Factors; again: string }) {
  const leadsTo = nextIn(useAt()) ?? '{home}'
  const [app, passkey] = [factors.includes('totp'), factors.includes('passkey')]
  return (
    <>
      {app && (
        <CallForm op={completeSecondFactor} leadsTo={leadsTo} class="stack">
          <Field
            scope="second"
            name="code"
            label="Code from your authenticator app"
            hint="Six digits. Each code works once."
            autocomplete="one-time-code"
            inputmode="numeric"
            required
            mono
            focus
          />
          <button class="btn pri">Sign in</button>
        </CallForm>
      )}
      {passkey && (
        <PasskeyButton
          begin={beginSecondPasskey}
          finish={completeSecondFactor}
          leadsTo={leadsTo}
          label="Use a passkey"
          primary={!app}
        />
      )}
      <details class="row" open={!app && !passkey}>
        <summary>I don't have my device</summary>
        <LostDevice recovery={factors.includes('recovery')} leadsTo={leadsTo} />
      </details>
      <p>
        <a href={again}>Start again</a>
      </p>
    </>
  )
}

const LostDevice = ({ recovery, leadsTo }: { recovery: boolean; leadsTo: string }) => (
  <div class="stack">
    {recovery ? (
      <>
        <p class="muted">Use one of the recovery codes that you saved with your second factor. Each code works once.</p>
        <CallForm op={completeSecondFactor} leadsTo={leadsTo} class="stack">
          <Field
            scope="second"
            name="recoveryCode"
            label="Recovery code"
            required
            mono
            placeholder="xxxx-xxxx-xxxx-xxxx"
          />
          <button class="btn">Sign in with a recovery code</button>
        </CallForm>
      </>
    ) : (
      <p class="muted">No recovery code is left.</p>
    )}
    <p class="muted">
      Without a recovery code, contact the operator of this panel. They verify your identity, then remove the lost
      device from your account. A link by e-mail is not enough for that.
    </p>
  </div>
)
