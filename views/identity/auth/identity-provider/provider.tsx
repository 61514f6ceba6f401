// Signing in through the identity provider: the button, and the page that the provider sends people back to.
import { type listIdentities, removeIdentity } from '../../../../src/identity/auth/identity-provider/identities.ts'
import { beginLink, linkIdentity } from '../../../../src/identity/auth/identity-provider/link.ts'
import {
  beginProviderSignIn,
  completeProviderSignIn,
  getProvider,
  START_PATH,
} from '../../../../src/identity/auth/identity-provider/oidc.ts'
import { CALLBACK_PAGE } from '../../../../src/identity/auth/identity-provider/provider-setting.ts'
import { LINKING } from '../../../../src/identity/auth/identity-provider/visit.ts'
import { type Answers, page, reading } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../../components/action.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Note, Section } from '../../../components/section.tsx'
import { Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'

/** Without the page's own query. */
export const provider = reading(getProvider, () => ({}))
type Provider = Answers<{ p: typeof provider }>['p']

type ButtonProps = { of: Provider; next?: string | undefined; again?: boolean }
/** Nothing where no provider is configured. `again`: the provider asks for the sign-in even if it has a session. */
export function ProviderButton({ of: { label }, next, again }: ButtonProps) {
  if (label === null) return null
  const query = new URLSearchParams({ ...(next && { next }), ...(again && { again: '1' }) }).toString()
  return (
    <a class="btn" href={`${START_PATH}${query && `?${query}`}`}>
      {label}
    </a>
  )
}

const reasons = new Map(
  Object.entries({
    rate_limited: 'Too many attempts. Wait a minute, then try again.',
    source_unreachable: 'The sign-in service is not responding. Try again in a minute, or sign in with your password.',
    restarting: 'Berth is restarting. Try again in a minute.',
  }),
)
/** Why the provider could not be reached; nothing without a code. */
export const ProviderRefusal = ({ code }: { code: string | undefined }) =>
  code === undefined ? null : (
    <Note level="warn">{reasons.get(code) ?? 'That did not work. Sign in with your password.'}</Note>
  )

export const providerPage = page({
  path: CALLBACK_PAGE,
  open: true,
  reads: {},
  title: 'Signing in',
  view: ({ at: { query } }) => (
    <>
      <h1>Signing in</h1>
      <Return code={query['code']} state={query['state']} iss={query['iss']} />
      <p>
        <a href="/login">Back to sign in</a>
      </p>
    </>
  ),
})

type ReturnProps = Record<'code' | 'state' | 'iss', string | undefined>
const Return = ({ code, state, iss }: ReturnProps) =>
  code && state?.startsWith(LINKING) ? (
    <CallForm
      op={linkIdentity}
      body={{ code, state, ...(iss && { iss }) }}
      done="The sign-in is linked to your account"
      leadsTo="/account#identities"
      class="stack"
      atOnce
    >
      <p class="muted">The sign-in service has sent you back. If nothing happens, press the button.</p>
      <button class="btn">Link to my account</button>
    </CallForm>
  ) : code && state ? (
    <CallForm
      op={completeProviderSignIn}
      body={{ code, state, ...(iss && { iss }) }}
      leadsTo="{home}"
      class="stack"
      atOnce
    >
      <p class="muted">The sign-in service has sent you back. If nothing happens, press the button.</p>
      <button class="btn">Continue</button>
    </CallForm>
  ) : (
    <p>The sign-in service sent you back without signing you in. Nothing has changed here.</p>
  )

type Identity = Answers<{ i: typeof listIdentities }>['i']['data'][number]
const hostOf = (identity: Identity) => new URL(identity.issuer).host

type IdentitiesProps = { of: readonly Identity[]; provider: Provider; hasPassword: boolean }
/** Nothing where the account has none and may link none. */
export function Identities({ of: identities, provider, hasPassword }: IdentitiesProps) {
  if (!identities.length && !provider.linkable) return null
  return (
    <Section
      id="identities"
      title="Linked sign-in"
      words="An account at the identity provider that signs you in here, once you have linked it."
      actions={provider.linkable && !identities.length && <LinkButton of={provider} />}
      flush={identities.length > 0}
    >
      {identities.length > 0 ? (
        <IdentityTable of={identities} hasPassword={hasPassword} />
      ) : (
        <p class="muted">
          Nothing is linked. The button takes you to the sign-in service and back; from then on "{provider.label}" signs
          you in.
        </p>
      )}
    </Section>
  )
}

const LinkButton = ({ of: { label } }: { of: Provider }) =>
  useAt().may(beginLink) ? (
    <CallForm op={beginLink} leavesBy="url" class="call">
      <button class="btn">
        <Icon name="plus" />
        <span>Link sign-in</span>
        <span class="sr"> with {label}</span>
      </button>
    </CallForm>
  ) : null

/** On the page of an invitation: the person signs in at the provider instead of choosing a password. */
export const AcceptWithProvider = ({ of: { label }, invitation }: { of: Provider; invitation: string }) =>
  label === null ? null : (
    <CallForm op={beginProviderSignIn} body={{ invitation }} leavesBy="url" class="stack">
      <p class="muted">Or use an account that you have elsewhere. It is linked to your account here.</p>
      <button class="btn">{label}</button>
    </CallForm>
  )

const IdentityTable = ({ of: identities, hasPassword }: { of: readonly Identity[]; hasPassword: boolean }) => (
  <Table
    label="Linked sign-in"
    rows={identities}
    idOf={(i) => i.id}
    flow
    columns={[
      {
        title: 'Provider',
        kind: 'name',
        cell: (i) => (
          <>
            <b>{hostOf(i)}</b>
            <small class="mono">{i.subject}</small>
          </>
        ),
      },
      { title: 'Linked', kind: 'wide', cell: (i) => <Time iso={i.createdAt} /> },
      { title: 'Last used', kind: 'wide', cell: (i) => <Time iso={i.usedAt} /> },
      { title: 'Actions', kind: 'more', cell: (i) => <Unlink of={i} hasPassword={hasPassword} /> },
    ]}
  />
)

const Unlink = ({ of: identity, hasPassword }: { of: Identity; hasPassword: boolean }) => (
  <Action
    op={removeIdentity}
    params={{ id: identity.id }}
    label="Unlink"
    of={hostOf(identity)}
    small
    done="The sign-in is unlinked"
    confirm={{
      keep: 'Keep link',
      consequences: [
        'This signs you out everywhere else.',
        'The provider signs you in here only after you have linked it again.',
        !hasPassword && 'Your account has no password. You then sign in with a link that we mail you.',
      ],
    }}
  />
)
