import { changeGroup, getGroup, removeGroup } from '../../../src/compute/placement-groups/groups.ts'
import { addToGroup, takeOutOfGroup } from '../../../src/compute/placement-groups/members.ts'
import { listServers } from '../../../src/compute/servers/list.ts'
import { moveServer } from '../../../src/compute/transfers/move.ts'
import { type Answers, ifAllowed } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu, RemoveEntry } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { GroupState } from './list.tsx'
import { type Group, GroupFields, ruleWords } from './words.tsx'

const reads = {
  group: getGroup,
  servers: ifAllowed(listServers, () => ({ query: { limit: '100' } })),
}
type Data = Answers<typeof reads>
type Servers = NonNullable<Data['servers']>['data']
type Member = Group['members'][number]

export const placementGroupPages = inEveryArea({
  path: '/placement-groups/{id}',
  reads,
  title: ({ group }) => group.name,
  nav: 'placement-groups',
  view: ({ group, servers }, area) => (
    <Live id="group" every={4}>
      <Head
        title={group.name}
        trail={[['Placement groups', `${area}/placement-groups`]]}
        state={<GroupState of={group} tag />}
        sub={
          <>
            <span>{ruleWords(group)}</span>
            {area !== '' && <span>of {group.owner.name}</span>}
          </>
        }
        actions={<Actions of={group} servers={servers?.data ?? []} />}
      />
      {group.violation !== null && <Violation of={group} area={area} />}
      <Section id="members" title="Servers" flush first>
        {group.members.length ? (
          <Table
            label="Servers"
            rows={group.members}
            idOf={({ server }) => server.id}
            columns={columnsFor(group, area)}
          />
        ) : (
          <Empty>No servers yet. Put one into it, or choose the group in an order.</Empty>
        )}
      </Section>
    </Live>
  ),
})

/** Staff see the move that mends it; others are told whom to ask. */
function Violation({ of: group, area }: { of: Group; area: Area }) {
  const { suggestion } = group
  const next =
    area === '/admin'
      ? suggestion
        ? `Move ${suggestion.server.hostname} to ${suggestion.to.name}.`
        : 'No node with room would keep the rule.'
      : 'Your provider can move a server.'
  return (
    <Note
      level="warn"
      action={
        suggestion &&
        useAt().may(moveServer) && (
          <Link class="btn" to="/admin/servers/{id}/move" params={{ id: suggestion.server.id }}>
            Look at the move
          </Link>
        )
      }
    >
      <strong>{group.violation}</strong>
      <br />
      {next}
    </Note>
  )
}

const columnsFor = (group: Group, area: Area): Column<Member>[] => [
  {
    title: 'Server',
    kind: 'name',
    width: 30,
    cell: ({ server }) => <Link href={`${area}/servers/${server.id}`}>{server.hostname}</Link>,
  },
  { title: 'Location', kind: 'a', width: 22, cell: ({ location }) => location.name },
  ...(area === '/admin'
    ? [{ title: 'Node', kind: 'mid', width: 20, cell: ({ node }: Member) => node?.name ?? '' } as const]
    : []),
  {
    title: 'State',
    kind: 'state',
    width: 20,
    cell: ({ misplaced }) =>
      misplaced ? (
        <State tone="warn" shape="fail">
          {group.policy === 'affinity' ? 'Elsewhere' : 'Shares'}
        </State>
      ) : (
        <State tone="ok" shape="tick">
          As wanted
        </State>
      ),
  },
  {
    title: 'Actions',
    kind: 'more',
    cell: ({ server }) => (
      <Menu label={`Actions for ${server.hostname}`} small>
        <Action
          op={takeOutOfGroup}
          params={{ id: group.id, serverId: server.id }}
          label="Take out"
          of={server.hostname}
          icon="unplug"
          inMenu
          title={`Take ${server.hostname} out of ${group.name}?`}
          submit="Take out"
          done={`${server.hostname} is in no group`}
          confirm={{ keep: 'Keep it in', consequences: ['It stays where it is, and the rule no longer holds for it.'] }}
        />
      </Menu>
    ),
  },
]

function Actions({ of: group, servers }: { of: Group; servers: Servers }) {
  const outside = servers.filter(
    ({ id, owner }) => owner.id === group.owner.id && !group.members.some(({ server }) => server.id === id),
  )
  return (
    <>
      <Action
        op={addToGroup}
        params={{ id: group.id }}
        label="Add server"
        icon="plus"
        title={`Add a server to ${group.name}`}
        submit="Add to group"
        disabledReason={outside.length === 0 && `There is no other server of ${group.owner.name}.`}
        done="The server is in the group"
        fields={
          <Select
            scope="group"
            name="serverId"
            label="Server"
            value={outside[0]?.id ?? ''}
            options={outside.map(({ id, name }) => ({ value: id, label: name }))}
            hint="It stays where it is. If that breaks the rule, this page says so."
          />
        }
      />
      <Menu label={`Actions for ${group.name}`}>
        <EditEntry op={changeGroup} of={group} label="Edit" fields={<GroupFields scope="edit" of={group} />} />
        <RemoveEntry
          op={removeGroup}
          of={group}
          keep="Keep group"
          consequences={['Its servers stay where they are, and no rule holds for them.']}
        />
      </Menu>
    </>
  )
}
