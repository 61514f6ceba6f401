import { countFirewall } from '../../../../src/network/firewalls/counters.ts'
import { setSmtp } from '../../../../src/network/firewalls/mail.ts'
import {
  addFirewallRule,
  allowServices,
  changeFirewall,
  changeFirewallRule,
  removeFirewallRule,
} from '../../../../src/network/firewalls/server-firewall.ts'
import { Action, Edit, Menu } from '../../../components/action.tsx'
import { Checks } from '../../../components/choices.tsx'
import { Check, Select } from '../../../components/field.tsx'
import { Link } from '../../../components/link.tsx'
import { Facts, Section } from '../../../components/section.tsx'
import { State } from '../../../components/state.tsx'
import { Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../components/words.ts'
import { nameOf, type Rule, RuleFields, ruleColumns, type ServerFirewall } from '../../../network/firewalls/rules.tsx'
import { refusedBy, type Server } from '../words.ts'
import type { NetworkData } from './reads.ts'

type Props = { server: Server; firewall: ServerFirewall }
type Row = Rule & { from?: string }

/** The rules in the order in which they are tried, and what becomes of packets that none of them fits. */
export function Firewall({ server: s, firewall, sharedFirewalls, area }: NetworkData) {
  if (s.status === 'terminated') return null
  const { enabled, rules, shared } = firewall
  const rows: Row[] = [
    ...rules,
    ...shared.flatMap(({ name, rules }) => rules.map((rule) => ({ ...rule, from: name }))),
    ...(enabled ? defaultsOf(firewall) : []),
  ]
  return (
    <Section
      id="fw"
      title="Firewall"
      count={<InForce of={firewall} />}
      actions={<Buttons server={s} firewall={firewall} offered={sharedFirewalls?.data ?? []} />}
      words={wordsOf(firewall, area === '/admin')}
      flush
    >
      {rows.length > 0 && (
        <Table
          label="Rules of the firewall"
          rows={rows}
          idOf={(rule) => rule.id}
          columns={[
            ...ruleColumns,
            { title: 'Actions', kind: 'more', cell: (rule) => <RuleMenu server={s} of={rule} rules={rules} /> },
          ]}
        />
      )}
      {shared.length > 0 && (
        <p class="words muted">
          Shared:{' '}
          {shared
            .map(
              (one) => `${one.name}${one.otherServers ? `, also on ${count(one.otherServers, 'other server')}` : ''}`,
            )
            .join('; ')}
          . {!area && <Link href="/firewalls">Change them</Link>}
        </p>
      )}
    </Section>
  )
}

const wordsOf = ({ enabled, smtpAllowed }: ServerFirewall, isStaff: boolean) =>
  (enabled
    ? 'The first rule that matches decides. Replies to accepted connections always pass.'
    : 'The firewall is off: all traffic passes in both directions.') +
  (smtpAllowed ? '' : ` Outgoing mail on TCP port 25 is blocked${isStaff ? '' : '; your provider can allow it'}.`)

const InForce = ({ of: { enabled, inForce } }: { of: ServerFirewall }) =>
  !inForce ? (
    <State tone="work" shape="work">
      Being applied
    </State>
  ) : enabled ? (
    <State tone="ok" shape="tick">
      In force
    </State>
  ) : (
    <State tone="idle" shape="stop">
      Off
    </State>
  )

/** The defaults as the last lines. */
const defaultsOf = ({ defaultIn, defaultOut }: ServerFirewall): Row[] =>
  (
    [
      ['in', defaultIn],
      ['out', defaultOut],
    ] as const
  ).map(([direction, action]) => ({
    id: `default_${direction}`,
    name: 'Everything else',
    direction,
    action,
    protocol: 'any',
    ports: [],
    remotes: [],
  }))

function Buttons({ server: s, firewall, offered }: Props & { offered: readonly { id: string; name: string }[] }) {
  const params = { id: s.id }
  const scope = `fw-${s.id}`
  return (
    <>
      <Action
        op={addFirewallRule}
        params={params}
        label="Add rule"
        icon="plus"
        small
        title={`Add a rule to the firewall of ${s.hostname}`}
        done="The rule is being loaded"
        fields={
          <>
            <RuleFields scope={scope} />
            <ClosedSsh scope={scope} />
          </>
        }
      />
      <Menu label="Actions for the firewall" small>
        <Action
          op={allowServices}
          params={params}
          label="Allow services"
          inMenu
          title={`Let everybody reach services of ${s.hostname}`}
          submit="Allow"
          done="The rules are being loaded"
          fields={
            <Checks
              scope={scope}
              name="services"
              label="Services"
              values={['ssh']}
              options={serviceOptions}
              hint="Switches the firewall on: everything that no rule accepts is dropped."
            />
          }
        />
        <Edit
          op={changeFirewall}
          params={params}
          label="Settings"
          inMenu
          title={`Firewall of ${s.hostname}`}
          done="The firewall is being changed"
          fields={
            <>
              <Check scope={scope} name="enabled" label="The firewall is on" checked={firewall.enabled} />
              <Default
                scope={scope}
                name="defaultIn"
                label="Everything else to the server"
                value={firewall.defaultIn}
              />
              <Default
                scope={scope}
                name="defaultOut"
                label="Everything else from the server"
                value={firewall.defaultOut}
              />
              {offered.length > 0 && (
                <Checks
                  scope={scope}
                  name="firewallIds"
                  label="Shared firewalls"
                  values={firewall.shared.map(({ id }) => id)}
                  options={offered.map(({ id, name }) => ({ value: id, label: name }))}
                />
              )}
              <ClosedSsh scope={scope} />
            </>
          }
        />
        <Action
          op={countFirewall}
          params={params}
          label="Read counters"
          inMenu
          disabledReason={refusedBy(s, 'count_firewall')}
          done="The counters are being read"
        />
        <Action
          op={setSmtp}
          params={params}
          body={{ allowed: !firewall.smtpAllowed }}
          label={firewall.smtpAllowed ? 'Block outgoing mail' : 'Allow outgoing mail'}
          inMenu
          done={firewall.smtpAllowed ? 'Outgoing mail is being blocked' : 'Outgoing mail is being allowed'}
        />
      </Menu>
    </>
  )
}

const serviceOptions = [
  { value: 'ssh', label: 'SSH, TCP 22' },
  { value: 'http', label: 'HTTP, TCP 80' },
  { value: 'https', label: 'HTTPS, TCP 443' },
  { value: 'rdp', label: 'Remote Desktop, TCP 3389' },
  { value: 'ping', label: 'Ping' },
  { value: 'ping6', label: 'Ping over IPv6' },
]

const Default = (of: { scope: string; name: string; label: string; value: 'accept' | 'drop' }) => (
  <Select
    {...of}
    options={[
      { value: 'drop', label: 'Drop' },
      { value: 'accept', label: 'Accept' },
    ]}
  />
)

const ClosedSsh = ({ scope }: { scope: string }) => (
  <Check
    scope={scope}
    name="acceptClosedSsh"
    label="Allow this even if nobody can sign in by SSH afterwards"
    hint="Without this, a change that closes TCP port 22 for everybody is refused. The console still works."
  />
)

function RuleMenu({ server: s, of: rule, rules }: { server: Server; of: Row; rules: readonly Rule[] }) {
  if (!rules.some(({ id }) => id === rule.id)) return rule.from ? <span class="muted">{rule.from}</span> : null
  const params = { id: s.id, ruleId: rule.id }
  const scope = `fw-${rule.id}`
  return (
    <Menu label={`Actions for ${nameOf(rule)}`} small>
      <Edit
        op={changeFirewallRule}
        params={params}
        icon="pencil"
        of={nameOf(rule)}
        inMenu
        title={`Change ${nameOf(rule)}`}
        done="The rule is being loaded"
        fields={
          <>
            <RuleFields scope={scope} of={rule} />
            <ClosedSsh scope={scope} />
          </>
        }
      />
      <Action
        op={removeFirewallRule}
        params={params}
        label="Remove"
        icon="trash"
        of={nameOf(rule)}
        inMenu
        tone="bad"
        title={`Remove ${nameOf(rule)}?`}
        done="The rule is being removed"
        confirm={{
          keep: 'Keep rule',
          consequences: ['The rules after it then decide about the packets that it matches.'],
        }}
      />
    </Menu>
  )
}

/** The answer of the machine when its counters were read; nothing before. */
export function FirewallCounters({ firewall: { counters, rules, shared } }: NetworkData) {
  if (!counters) return null
  const all = [...rules, ...shared.flatMap(({ rules }) => rules)]
  const names = new Map([...all.map((rule) => [rule.id, nameOf(rule)] as const), ...defaultNames])
  return (
    <Section
      id="fw-counted"
      title="Firewall counters"
      words={
        <>
          Read <Time iso={counters.at} />, counted since the rules were last changed. Dropped packets are a sample of
          the ten minutes before.
        </>
      }
    >
      <Facts
        pairs
        of={counters.rules.map(({ id, packets }) => [names.get(id) ?? id, `${packets.toLocaleString('en')} packets`])}
      />
      {counters.drops.length > 0 && (
        <Table
          label="Last dropped"
          rows={counters.drops.slice(0, 20)}
          columns={[
            { title: 'Last dropped', kind: 'name', cell: (drop) => <span class="mono">{drop.remote}</span> },
            { title: 'Direction', kind: 'a', cell: (drop) => (drop.direction === 'in' ? 'In' : 'Out') },
            { title: 'Port', kind: 'b', cell: (drop) => <span class="mono">{portOf(drop)}</span> },
            { title: 'Packets', kind: 'state', num: true, cell: (drop) => drop.packets.toLocaleString('en') },
          ]}
        />
      )}
    </Section>
  )
}

const defaultNames = [
  ['default_in', 'Everything else, in'],
  ['default_out', 'Everything else, out'],
] as const
const numbers: Readonly<Record<number, string>> = { 1: 'ICMP', 6: 'TCP', 17: 'UDP', 58: 'ICMPv6' }
const portOf = ({ protocol, port }: { protocol: number; port: number | null }) =>
  `${numbers[protocol] ?? `protocol ${protocol}`}${port === null ? '' : ` ${port}`}`
