// The second factors of the own account: passkeys, authenticator app, recovery codes.
import {
  addPasskey,
  beginPasskey,
  passkeysWork,
  removePasskey,
  renamePasskey,
} from '../../../../src/identity/auth/second-factors/passkeys.ts'
import {
  type getSecondFactor,
  renewRecoveryCodes,
} from '../../../../src/identity/auth/second-factors/second-factors.ts'
import { beginTotp, removeTotp } from '../../../../src/identity/auth/second-factors/totp.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Action, CallForm, Menu, RemoveEntry, RenameEntry } from '../../../components/action.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Note, Section } from '../../../components/section.tsx'
import { State } from '../../../components/state.tsx'
import { Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../components/words.ts'
import { codesShown } from './factor-dialogs.tsx'

export type Factors = Answers<{ f: typeof getSecondFactor }>['f']
type Passkey = Factors['passkeys'][number]

const othersEnd = 'You are signed out everywhere else.'
/** Removing the last factor removes the second step. */
const onlyFactor =
  'It is your only second factor: afterwards the password alone is enough, and your recovery codes stop working.'

export function Passkeys({ factors }: { factors: Factors }) {
  const { origin, may } = useAt()
  const works = passkeysWork(origin)
  return (
    <Section
      id="passkeys"
      title="Passkeys"
      actions={may(beginPasskey) && works && <AddPasskey />}
      words={
        'A passkey signs you in with the fingerprint, face or PIN of a device, or with a security key. ' +
        'It cannot be guessed, and works only at the address of this panel.'
      }
      flush
    >
      {!works && (
        <Note level="info">
          Passkeys need a host name and HTTPS. The panel is at <code>{origin}</code> now.
        </Note>
      )}
      {factors.passkeys.length > 0 ? (
        <PasskeyTable factors={factors} />
      ) : (
        works && <p class="muted">There is no passkey yet.</p>
      )}
    </Section>
  )
}

const AddPasskey = () => (
  <>
    <CallForm op={beginPasskey} hands={{ to: 'makePasskey', at: '.keep-passkey' }} class="call">
      <button class="btn">
        <Icon name="plus" />
        <span>Add passkey</span>
      </button>
    </CallForm>
    <CallForm op={addPasskey} hands={codesShown} done="The passkey is added" class="call keep-passkey">
      <input type="hidden" name="passkey" data-as="json" />
    </CallForm>
  </>
)

const PasskeyTable = ({ factors }: { factors: Factors }) => (
  <Table
    label="Passkeys"
    rows={factors.passkeys}
    idOf={(k) => k.id}
    columns={[
      { title: 'Passkey', kind: 'name', width: 34, cell: (k) => <b>{k.name}</b> },
      { title: 'Added', kind: 'wide', width: 20, cell: (k) => <Time iso={k.createdAt} /> },
      { title: 'Last used', kind: 'addr', cell: (k) => <LastUse of={k} /> },
      {
        title: 'Actions',
        kind: 'more',
        cell: (k) => (
          <Menu label={`Actions for ${k.name}`} small>
            <RenamePasskey of={k} />
            <RemovePasskey of={k} factors={factors} />
          </Menu>
        ),
      },
    ]}
  />
)

const LastUse = ({ of: k }: { of: Passkey }) =>
  k.usedAt ? (
    <>
      <Time iso={k.usedAt} /> from <span class="mono">{k.usedFrom}</span>
    </>
  ) : (
    <span class="muted">Never used</span>
  )

const RenamePasskey = ({ of: k }: { of: Passkey }) => <RenameEntry op={renamePasskey} of={k} />

const RemovePasskey = ({ of: k, factors }: { of: Passkey; factors: Factors }) => (
  <RemoveEntry
    op={removePasskey}
    of={k}
    keep="Keep passkey"
    consequences={[
      'It no longer signs you in. Delete it on the device as well: the panel cannot do that.',
      factors.passkeys.length === 1 && !factors.totp && onlyFactor,
      othersEnd,
    ]}
  />
)

export const AuthenticatorApp = ({ factors: { totp, passkeys } }: { factors: Factors }) => (
  <Section
    id="totp"
    title="Authenticator app"
    count={
      <State tone={totp ? 'ok' : 'idle'} shape={totp ? 'tick' : 'stop'}>
        {totp ? 'On' : 'Off'}
      </State>
    }
    actions={totp ? <RemoveApp only={passkeys.length === 0} /> : <AddApp />}
  >
    <p class="muted">
      {totp ? (
        <>
          After the password, signing in asks for a code from the app that you added <Time iso={totp.confirmedAt} />.
        </>
      ) : (
        'An app on your phone shows a new code every 30 seconds. Signing in asks for one after the password.'
      )}
    </p>
  </Section>
)

const AddApp = () =>
  useAt().may(beginTotp) ? (
    <CallForm op={beginTotp} hands={{ to: 'showApp', at: '#app' }} class="call">
      <button class="btn">
        <Icon name="plus" />
        <span>Add app</span>
      </button>
    </CallForm>
  ) : null

const RemoveApp = ({ only }: { only: boolean }) => (
  <Action
    op={removeTotp}
    label="Remove"
    of="the authenticator app"
    tone="bad"
    title="Remove the authenticator app?"
    done="The authenticator app is removed"
    confirm={{
      keep: 'Keep app',
      consequences: ['Its codes are no longer asked for or accepted.', only && onlyFactor, othersEnd],
    }}
  />
)

/** Nothing without a second factor. */
export function RecoveryCodes({ factors: { totp, passkeys, recoveryCodesLeft: left } }: { factors: Factors }) {
  if (!totp && !passkeys.length) return null
  return (
    <Section
      id="recovery"
      title="Recovery codes"
      count={
        <State tone={left > 3 ? 'ok' : 'warn'} shape={left > 3 ? 'tick' : 'away'}>
          {left ? `${left} left` : 'None left'}
        </State>
      }
      actions={
        <Action
          op={renewRecoveryCodes}
          label="Generate new codes"
          hands={codesShown}
          title="Generate new recovery codes?"
          confirm={{
            consequences: [
              'Ten new codes are shown, once.',
              left > 0 && `The ${count(left, 'code')} you have now ${left === 1 ? 'stops' : 'stop'} working.`,
            ],
          }}
        />
      }
    >
      <p class="muted">For when your device is lost: each code signs you in once, together with your password.</p>
    </Section>
  )
}
