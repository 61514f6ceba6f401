// The section of the settings about the name server of reverse DNS.

import type { Answers } from '../../../src/kernel/web/page.ts'
import {
  configurePowerDns,
  configureRfc2136,
  dropNameServerSetting,
  type getNameServer,
  testNameServer,
} from '../../../src/network/reverse-dns/settings.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Facts, Section } from '../../components/section.tsx'

type NameServer = Answers<{ server: typeof getNameServer }>['server']

const kinds = { powerdns: 'PowerDNS, by its HTTP API', rfc2136: 'Dynamic updates (RFC 2136) with a key' } as const

export const ReverseDns = ({ of: s }: { of: NameServer }) => (
  <Section
    id="reverse-dns"
    title="Reverse DNS"
    words="With a name server, customers can set the reverse DNS names of their addresses."
    actions={<Buttons of={s} />}
  >
    {s.kind === 'none' ? (
      <p class="muted">No name server yet.</p>
    ) : (
      <Facts
        of={[
          ['Managed by', kinds[s.kind]],
          ['Address', s.url ?? `${s.host}, port ${s.port}`],
          ['Key', s.keyName],
          ['Zones', s.zones.join(', ')],
        ]}
      />
    )}
  </Section>
)

const Buttons = ({ of: s }: { of: NameServer }) => (
  <>
    {s.kind !== 'none' && (
      <Action op={testNameServer} label="Test" small done="It answers. Zones that Berth may change: {zones}" />
    )}
    <Edit
      op={configurePowerDns}
      label="Use PowerDNS"
      small
      title="Use PowerDNS for reverse DNS"
      fields={
        <>
          <Field
            scope="powerdns"
            name="url"
            label="Address"
            required
            value={s.url}
            hint="Of its API, for example https://dns.example.com:8081"
          />
          <Field
            scope="powerdns"
            name="key"
            label="API key"
            type="password"
            autocomplete="new-password"
            hint={s.kind === 'powerdns' ? 'Leave empty to keep the current one.' : undefined}
          />
        </>
      }
    />
    <Edit
      op={configureRfc2136}
      label="Use dynamic updates"
      small
      wide
      title="Use dynamic updates for reverse DNS"
      fields={
        <>
          <Field
            scope="rfc2136"
            name="host"
            label="Name server"
            required
            value={s.host}
            hint="The primary name server of the zones"
          />
          <Field scope="rfc2136" name="port" label="Port" as="number" value={s.port ?? 53} min={1} max={65_535} />
          <Field
            scope="rfc2136"
            name="zones"
            label="Zones"
            required
            as="words"
            mono
            value={s.zones.join(' ')}
            hint="Separated by spaces, for example 113.0.203.in-addr.arpa 8.b.d.0.1.0.0.2.ip6.arpa"
          />
          <Field
            scope="rfc2136"
            name="keyName"
            label="Name of the key"
            required
            mono
            value={s.keyName}
            hint="An hmac-sha256 key that may change PTR records of the zones"
          />
          <Field
            scope="rfc2136"
            name="secret"
            label="Secret of the key"
            type="password"
            autocomplete="new-password"
            hint={s.kind === 'rfc2136' ? 'Leave empty to keep the current one.' : 'In base64'}
          />
        </>
      }
    />
    {s.kind !== 'none' && (
      <Action
        op={dropNameServerSetting}
        label="Remove"
        of="the name server"
        small
        title="Remove the name server?"
        done="Removed"
        confirm={{
          consequences: ['Names can no longer be changed here.', 'Records on the name server stay as they are.'],
        }}
      />
    )}
  </>
)
