// The certificate that nobody vouches for: the operator compares its fingerprint with the one on the panel.
import { trustCertificate } from '../../../src/imports/imports/imports.ts'
import { Action } from '../../components/action.tsx'
import { Command, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Exact } from '../../components/time.tsx'
import { type Import, placeOf } from './words.tsx'

type Certificate = NonNullable<Import['asksFor']>

/** On the machine of the panel itself, so that nothing between it and the controller can answer. */
const commandFor = (of: Import) => {
  const port = /:(\d+)$/.exec(placeOf(of))![1]
  const { hostname } = new URL(of.address)
  const name = /^[\d.]+$|^\[/.test(hostname) ? '' : ` -servername ${hostname}`
  const shown = `openssl s_client -connect 127.0.0.1:${port}${name} </dev/null 2>/dev/null`
  return `${shown} | openssl x509 -noout -fingerprint -sha256`
}

export const Certificate = ({ of, certificate }: { of: Import; certificate: Certificate }) => (
  <Section id="certificate" title="Is this your panel?" first>
    <div class="stack">
      <State tone={certificate.isChanged ? 'bad' : 'warn'} shape={certificate.isChanged ? 'away' : 'wait'}>
        {certificate.isChanged ? 'The certificate has changed' : 'Nobody that this machine trusts signed it'}
      </State>
      <p class="muted">{wordsFor(of, certificate)}</p>
      <div class="print" role="group" aria-label="SHA-256 fingerprint">
        {certificate.fingerprint.match(/\w\w:\w\w/g)!.map((pair) => (
          <span>{pair}</span>
        ))}
      </div>
      <p class="muted">Shown by the panel itself, when you run this on its machine as root:</p>
      <Command text={commandFor(of)} what="the command" />
      <Facts
        of={[
          ['Issued to', <Named words={certificate.subject} />],
          ['Issued by', <Named words={certificate.issuer} />],
          ['Valid until', certificate.validUntil && <Exact iso={certificate.validUntil} />],
        ]}
      />
      <div class="bar">
        <Trust of={of} certificate={certificate} />
      </div>
    </div>
  </Section>
)
const Named = ({ words }: { words: string }) => (words ? <span class="mono">{words}</span> : null)

const wordsFor = ({ panel }: Import, { isChanged }: Certificate) =>
  isChanged
    ? 'It is not the one that was trusted. Find out who changed it and why. Nothing was sent to it: neither the ' +
      'credentials nor a question.'
    : `${panel} often makes its own certificate. Compare its fingerprint with the one on the panel before anything ` +
      'is sent: no credentials have been sent yet.'

const Trust = ({ of, certificate: { sha256, isChanged } }: { of: Import; certificate: Certificate }) => (
  <Action
    op={trustCertificate}
    params={{ id: of.id }}
    body={{ sha256 }}
    label={isChanged ? 'Trust the new certificate' : 'Trust this certificate'}
    icon="shield"
    tone={isChanged ? 'bad' : 'pri'}
    title="Are the fingerprints the same?"
    submit="They are the same: trust it"
    done="The certificate is trusted"
    confirm={{
      keep: 'Not yet',
      consequences: [
        'You have compared all 32 pairs with the ones on the panel.',
        'From now on this certificate is accepted for this import, and no other.',
        'If it ever changes, the import stops and asks you again.',
      ],
    }}
  />
)
