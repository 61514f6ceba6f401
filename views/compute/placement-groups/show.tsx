import { listInstances } from '../../../src/compute/gpu-instances/list.ts'
import { placementGroup } from '../../../src/compute/ordered-group.ts'
import { changeGroup, getGroup, removeGroup } from '../../../src/compute/placement-groups/groups.ts'
import { addInstance, takeOutInstance } from '../../../src/compute/placement-groups/instances.ts'
import { addToGroup, takeOutOfGroup } from '../../../src/compute/placement-groups/members.ts'
import { mendGroup } from '../../../src/compute/placement-groups/mend.ts'
import { listServers } from '../../../src/compute/servers/list.ts'
import { type Answers, ifAllowed } from '../../../src/kernel/web/page.ts'
import { inContext, useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu, RemoveEntry } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { narrowed } from '../workloads/frame.tsx'
import { GroupState } from './list.tsx'
import { type Group, GroupFields, ruleWords } from './words.tsx'

const reads = {
  group: getGroup,
  servers: ifAllowed(listServers, () => ({ query: { limit: '100' } })),
  instances: ifAllowed(listInstances, () => ({ query: { limit: '100' } })),
}
type Data = Answers<typeof reads>
type Servers = NonNullable<Data['servers']>['data']
type Member = Group['members'][number]

export const placementGroupPages = inEveryArea({
  path: '/placement-groups/{id}',
  reads,
  title: ({ group }) => group.name,
  nav: 'placement-groups',
  view: (data, area) => <GroupPage {...data} area={area} />,
})

/** Buttons are drawn by the rights on this group. */
function GroupPage({ group, servers, instances, area }: Data & { area: Area }) {
  const context = usePageContext()
  return inContext(
    { ...context, at: narrowed(context.at, placementGroup, group) },
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
        actions={<Actions of={group} servers={servers?.data ?? []} instances={instances?.data ?? []} />}
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
    </Live>,
  )
}

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
        useAt().may(mendGroup) && (
          <>
            <Action
              op={mendGroup}
              params={{ id: group.id }}
              body={{ serverId: suggestion.server.id, nodeId: suggestion.to.id }}
              label="Move it"
              title={`Move ${suggestion.server.hostname} to ${suggestion.to.name}?`}
              submit="Move"
              done={`The move of ${suggestion.server.hostname} has begun`}
              confirm={{
                keep: 'Leave it',
                consequences: [
                  `Then ${group.name} is kept, or nearer to it.`,
                  'It moves with its memory where nothing speaks against it, else with a short stop.',
                ],
              }}
            />{' '}
            <Link class="btn" to="/admin/servers/{id}/move" params={{ id: suggestion.server.id }}>
              Look at the move
            </Link>
          </>
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
    cell: ({ server, kind }) => (
      <Link href={`${area}/${kind === 'server' ? 'servers' : 'gpu-instances'}/${server.id}`}>{server.hostname}</Link>
    ),
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
    cell: ({ server, kind }) => (
      <Menu label={`Actions for ${server.hostname}`} small>
        <Action
          {...(kind === 'server'
            ? { op: takeOutOfGroup, params: { id: group.id, serverId: server.id } }
            : { op: takeOutInstance, params: { id: group.id, instanceId: server.id } })}
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

type Instances = NonNullable<Data['instances']>['data']
function Actions({ of: group, servers, instances }: { of: Group; servers: Servers; instances: Instances }) {
  const outside = servers.filter(
    ({ id, owner }) => owner.id === group.owner.id && !group.members.some(({ server }) => server.id === id),
  )
  const others = instances.filter(
    ({ id, owner }) => owner.id === group.owner.id && !group.members.some(({ server }) => server.id === id),
  )
  return (
    <>
      {others.length > 0 && (
        <Action
          op={addInstance}
          params={{ id: group.id }}
          label="Add GPU instance"
          icon="gpu"
          title={`Add a GPU instance to ${group.name}`}
          submit="Add to group"
          done="The GPU instance is in the group"
          fields={
            <Select
              scope="instance"
              name="instanceId"
              label="GPU instance"
              value={others[0]?.id ?? ''}
              options={others.map(({ id, name }) => ({ value: id, label: name }))}
              hint="It stays on its host; servers of the group keep the rule with it."
            />
          }
        />
      )}
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
