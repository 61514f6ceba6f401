// The pages behind links in mails. Opening one changes nothing, because mail programs open links too: its form makes
// the call.
import type { ComponentChildren } from 'preact'
import { purposes } from '../../../../src/identity/auth/links/links.ts'
import { requestReset, setPassword } from '../../../../src/identity/auth/sign-in/password-links.ts'
import { useSignInLink } from '../../../../src/identity/auth/sign-in/with-link.ts'
import { confirmEmail } from '../../../../src/identity/own-account/email-address.ts'
import { type At, page } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field, NewPassword, Username } from '../../../components/field.tsx'
import { AcceptWithProvider, provider } from '../identity-provider/provider.tsx'

const tokenIn = ({ params }: At) => ({ token: params['token'] ?? '' })

export const welcomePage = page({
  path: `${purposes.welcome.page}{token}`,
  open: true,
  reads: { provider },
  title: 'Welcome',
  view: ({ provider, at }) => (
    <>
      <ChoosePassword title="Welcome" button="Set password and sign in">
        Choose a password for your account. Your user name is the e-mail address that received this link.
      </ChoosePassword>
      <AcceptWithProvider of={provider} invitation={tokenIn(at).token} />
    </>
  ),
})

export const resetPage = page({
  path: `${purposes.reset.page}{token}`,
  open: true,
  reads: {},
  title: 'New password',
  view: () => (
    <ChoosePassword title="New password" button="Change password and sign in">
      This signs you out everywhere else. A second factor stays as it is.
    </ChoosePassword>
  ),
})

const ChoosePassword = (props: { title: string; button: string; children: ComponentChildren }) => (
  <>
    <h1>{props.title}</h1>
    <p class="muted">{props.children}</p>
    <CallForm op={setPassword} body={tokenIn(useAt())} leadsTo="{home}" class="stack">
      <Username />
      <NewPassword scope="password" label="New password" focus />
      <button class="btn pri">{props.button}</button>
    </CallForm>
    <p class="muted">
      Link expired? <a href="/forgot">Request a new one.</a>
    </p>
  </>
)

export const forgotPage = page({
  path: '/forgot',
  open: true,
  reads: {},
  title: 'Reset your password',
  view: ({ at }) => (
    <>
      <h1>Reset your password</h1>
      {at.query['sent'] === '1' ? <LinkSent /> : <AskForLink />}
      <p>
        <a href="/login">Back to sign in</a>
      </p>
    </>
  ),
})

/** The same words whether the account exists or not. */
const LinkSent = () => (
  <>
    <p role="status">
      <strong>If an account has this address, a link is on its way.</strong>
    </p>
    <p class="muted">
      It works once, for an hour. If nothing arrives within a few minutes, check the spam folder or ask your provider.
    </p>
  </>
)

const AskForLink = () => (
  <>
    <p class="muted">We send you a link to choose a new one.</p>
    <CallForm op={requestReset} leadsTo="/forgot?sent=1" class="stack">
      <Field scope="forgot" name="email" label="E-mail address" type="email" autocomplete="username" required focus />
      <button class="btn pri">Send link</button>
    </CallForm>
  </>
)

export const confirmEmailPage = page({
  path: `${purposes.email.page}{token}`,
  open: true,
  reads: {},
  title: 'Confirm your address',
  view: ({ at }) => (
    <>
      <h1>Confirm your address</h1>
      <p class="muted">You then sign in with the address that received this link.</p>
      <CallForm op={confirmEmail} body={tokenIn(at)} done="You now sign in with {email}" leadsTo="/" class="stack">
        <button class="btn pri">Confirm address</button>
      </CallForm>
    </>
  ),
})

export const signInLinkPage = page({
  path: `${purposes['sign-in'].page}{token}`,
  open: true,
  reads: {},
  title: 'Signing in',
  view: ({ at }) => (
    <>
      <h1>Signing in</h1>
      <p class="muted">You come from your provider's customer area.</p>
      <CallForm op={useSignInLink} body={tokenIn(at)} leadsTo="{home}" class="stack" atOnce>
        <button class="btn pri">Sign in</button>
      </CallForm>
      <p class="muted">The link works for one minute. If it has expired, go back and follow it again.</p>
    </>
  ),
})
