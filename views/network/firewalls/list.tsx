import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import {
  addSharedRule,
  changeSharedFirewall,
  createFirewall,
  listFirewalls,
  removeFirewall,
  removeSharedRule,
} from '../../../src/network/firewalls/shared.ts'
import { Action, Menu, RemoveEntry, RenameEntry } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { Pager, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { nameOf, RuleFields, ruleColumns } from './rules.tsx'

const reads = { firewalls: reading(listFirewalls, ({ actor }) => ({ params: { id: actor.accountId } })) }
type Firewall = Answers<typeof reads>['firewalls']['data'][number]

export const firewallsPage = page({
  path: '/firewalls',
  reads,
  title: 'Firewalls',
  nav: 'firewalls',
  view: ({ firewalls, at }) => (
    <>
      <Head
        title="Firewalls"
        actions={<Create ownerId={at.actor.accountId} />}
        sub={
          <p>
            Rules that several servers share: a change reaches all of them. Choose them on a server's network page; its
            own rules come first.
          </p>
        }
      />
      <Live id="list" every={10}>
        {firewalls.data.length > 0 ? (
          <>
            {firewalls.data.map((one, at) => (
              <One of={one} first={at === 0} />
            ))}
            <Pager of={firewalls} />
          </>
        ) : (
          <Empty title="No shared firewalls yet">
            Add one when several servers need the same rules. For a single server, use the rules on its network page.
          </Empty>
        )}
      </Live>
    </>
  ),
})

const Create = ({ ownerId }: { ownerId: string }) => (
  <Action
    op={createFirewall}
    params={{ id: ownerId }}
    label="Create firewall"
    icon="plus"
    tone="pri"
    done="{name} is created"
    fields={<Field scope="firewall" name="name" label="Name" required hint="For example web-public." />}
  />
)

const One = ({ of: f, first }: { of: Firewall; first: boolean }) => (
  <Section
    id={f.id}
    title={f.name}
    count={f.serverIds.length ? `on ${count(f.serverIds.length, 'server', 'servers')}` : 'on no server yet'}
    actions={<Buttons of={f} />}
    flush
    first={first}
  >
    {f.rules.length > 0 ? (
      <Table
        label={`Rules of ${f.name}`}
        rows={f.rules}
        idOf={(rule) => rule.id}
        columns={[
          ...ruleColumns,
          {
            title: 'Actions',
            kind: 'more',
            cell: (rule) => (
              <Menu label={`Actions for ${nameOf(rule)} of ${f.name}`} small>
                <Action
                  op={removeSharedRule}
                  params={{ id: f.id, ruleId: rule.id }}
                  label="Remove"
                  icon="trash"
                  of={nameOf(rule)}
                  inMenu
                  tone="bad"
                  title={`Remove ${nameOf(rule)}?`}
                  done="The rule is being removed"
                  confirm={{
                    keep: 'Keep rule',
                    consequences: [`It is removed from every server that uses ${f.name}.`],
                  }}
                />
              </Menu>
            ),
          },
        ]}
      />
    ) : (
      <p class="words muted">No rules yet: it has no effect on servers.</p>
    )}
  </Section>
)

const Buttons = ({ of: f }: { of: Firewall }) => (
  <>
    <Action
      op={addSharedRule}
      params={{ id: f.id }}
      label="Add rule"
      icon="plus"
      of={`to ${f.name}`}
      small
      title={`Add a rule to ${f.name}`}
      done="The rule is being loaded"
      fields={<RuleFields scope={f.id} />}
    />
    <Menu label={`Actions for ${f.name}`} small>
      <RenameEntry op={changeSharedFirewall} of={f} />
      <RemoveEntry
        op={removeFirewall}
        of={f}
        keep="Keep firewall"
        consequences={['Its rules are deleted.']}
        disabledReason={f.serverIds.length > 0 && 'Servers use it. Take it off on their network pages first.'}
      />
    </Menu>
  </>
)
