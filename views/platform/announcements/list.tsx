import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  removeAnnouncement,
} from '../../../src/platform/announcements/announcements.ts'
import { type Audience, audiences } from '../../../src/platform/announcements/model.ts'
import { Action, Edit, Menu } from '../../components/action.tsx'
import { Check, MomentField, Select, TextArea } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'

type Announcement = Answers<{ a: typeof listAllAnnouncements }>['a']['data'][number]

const audienceNames = { everybody: 'Everyone', customers: 'Customers', resellers: 'Resellers', staff: 'Staff' } as const
/** Announcements about a node are not for staff. */
const ofNodeNames = { ...audienceNames, everybody: 'Customers and resellers' } as const
/** Only they have servers. */
const ofNode = ['everybody', 'customers', 'resellers'] as const
const levels = { info: 'Information', warn: 'Warning', bad: 'Outage' } as const

export const announcementsPage = page({
  path: '/admin/announcements',
  reads: { announcements: listAllAnnouncements },
  title: 'Announcements',
  nav: 'announcements',
  view: ({ announcements }) => (
    <>
      <Head
        title="Announcements"
        sub={<span>Shown on the overview page of the people they are for.</span>}
        actions={<NewAnnouncement />}
      />
      <List
        of={announcements}
        noun="announcement"
        empty={
          <Empty title="No announcements yet">An announcement stands on the first page of everyone it is for.</Empty>
        }
      >
        <Table label="Announcements" rows={announcements.data} columns={columns} idOf={(a) => a.id} flow />
      </List>
    </>
  ),
})

const columns: readonly Column<Announcement>[] = [
  {
    title: 'Text',
    kind: 'name',
    cell: (a) => (
      <>
        {a.text}
        <small>{levels[a.level]}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', cell: (a) => <Shown of={a} /> },
  { title: 'For', width: 16, cell: (a) => <Readers of={a} /> },
  { title: 'From', cell: (a) => <Exact iso={a.startsAt} /> },
  { title: 'Until', cell: (a) => (a.endsAt ? <Exact iso={a.endsAt} /> : 'No end') },
  { title: 'Actions', kind: 'more', cell: (a) => <AnnouncementMenu of={a} /> },
]

const Readers = ({ of: { audience, node, untilConnected } }: { of: Announcement }) =>
  node ? (
    <>
      {ofNodeNames[audience]} with servers on{' '}
      <Link to="/admin/nodes/{id}" params={{ id: node.id }}>
        {node.name}
      </Link>
      {untilConnected && <small>Ends when the node is connected again</small>}
    </>
  ) : (
    audienceNames[audience]
  )

function Shown({ of: a }: { of: Announcement }) {
  const { now } = useAt()
  if (Date.parse(a.startsAt) > now)
    return (
      <State tone="idle" shape="wait">
        Scheduled
      </State>
    )
  if (a.endsAt && Date.parse(a.endsAt) <= now)
    return (
      <State tone="idle" shape="tick">
        Ended
      </State>
    )
  return (
    <State tone="ok" shape="dot">
      Shown
    </State>
  )
}

const NewAnnouncement = () => (
  <Action
    op={createAnnouncement}
    label="New announcement"
    icon="plus"
    tone="pri"
    wide
    submit="Publish"
    done="Published"
    fields={<AnnouncementFields scope="announce" />}
  />
)

const startOf = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** Only while it is shown: without an end, or with one to come. */
function EndNow({ of: a }: { of: Announcement }) {
  const { now } = useAt()
  if (Date.parse(a.startsAt) >= now || (a.endsAt && Date.parse(a.endsAt) <= now)) return null
  return (
    <Action
      op={changeAnnouncement}
      params={{ id: a.id }}
      label="End now"
      of={startOf(a.text)}
      inMenu
      body={{ endsAt: new Date(now).toISOString() }}
      done="Ended"
    />
  )
}

/** Nothing for readers who may only look. */
const AnnouncementMenu = ({ of: a }: { of: Announcement }) =>
  useAt().may(changeAnnouncement) ? (
    <Menu label={`Actions for ${startOf(a.text)}`} small>
      <Edit
        op={changeAnnouncement}
        params={{ id: a.id }}
        label="Edit"
        of={startOf(a.text)}
        inMenu
        title="Edit announcement"
        wide
        fields={<AnnouncementFields scope={`edit-${a.id}`} of={a} audiences={a.node ? ofNode : audiences} />}
      />
      <EndNow of={a} />
      <Action
        op={removeAnnouncement}
        params={{ id: a.id }}
        label="Remove"
        of={startOf(a.text)}
        inMenu
        tone="bad"
        title="Remove this announcement?"
        done="Removed"
        confirm={{ keep: 'Keep it', consequences: [`“${a.text}” is no longer shown.`] }}
      />
    </Menu>
  ) : null

type NodeProps = { node: { id: string; name: string; connected: boolean; location: { name: string } } }
/** For the page of a node: to those with servers on it, with the text prepared. */
export const AnnounceOnNode = ({ node: n, inMenu }: NodeProps & { inMenu?: boolean }) => (
  <Action
    op={createAnnouncement}
    part="node"
    label="Announce to them"
    inMenu={inMenu}
    title={`Announcement to customers with servers on ${n.name}`}
    submit="Publish"
    done="Published"
    wide
    body={{ nodeId: n.id }}
    fields={
      <>
        <p class="muted">
          Customers with a server on this node read it on their overview page, and so do their resellers. It does not
          name the node.
        </p>
        <AnnouncementFields scope={`node-${n.id}`} prepared={preparedFor(n)} audiences={ofNode} />
        {!n.connected && (
          <Check scope={`node-${n.id}`} name="untilConnected" label="End it when the node is connected again" checked />
        )}
      </>
    }
  />
)
const preparedFor = ({ connected, location }: NodeProps['node']) =>
  connected
    ? {
        text:
          `We will carry out maintenance on one of our hosts in ${location.name}. Your servers on it will ` +
          'restart once.',
        level: 'warn',
      }
    : {
        text:
          `One of our hosts in ${location.name} cannot be reached at the moment. Your servers on it may be ` +
          'unavailable, and you cannot change them until it is back. We are working on it.',
        level: 'bad',
      }

type FieldsProps = {
  scope: string
  of?: Announcement
  prepared?: { text: string; level: string }
  audiences?: readonly Audience[]
}
const AnnouncementFields = ({ scope, of: a, prepared, audiences: offered = audiences }: FieldsProps) => (
  <>
    <TextArea
      scope={scope}
      name="text"
      label="Text"
      required
      rows={3}
      value={a?.text ?? prepared?.text}
      hint="What happens, who is affected, and from when to when. Up to 500 characters on one line."
    />
    <div class="pair">
      <Select
        scope={scope}
        name="audience"
        label="For"
        value={a?.audience ?? 'everybody'}
        options={offered.map((value) => ({ value, label: (offered === ofNode ? ofNodeNames : audienceNames)[value] }))}
      />
      <Select
        scope={scope}
        name="level"
        label="Kind"
        value={a?.level ?? prepared?.level ?? 'info'}
        options={Object.entries(levels).map(([value, label]) => ({ value, label }))}
      />
    </div>
    <div class="pair">
      <MomentField
        scope={scope}
        name="startsAt"
        label="From"
        iso={a?.startsAt}
        hint={!a && 'Leave empty to start now.'}
      />
      <MomentField
        scope={scope}
        name="endsAt"
        label="Until"
        nullable
        iso={a?.endsAt}
        hint={!a && 'Leave empty to show it until it is removed.'}
      />
    </div>
  </>
)
