import { uiPreferences } from '../../../src/identity/account-records/ui-preferences.ts'
import { listIdentities } from '../../../src/identity/auth/identity-provider/identities.ts'
import { changeEmail } from '../../../src/identity/own-account/email-address.ts'
import { changePassword } from '../../../src/identity/own-account/password.ts'
import { changeOwnAccount, getOwnAccount } from '../../../src/identity/own-account/profile.ts'
import { timeZones } from '../../../src/kernel/time-zones.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Field, NewPassword, Select, Username } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { Exact, Time } from '../../components/time.tsx'
import { Identities, provider } from '../auth/identity-provider/provider.tsx'

const reads = { account: getOwnAccount, identities: reading(listIdentities, () => ({})), provider }
type Account = Answers<typeof reads>['account']

export const profilePage = page({
  path: '/account',
  reads,
  title: 'Account',
  nav: 'account',
  view: ({ account, identities, provider }) => (
    <>
      <Head title="Account" />
      {account.lockedAt && <Locked at={account.lockedAt} reason={account.lockReason} />}
      <div class="split even">
        <Profile account={account} />
        <SigningIn account={account} />
      </div>
      <Identities of={identities.data} provider={provider} hasPassword={account.hasPassword} />
    </>
  ),
})

const Locked = ({ at, reason }: { at: string; reason: string | null }) => (
  <Note level="bad">
    <strong>Your account is locked</strong> since <Exact iso={at} />. Nothing new can be ordered for it; your servers
    keep running.
    <br />
    {reason ? `Your provider says: ${reason}` : 'Ask your provider about it.'}
  </Note>
)

const Profile = ({ account: a }: { account: Account }) => (
  <Section id="profile" title="Profile">
    {useAt().may(changeOwnAccount) ? (
      <ProfileForm account={a} />
    ) : (
      <Facts
        of={[
          ['Name', a.name],
          ['Organization', a.organization],
        ]}
      />
    )}
  </Section>
)

const ProfileForm = ({ account: a }: { account: Account }) => (
  <CallForm op={changeOwnAccount} done="Saved" leadsTo="/account" class="stack">
    <Field scope="profile" name="name" label="Name" required value={a.name} autocomplete="name" />
    {a.kind !== 'staff' && (
      <Field
        scope="profile"
        name="organization"
        label="Organization"
        nullable
        value={a.organization}
        autocomplete="organization"
      />
    )}
    <Preference name="theme" label="Theme" value={a.theme} />
    <Preference name="density" label="Density" value={a.density} />
    <Preference name="shortcuts" label="Shortcuts of a single key" value={a.shortcuts} />
    <Select
      scope="profile"
      name="timeZone"
      label="Time zone"
      nullable
      value={a.timeZone ?? ''}
      hint="For the times you see. Filters and forms that ask for UTC say so."
      options={[
        { value: '', label: 'Same as the browser' },
        ...timeZones().map((value) => ({ value, label: value.replaceAll('_', ' ') })),
      ]}
    />
    <div class="bar">
      <button class="btn pri">Save</button>
    </div>
  </CallForm>
)

const preferenceNames: Record<string, string> = {
  system: 'Same as the system',
  light: 'Light',
  dark: 'Dark',
  comfortable: 'Comfortable',
  compact: 'Compact: more rows on a screen',
  on: 'On: ? shows all shortcuts',
  off: 'Off',
}
type PreferenceProps = { name: keyof typeof uiPreferences; label: string; value: string }
const Preference = ({ name, label, value }: PreferenceProps) => (
  <Select
    scope="profile"
    name={name}
    label={label}
    value={value}
    options={uiPreferences[name].map((v) => ({ value: v, label: preferenceNames[v]! }))}
  />
)

const SigningIn = ({ account: a }: { account: Account }) => (
  <Section id="signing-in" title="Sign-in">
    <Facts
      of={[
        [
          'E-mail',
          <span class="bar">
            {a.email} <ChangeEmail email={a.email} />
          </span>,
        ],
        [
          'Password',
          a.hasPassword ? (
            <span class="bar">
              Set <ChangePassword email={a.email} />
            </span>
          ) : (
            <>
              None yet. <a href="/forgot">Send me a link to choose one</a>
            </>
          ),
        ],
        [
          'Mails',
          <>
            <Link href="/account/notifications">Choose which notices also come by mail</Link>. What you request, changes
            to your sign-in, and servers that wait for setup always do.
          </>,
        ],
        ['Account created', <Time iso={a.createdAt} />],
        ['Id', <Copyable text={a.id} what="id" />],
      ]}
    />
  </Section>
)

const ChangeEmail = ({ email }: { email: string }) => (
  <Action
    op={changeEmail}
    label="Change"
    of="e-mail address"
    small
    title="Change your e-mail address"
    submit="Send link"
    done="A link is on its way to the new address"
    fields={
      <>
        <Username email={email} />
        <Field
          scope="email"
          name="email"
          label="New address"
          type="email"
          required
          autocomplete="email"
          hint="It takes effect when you open the link that we send there. The old address is notified."
        />
        <Field
          scope="email"
          name="password"
          label="Your password"
          type="password"
          required
          autocomplete="current-password"
        />
      </>
    }
  />
)

const ChangePassword = ({ email }: { email: string }) => (
  <Action
    op={changePassword}
    label="Change"
    of="password"
    small
    title="Change your password"
    done="Your password is changed. You are signed out everywhere else"
    fields={
      <>
        <Username email={email} />
        <Field
          scope="pw"
          name="current"
          label="Current password"
          type="password"
          required
          autocomplete="current-password"
        />
        <NewPassword scope="pw" label="New password" />
      </>
    }
  />
)
