import { setUp } from '../../../src/identity/set-up/first-account.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { Field, NewPassword } from '../../components/field.tsx'

export const setUpPage = page({
  path: '/setup',
  open: true,
  reads: {},
  title: 'Set up Berth',
  view: ({ at: { query } }) => (
    <>
      <h1>Set up Berth</h1>
      {query['token'] ? <FirstAccount token={query['token']} /> : <FindTheLink />}
    </>
  ),
})

const FirstAccount = ({ token }: { token: string }) => (
  <>
    <p class="muted">Create the first staff account. It has every permission; you can add more people later.</p>
    <CallForm op={setUp} body={{ token }} leadsTo="{home}" class="stack">
      <Field scope="setup" name="name" label="Your name" autocomplete="name" required focus />
      <Field scope="setup" name="email" label="E-mail address" type="email" autocomplete="username" required />
      <NewPassword scope="setup" />
      <button class="btn pri">Create account and sign in</button>
    </CallForm>
  </>
)

const FindTheLink = () => (
  <>
    <p>Open the link that the controller wrote to its journal when it started:</p>
    <p>
      <code>journalctl -u berth | grep setup</code>
    </p>
    <p>
      Without systemd: <code>grep setup /var/log/berth/berth.log</code>
    </p>
    <p class="muted">Each start prints a new link until there is a staff account.</p>
    <a class="btn" href="/login">
      Sign in
    </a>
  </>
)
