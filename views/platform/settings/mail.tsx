import type { ComponentChildren } from 'preact'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { configureMail, type getMail, testMail } from '../../../src/platform/settings/mail.ts'
import { CallForm } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'

type Mail = Answers<{ m: typeof getMail }>['m']
type MailProps = { of: Mail }

export const MailServer = ({ of: mail }: MailProps) => (
  <Section id="mail" title="Mail server">
    <div class="in">
      {mail.host === null && (
        <Note level="warn">
          <strong>There is no mail server.</strong> Emails wait until you add one.
        </Note>
      )}
      <OwnersOnly op={configureMail} of={[['Server', mail.host ? `${mail.host}, port ${mail.port}` : 'None']]}>
        <MailForm of={mail} />
      </OwnersOnly>
      {mail.host !== null && <SendTest />}
    </div>
  </Section>
)

type OwnersOnlyProps = { op: Operation; of: readonly (readonly [string, string])[]; children: ComponentChildren }
/** The form, or for staff who are no owners what is set, and whom to ask. */
export const OwnersOnly = ({ op, of, children }: OwnersOnlyProps) =>
  useAt().may(op) ? (
    children
  ) : (
    <>
      <Facts of={of} />
      <p class="muted">Only an owner can change this, because it decides where passwords and links go.</p>
    </>
  )

const MailForm = ({ of: mail }: MailProps) => (
  <CallForm op={configureMail} class="stack" done="The mail server is saved">
    <div class="pair">
      <Field scope="mail" name="host" label="Host" required mono value={mail.host} placeholder="mail.example.com" />
      <Field scope="mail" name="port" label="Port" required as="number" value={mail.port ?? 587} min={1} max={65_535} />
    </div>
    <div class="pair">
      <Field scope="mail" name="user" label="User" nullable value={mail.user} autocomplete="off" />
      <StoredSecret scope="mail" name="password" label="Password" isStored={mail.hasPassword} />
    </div>
    <Field
      scope="mail"
      name="from"
      label="Sender address"
      required
      type="email"
      value={mail.from}
      placeholder="panel@example.com"
      hint="Undeliverable emails come back to this address."
    />
    <Check scope="mail" name="tls" label="TLS (port 465)" checked={mail.tls} hint="Off: STARTTLS is required." />
    <Check
      scope="mail"
      name="plain"
      label="Without encryption"
      checked={mail.plain}
      hint="Only for a server on this machine: password and emails cross the network unencrypted."
    />
    <div class="bar">
      <button class="btn pri">Save mail server</button>
    </div>
  </CallForm>
)

const SendTest = () => (
  <CallForm op={testMail} class="stack" done="Sent to {to}. {said}">
    <div class="bar">
      <button class="btn">Send test</button>
      <span class="muted">Sends an email to your own address now, with the saved settings.</span>
    </div>
  </CallForm>
)

type StoredProps = { scope: string; name: string; label: string; isStored: boolean }
/** A secret that is never shown again; left empty, the stored one stays. */
export const StoredSecret = ({ isStored, ...field }: StoredProps) => (
  <Field
    {...field}
    type="password"
    autocomplete="new-password"
    hint={isStored ? 'One is saved. Leave this empty to keep it.' : 'It is stored encrypted and never shown again.'}
  />
)
