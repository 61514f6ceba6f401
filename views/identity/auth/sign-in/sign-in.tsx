import { homeOf } from '../../../../src/identity/account-records/areas.ts'
import { passkeysWork } from '../../../../src/identity/auth/second-factors/passkeys.ts'
import { beginPasskeySignIn, passkeySignIn } from '../../../../src/identity/auth/sign-in/complete-second-factor.ts'
import { signIn } from '../../../../src/identity/auth/sign-in/sign-in.ts'
import { type Answers, type At, page } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { safePath } from '../../../../src/kernel/web/safe-path.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { ProviderButton, ProviderRefusal, provider } from '../identity-provider/provider.tsx'
import { PasskeyButton } from './passkey.tsx'

/** The page that the reader was going to, unless that is a page of the sign-in itself. */
export const nextIn = ({ query }: At): string | undefined => {
  const next = safePath(query['next'])
  return next?.startsWith('/login') ? undefined : next
}

const reads = { provider }

export const signInPage = page({
  path: '/login',
  open: true,
  reads,
  title: 'Sign in',
  view: (data) => <SignIn {...data} />,
})

function SignIn({ provider }: Answers<typeof reads>) {
  const at = useAt()
  const leadsTo = nextIn(at) ?? '{home}'
  return (
    <>
      <h1>Sign in</h1>
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
      <noscript>
        <p class="muted">Signing in and changing things needs JavaScript; reading does not.</p>
      </noscript>
    </>
  )
}
