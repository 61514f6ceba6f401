import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  removeAnnouncement,
} from '../../../src/platform/announcements/announcements.ts'
import { audiences } from '../../../src/platform/announcements/model.ts'
import { Action, Menu } from '../../components/action.tsx'
import { Field, Select, TextArea } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'

type Announcement = Answers<{ a: typeof listAllAnnouncements }>['a']['data'][number]

const audienceNames = { everybody: 'Everyone', customers: 'Customers', resellers: 'Resellers', staff: 'Staff' } as const
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
      <List of={announcements} noun="announcement" empty={<Empty>There are no announcements yet.</Empty>}>
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
  { title: 'For', cell: (a) => audienceNames[a.audience] },
  { title: 'From', cell: (a) => <Exact iso={a.startsAt} /> },
  { title: 'Until', cell: (a) => (a.endsAt ? <Exact iso={a.endsAt} /> : 'No end') },
  { title: 'Actions', kind: 'more', cell: (a) => <AnnouncementMenu of={a} /> },
]

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

/** Nothing for readers who may only look. */
const AnnouncementMenu = ({ of: a }: { of: Announcement }) =>
  useAt().may(changeAnnouncement) ? (
    <Menu label={`Actions for ${startOf(a.text)}`} small>
      <Action
        op={changeAnnouncement}
        params={{ id: a.id }}
        label="Edit"
        of={startOf(a.text)}
        inMenu
        title="Edit announcement"
        submit="Save"
        done="Saved"
        wide
        fields={<AnnouncementFields scope={`edit-${a.id}`} of={a} />}
      />
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

/** As the field of a browser takes it, in UTC. */
const minuteOf = (iso: string | null | undefined) => iso?.slice(0, 16)

const AnnouncementFields = ({ scope, of: a }: { scope: string; of?: Announcement }) => (
  <>
    <TextArea
      scope={scope}
      name="text"
      label="Text"
      required
      rows={3}
      value={a?.text}
      hint="What happens, who is affected, and from when to when. Up to 500 characters on one line."
    />
    <div class="pair">
      <Select
        scope={scope}
        name="audience"
        label="For"
        value={a?.audience ?? 'everybody'}
        options={audiences.map((value) => ({ value, label: audienceNames[value] }))}
      />
      <Select
        scope={scope}
        name="level"
        label="Kind"
        value={a?.level ?? 'info'}
        options={Object.entries(levels).map(([value, label]) => ({ value, label }))}
      />
    </div>
    <div class="pair">
      <Field
        scope={scope}
        name="startsAt"
        label="From (UTC)"
        as="utc"
        type="datetime-local"
        value={minuteOf(a?.startsAt)}
        hint={!a && 'Leave empty to start now.'}
      />
      <Field
        scope={scope}
        name="endsAt"
        label="Until (UTC)"
        as="utc"
        nullable
        type="datetime-local"
        value={minuteOf(a?.endsAt)}
        hint={!a && 'Leave empty to show it until it is removed.'}
      />
    </div>
  </>
)
