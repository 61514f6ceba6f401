// Messages to owners of servers: the list, and the page on which one is begun for a choice of servers.
import { isIP } from 'node:net'
import { minuteText } from '../../../src/kernel/db/clock.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { createMessage, listMessages } from '../../../src/platform/messages/messages.ts'
import { reportWords, templates } from '../../../src/platform/messages/words.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'

type Listed = Answers<{ m: typeof listMessages }>['m']
export type Message = Listed['data'][number]

const states: Record<Message['state'], { words: string; tone: Tone; shape: IconName }> = {
  draft: { words: 'Draft', tone: 'warn', shape: 'wait' },
  scheduled: { words: 'Scheduled', tone: 'idle', shape: 'wait' },
  sending: { words: 'Being sent', tone: 'work', shape: 'work' },
  sent: { words: 'Sent', tone: 'ok', shape: 'tick' },
  cancelled: { words: 'Stopped', tone: 'idle', shape: 'stop' },
}
export const MessageState = ({ of, tag }: { of: Pick<Message, 'state'>; tag?: boolean }) => {
  const { words, tone, shape } = states[of.state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}

const TemplateField = () => (
  <Select
    scope="new"
    name="template"
    label="Template"
    value="empty"
    options={Object.entries(templates).map(([value, { title }]) => ({ value, label: title }))}
  />
)

export const messagesPage = page({
  path: '/admin/messages',
  reads: { messages: listMessages },
  title: 'Messages',
  nav: 'messages',
  view: ({ messages }) => (
    <>
      <Head
        title="Messages"
        sub={<span>Mail to the owners of servers, each owner once.</span>}
        actions={
          <Action
            op={createMessage}
            label="New message"
            icon="plus"
            tone="pri"
            fields={<TemplateField />}
            submit="Begin"
            leadsTo="/admin/messages/{id}"
          />
        }
      />
      <List
        of={messages}
        noun="message"
        empty={
          <Empty title="No messages yet">
            A message goes to the owners of servers on a node, in a location, with a package, an address pool or a
            label.
          </Empty>
        }
      >
        <Table label="Messages" rows={messages.data} columns={columns} idOf={({ id }) => id} />
      </List>
    </>
  ),
})

const columns = [
  {
    title: 'Subject',
    kind: 'name' as const,
    width: 40,
    cell: ({ id, subject }: Message) => <Link href={`/admin/messages/${id}`}>{subject || 'No subject yet'}</Link>,
  },
  { title: 'State', kind: 'state' as const, width: 18, cell: (one: Message) => <MessageState of={one} /> },
  {
    title: 'Sent',
    kind: 'addr' as const,
    width: 20,
    cell: ({ counts, state }: Message) =>
      state === 'draft' || state === 'scheduled' ? '–' : count(counts.sent, 'recipient'),
  },
  {
    title: 'Changed',
    kind: 'a' as const,
    width: 22,
    cell: ({ changedAt, writtenBy }: Message) => (
      <>
        <Time iso={changedAt} />
        <small>{writtenBy.name}</small>
      </>
    ),
  },
]

/** The filters of a list of servers that an audience knows too. */
const kept = ['nodeId', 'locationId', 'packageId', 'ipPoolId', 'label', 'resellerId']

export const newMessagePage = page({
  path: '/admin/messages/new',
  reads: {},
  title: 'New message',
  nav: 'messages',
  view: () => <NewMessage />,
})

function NewMessage() {
  const { query } = useAt()
  const serverIds = query['ids']?.split(',')
  const { accountId, address, at } = query
  const audience = accountId
    ? { accountId, ...(serverIds && { serverIds }) }
    : serverIds
      ? { serverIds }
      : Object.fromEntries(kept.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
  const moment = Date.parse(at ?? '')
  const report =
    address && isIP(address)
      ? reportWords(address, Number.isNaN(moment) ? null : minuteText(moment), { hasServer: !!serverIds })
      : undefined
  return (
    <>
      <Head title="New message" trail={[['Messages', '/admin/messages']]} />
      <CallForm
        op={createMessage}
        body={{ audience, ...report }}
        leadsTo="/admin/messages/{id}"
        class="stack narrow sec"
      >
        <p>
          {accountId
            ? 'It goes to the owner alone, or to the reseller of that owner. You can change its words next.'
            : serverIds
              ? `It goes to the owners of ${count(serverIds.length, 'server')}.`
              : 'It goes to the owners of the servers that the filters leave. You can change that next.'}
        </p>
        {report ? <p class="muted">{report.subject}</p> : <TemplateField />}
        <div class="bar">
          <button class="btn pri">Begin</button>
        </div>
      </CallForm>
    </>
  )
}
