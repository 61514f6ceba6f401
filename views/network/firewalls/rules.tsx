// The rules of a firewall in words, and the fields by which one is made.

import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getServerFirewall } from '../../../src/network/firewalls/server-firewall.ts'
import { Field, Select } from '../../components/field.tsx'
import { State } from '../../components/state.tsx'
import type { Column } from '../../components/table.tsx'

export type ServerFirewall = Answers<{ f: typeof getServerFirewall }>['f']
export type Rule = ServerFirewall['rules'][number]

const protocols: Readonly<Record<string, string>> = {
  any: 'all',
  icmp: 'ICMP',
  icmpv6: 'ICMPv6',
  tcp: 'TCP',
  udp: 'UDP',
}
/** `TCP 80, 443`, `ICMP`, `protocol 47` */
export const whatFits = ({ protocol, ports }: Pick<Rule, 'protocol' | 'ports'>) =>
  [protocols[protocol] ?? `protocol ${protocol}`, ports.join(', ')].filter(Boolean).join(' ')
export const nameOf = (rule: Pick<Rule, 'name' | 'protocol' | 'ports'>) => rule.name || whatFits(rule)

const Verdict = ({ action }: { action: 'accept' | 'drop' }) =>
  action === 'accept' ? (
    <State tone="ok" shape="tick">
      Accept
    </State>
  ) : (
    <State tone="bad" shape="fail">
      Drop
    </State>
  )

export const ruleColumns: Column<Rule>[] = [
  { title: 'Rule', kind: 'name', width: 26, cell: (rule) => <b>{nameOf(rule)}</b> },
  { title: 'Action', kind: 'state', width: 13, cell: (rule) => <Verdict action={rule.action} /> },
  { title: 'Port', kind: 'a', width: 18, cell: (rule) => <span class="mono">{whatFits(rule)}</span> },
  { title: 'Direction', kind: 'b', width: 13, cell: (rule) => (rule.direction === 'in' ? 'In' : 'Out') },
  {
    title: 'From / to',
    kind: 'wide',
    cell: (rule) => <span class="mono">{rule.remotes.length ? rule.remotes.join(', ') : 'anywhere'}</span>,
  },
]

/** The fields of a rule, with those of `of` filled in. */
export const RuleFields = ({ scope, of }: { scope: string; of?: Rule }) => (
  <>
    <Field
      scope={scope}
      name="name"
      label="Name"
      value={of?.name}
      hint="What it is for. Leave empty to use its ports."
    />
    <div class="pair">
      <Select
        scope={scope}
        name="direction"
        label="Direction"
        value={of?.direction}
        options={[
          { value: 'in', label: 'In, to the server' },
          { value: 'out', label: 'Out, from the server' },
        ]}
      />
      <Select
        scope={scope}
        name="action"
        label="Action"
        value={of?.action}
        options={[
          { value: 'accept', label: 'Accept' },
          { value: 'drop', label: 'Drop' },
        ]}
      />
    </div>
    <div class="pair">
      <Select
        scope={scope}
        name="protocol"
        label="Protocol"
        value={typeof of?.protocol === 'number' ? 'any' : (of?.protocol ?? 'tcp')}
        options={Object.entries(protocols).map(([value, label]) => ({ value, label: label === 'all' ? 'Any' : label }))}
      />
      <Field
        scope={scope}
        name="ports"
        label="Ports"
        as="words"
        mono
        value={of?.ports.join(' ')}
        hint="For example 80 443 8000-8080. Leave empty for all."
      />
    </div>
    <Field
      scope={scope}
      name="remotes"
      label="From or to"
      as="words"
      mono
      value={of?.remotes.join(' ')}
      hint="Addresses or ranges of the other side, for example 192.0.2.0/24 2001:db8::/32. Leave empty for anywhere."
    />
  </>
)
