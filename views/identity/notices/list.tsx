// The notices of the reader, and how each kind of them comes.
import { chooseNoticeLocations, chooseNotices, getNoticeChoices } from '../../../src/identity/notices/choices.ts'
import { listNotices, readNotices } from '../../../src/identity/notices/notices.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Head } from '../../components/head.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { list } from '../../components/words.ts'

const reads = { notices: listNotices, choices: getNoticeChoices }
type Data = Answers<typeof reads>
type Notice = Data['notices']['data'][number]

export const notificationsPage = page({
  path: '/account/notifications',
  reads,
  title: 'Notices',
  nav: 'notices',
  view: (data) => <NotificationsPage {...data} />,
})

function NotificationsPage({ notices, choices }: Data) {
  const isAnyUnread = notices.data.some((notice) => !notice.readAt)
  return (
    <>
      <Head
        title="Notices"
        actions={isAnyUnread && <MarkRead newest={notices.data[0]!.id} />}
        sub={<p>Kept for 90 days. Messages about signing in come by mail only.</p>}
      />
      <Section id="notices" title="All notices" quiet flush first>
        <List
          of={notices}
          noun="notice"
          every={15}
          filters={[
            {
              name: 'unread',
              label: 'Shown',
              options: [
                ['', 'All'],
                ['true', 'Unread'],
              ],
            },
          ]}
          empty={
            <Empty title="No notices yet">When something happens that you should know about, it appears here.</Empty>
          }
          emptyWhenFiltered="You have read all notices."
        >
          <NoticeRows of={notices.data} />
        </List>
      </Section>
      <Told of={choices} />
    </>
  )
}

/** Up to the newest one that the reader has seen: one that arrives meanwhile stays unread. */
const MarkRead = ({ newest }: { newest: string }) => (
  <Action op={readNotices} body={{ upTo: newest }} done="Marked as read" label="Mark all as read" icon="check" />
)

/** The icons of notices about states of nodes; every other one is told by its words. */
const icons: Readonly<Record<string, IconName>> = {
  node_away: 'unplug',
  storage_nearly_full: 'disk',
  webhook_paused: 'webhook',
  webhook_overflow: 'webhook',
  roll_out_stopped: 'undo',
}
/** A state that goes on is red, one that is over green. */
const NoticeIcon = ({ of: { kind, isState, overAt } }: { of: Notice }) => (
  <Icon
    name={overAt ? 'check' : (icons[kind] ?? 'bell')}
    class={overAt ? 'ok' : !isState ? 'muted' : kind === 'node_away' ? 'bad' : 'warn'}
  />
)

const NoticeRows = ({ of: rows }: { of: readonly Notice[] }) => (
  <div class="flush">
    <ul class="rows wrap">
      {rows.map((notice) => (
        <li class={notice.kind === 'node_away' && !notice.overAt ? 'soft bad' : undefined}>
          <NoticeIcon of={notice} />
          <div class="grow">
            <a href={notice.href}>{notice.readAt ? notice.subject : <b>{notice.subject}</b>}</a>
            {!notice.readAt && <span class="sr"> (unread)</span>}
            <small>
              {notice.words.replaceAll('\n', ' ')}
              {notice.overAt && (
                <>
                  {' '}
                  Over <Time iso={notice.overAt} />.
                </>
              )}
            </small>
          </div>
          <span class="end muted">
            <Time iso={notice.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  </div>
)

type Choices = Data['choices']
type Kind = Choices['kinds'][number]

const Told = ({ of: { kinds, locations } }: { of: Choices }) => {
  const [optional, always] = [kinds.filter((k) => k.mayTurnOff), kinds.filter((k) => !k.mayTurnOff)]
  const mayChoose = useAt().may(chooseNotices)
  return (
    <Section id="told" title="What I am told" flush>
      {mayChoose && optional.length > 0 && (
        <>
          <CallForm op={chooseNotices} done="Saved" leadsTo="/account/notifications" id="told-kinds">
            <div data-list="inPanel" />
            <div data-list="byMail" />
            <KindTable of={optional} locations={locations} />
            <div class="bar sec">
              <button class="btn pri">Save</button>
            </div>
          </CallForm>
          <LocationDialogs of={optional} locations={locations} />
        </>
      )}
      {always.length > 0 && (
        <div class="sec">
          <p class="muted">You are always told, here and by mail, when</p>
          <ul class="will muted">
            {always.map(({ when }) => (
              <li>{when}</li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  )
}

const sentenceOf = ({ when }: Kind) => when.replace(/^./, (first) => first.toUpperCase())

/** A row of choices is not a row that is picked: its boxes do not tint it, as those of `.tickbox` alone would. */
const Tick = ({ of, name, label }: { of: Kind; name: 'inPanel' | 'byMail'; label: string }) => (
  <span class="tickbox">
    <span>
      <input
        type="checkbox"
        id={`${name}-${of.kind}`}
        name={name}
        value={of.kind}
        data-as="list"
        checked={of[name]}
        aria-label={`${label}: ${of.when}`}
      />
    </span>
  </span>
)

function KindTable({ of: kinds, locations }: { of: readonly Kind[]; locations: Choices['locations'] }) {
  const isAnyByLocation = kinds.some(({ byLocation }) => byLocation)
  const columns: (Column<Kind> | false)[] = [
    { title: 'Tell me when', kind: 'name', width: 52, cell: (k) => <b title={k.when}>{sentenceOf(k)}</b> },
    { title: 'Here', width: 12, cell: (k) => <Tick of={k} name="inPanel" label="Here" /> },
    { title: 'Mail', width: 12, cell: (k) => <Tick of={k} name="byMail" label="By mail" /> },
    isAnyByLocation && {
      title: 'Where',
      width: 24,
      cell: (k) => k.byLocation && <Where of={k} locations={locations} />,
    },
  ]
  return (
    <Table label="What I am told" rows={kinds} columns={columns.filter((c): c is Column<Kind> => c !== false)} flow />
  )
}

const dialogOf = ({ kind }: Kind) => `where-${kind}`

/** The button stands in the form of all kinds, and so its dialog stands outside of it. */
const Where = ({ of: k, locations }: { of: Kind; locations: Choices['locations'] }) => (
  <button type="button" class="btn bare s" data-dialog={dialogOf(k)} aria-haspopup="dialog">
    {k.locationIds.length ? list(namesOf(k, locations)) : 'Everywhere'}
    <span class="sr">, when {k.when}</span>
  </button>
)
const namesOf = ({ locationIds }: Kind, locations: Choices['locations']) =>
  locations.filter(({ id }) => locationIds.includes(id)).map(({ name }) => name)

const LocationDialogs = ({ of: kinds, locations }: { of: readonly Kind[]; locations: Choices['locations'] }) => (
  <>
    {kinds
      .filter(({ byLocation }) => byLocation)
      .map((k) => (
        <dialog id={dialogOf(k)} aria-labelledby={`${dialogOf(k)}-t`}>
          <CallForm op={chooseNoticeLocations} body={{ kind: k.kind }} done="Saved">
            <h2 id={`${dialogOf(k)}-t`}>In which locations</h2>
            <p class="muted">{`When ${k.when}.`}</p>
            <Checks
              scope={dialogOf(k)}
              name="locationIds"
              label="Locations"
              hint="With none ticked it is about all of them, also later ones."
              values={k.locationIds}
              options={locations.map(({ id, name }) => ({ value: id, label: name }))}
            />
            <div class="bar end">
              <button type="button" class="btn" data-close="">
                Cancel
              </button>
              <button class="btn pri">Save</button>
            </div>
          </CallForm>
        </dialog>
      ))}
  </>
)
