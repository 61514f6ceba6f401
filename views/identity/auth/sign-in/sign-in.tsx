import type { Static } from 'typebox'
import { homeOf } from '../../../../src/identity/account-records/areas.ts'
import { passkeysWork } from '../../../../src/identity/auth/second-factors/passkeys.ts'
import { beginPasskeySignIn, passkeySignIn } from '../../../../src/identity/auth/sign-in/complete-second-factor.ts'
import type { signedIn } from '../../../../src/identity/auth/sign-in/complete-sign-in.ts'
import { signIn } from '../../../../src/identity/auth/sign-in/sign-in.ts'
import { type Answers, type At, page } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { safePath } from '../../../../src/kernel/web/safe-path.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { ProviderButton, ProviderRefusal, provider } from '../identity-provider/provider.tsx'
import { FormRefusal } from './form-refusal.tsx'
import { PasskeyButton } from './passkey.tsx'

/** The page that the reader was going to, unless that is a page of the sign-in itself. */
export const nextIn = ({ query }: At): string | undefined => {
  const next = safePath(query['next'])
  return next?.startsWith('/login') ? undefined : next
}

const reads = { provider }

/** The page after a step of signing in: the next step, the page that the reader was going to, or the first page. */
export function afterSignIn({ home, secondFactor }: Static<typeof signedIn>, at: At): string {
  const next = nextIn(at)
  return secondFactor ? home + (next ? `?next=${encodeURIComponent(next)}` : '') : (next ?? home)
}

export const signInPage = page({
  path: '/login',
  open: true,
  reads,
  takes: { op: signIn, keeps: ['email'], leadsTo: afterSignIn },
  title: 'Sign in',
  view: (data) => <SignIn {...data} />,
})

function SignIn({ provider }: Answers<typeof reads>) {
  const at = useAt()
  const leadsTo = nextIn(at) ?? '{home}'
  return (
    <>
      <h1>Sign in</h1>
      <FormRefusal of={at.refusedForm} />
      <ProviderRefusal code={at.query['refused']} />
      {at.actor.accountId !== '' && (
        <p>
          You are signed in as {at.actor.name}. <a href={homeOf(at.actor.kind)}>Go to the start page</a>
        </p>
      )}
      <CallForm op={signIn} leadsTo={leadsTo} class="stack">
        <Field
          scope="sign-in"
          name="email"
          label="E-mail address"
          type="email"
          autocomplete="username"
          value={at.refusedForm?.kept['email']}
          required
          focus
        />
        <Field
          scope="sign-in"
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
        <button class="btn pri">Sign in</button>
        <p>
          <a href="/forgot">Forgot your password?</a>
        </p>
      </CallForm>
      {passkeysWork(at.origin) && (
        <PasskeyButton
          begin={beginPasskeySignIn}
          finish={passkeySignIn}
          leadsTo={leadsTo}
          label="Sign in with a passkey"
        />
      )}
      <ProviderButton of={provider} next={nextIn(at)} />
    </>
  )
}
