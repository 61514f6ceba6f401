// The notices of the reader, and the choice of those that also come by mail.
import { getNoticeMails, listNotices, readNotices, setNoticeMails } from '../../../src/identity/notices/notices.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Moment } from '../../components/time.tsx'

const reads = { notices: listNotices, mails: getNoticeMails }
type Data = Answers<typeof reads>
type Notice = Data['notices']['data'][number]

export const notificationsPage = page({
  path: '/account/notifications',
  reads,
  title: 'Notifications',
  nav: 'notices',
  view: (data) => <NotificationsPage {...data} />,
})

function NotificationsPage({ notices, mails }: Data) {
  const isAnyUnread = notices.data.some((notice) => !notice.readAt)
  return (
    <>
      <Head
        title="Notifications"
        actions={isAnyUnread && <MarkRead newest={notices.data[0]!.id} />}
        sub={<p>Kept for 90 days. Messages about signing in come by mail only.</p>}
      />
      <Section id="notices" title="Notices" quiet flush first>
        <List
          of={notices}
          noun="notice"
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
          <NoticeTable of={notices.data} />
        </List>
      </Section>
      <Mails of={mails.kinds} />
    </>
  )
}

/** Up to the newest one that the reader has seen: one that arrives meanwhile stays unread. */
const MarkRead = ({ newest }: { newest: string }) => (
  <Action op={readNotices} body={{ upTo: newest }} done="Marked as read" label="Mark all as read" icon="check" />
)

const NoticeTable = ({ of: rows }: { of: readonly Notice[] }) => (
  <Table
    label="Notices"
    rows={rows}
    idOf={(notice) => notice.id}
    flow
    columns={[
      {
        title: 'Notice',
        kind: 'name',
        width: 76,
        cell: (notice) => (
          <>
            <a href={notice.href}>{notice.readAt ? notice.subject : <b>{notice.subject}</b>}</a>
            {!notice.readAt && <span class="sr"> (unread)</span>}
            <p class="muted">{notice.words.replaceAll('\n', ' ')}</p>
          </>
        ),
      },
      { title: 'When', kind: 'addr', width: 24, cell: (notice) => <Moment iso={notice.createdAt} /> },
    ]}
  />
)

const Mails = ({ of: kinds }: { of: Data['mails']['kinds'] }) => {
  const [optional, always] = [kinds.filter((k) => k.mayTurnOff), kinds.filter((k) => !k.mayTurnOff)]
  return (
    <Section id="mails" title="By mail">
      <div class="stack">
        {useAt().may(setNoticeMails) && optional.length > 0 && (
          <CallForm op={setNoticeMails} done="Saved" leadsTo="/account/notifications" class="stack">
            <Checks
              scope="mails"
              name="kinds"
              label="Mail me when"
              values={optional.filter(({ mail }) => mail).map(({ kind }) => kind)}
              options={optional.map(({ kind, when }) => ({ value: kind, label: when }))}
            />
            <div class="bar">
              <button class="btn pri">Save</button>
            </div>
          </CallForm>
        )}
        {always.length > 0 && (
          <div>
            <p class="muted">You always get a mail when</p>
            <ul class="will muted">
              {always.map(({ when }) => (
                <li>{when}</li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Section>
  )
}
