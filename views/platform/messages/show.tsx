// A message: its draft with a preview as its recipients read it, and how it went for each once it is sent.
import type { AssetName } from '../../../public/assets.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import {
  cancelMessage,
  changeDraft,
  getMessage,
  listRecipients,
  previewMessage,
  removeDraft,
  sendMessage,
  testMessage,
} from '../../../src/platform/messages/messages.ts'
import { placeholders } from '../../../src/platform/messages/words.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Check, Field, MomentField, TextArea } from '../../components/field.tsx'
import { type ChoiceKind, type Choices, Chooser, choicesOf, chooserFiles } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Pager, PagerButtons, rangeOf, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { MessageState } from './list.tsx'

const reads = {
  message: reading(getMessage, ({ params }: At) => ({ params })),
  recipients: reading(listRecipients, ({ params, query: { number: _, ...query } }: At) => ({ params, query })),
  preview: reading(previewMessage, ({ params, query }: At) => ({
    params,
    query: { number: query['number'] ?? '1' },
  })),
  // Outside of live parts: only a draft has the fields, and the names of what it has chosen it has itself.
  nodes: choicesOf('node'),
  locations: choicesOf('location'),
  packages: choicesOf('package'),
  pools: choicesOf('address pool'),
}
type Data = Answers<typeof reads>
type Message = Data['message']
type Recipient = Data['recipients']['data'][number]

export const messagePage = page({
  path: '/admin/messages/{id}',
  reads,
  title: ({ message }) => message.subject || 'New message',
  nav: 'messages',
  files: ['moves.css', ...chooserFiles] satisfies AssetName[],
  view: (data) => (data.message.state === 'draft' ? <Draft {...data} /> : <Outcome {...data} />),
})

function Draft(data: Data) {
  const { message, recipients, preview } = data
  return (
    <>
      <Head
        title={message.subject || 'New message'}
        trail={[['Messages', '/admin/messages']]}
        state={<MessageState of={message} tag />}
        sub={
          <span>
            saved <Time iso={message.changedAt} />
          </span>
        }
        actions={<DraftActions message={message} />}
      />
      <div class="split">
        <div>
          <CallForm op={changeDraft} params={{ id: message.id }} whenChosen>
            <To {...data} />
            <Words message={message} />
          </CallForm>
        </div>
        <div>
          <Preview of={preview} />
          <Steps message={message} />
        </div>
      </div>
      <Recipients of={recipients} title="Who gets it" />
    </>
  )
}

function DraftActions({ message }: { message: Message }) {
  const params = { id: message.id }
  const { recipients } = message.counts
  const cannot =
    (!message.subject.trim() && 'It has no subject yet.') ||
    (!message.text.trim() && 'It has no text yet.') ||
    (message.unknownNames.length > 0 && `Nothing fills {${message.unknownNames[0]}}.`) ||
    (message.namesWithoutTime.length > 0 && `{${message.namesWithoutTime[0]}} needs the time of the work.`) ||
    ((message.workStartsAt === null) !== (message.workEndsAt === null) && 'The work has only one of its two times.')
  return (
    <>
      <Action
        op={removeDraft}
        params={params}
        label="Remove"
        title="Remove this draft?"
        leadsTo="/admin/messages"
        confirm={{ keep: 'Keep it', consequences: ['Nobody has got it.'] }}
      />
      <Action
        op={testMessage}
        params={params}
        label="Send a test to me"
        icon="mail"
        done="A test is on its way to {email}"
        disabledReason={cannot}
      />
      <Action
        op={sendMessage}
        params={params}
        body={{ expected: recipients }}
        label={`Send to ${count(recipients, 'customer')}…`}
        icon="notice"
        tone="pri"
        title={`Send it to ${count(recipients, 'customer')}?`}
        submit="Send"
        done="It is being sent"
        disabledReason={cannot || (!recipients && 'It reaches nobody.')}
        confirm={{
          keep: 'Not yet',
          consequences: [
            `${count(recipients, 'customer')} with ${count(message.counts.servers, 'server')} get it, each once.`,
            message.isService
              ? 'It is about their servers: nobody can turn it off.'
              : 'It has a link to get no more news.',
            !message.testedAt && 'No test of this text was sent.',
          ],
        }}
        fields={<MomentField scope="send" name="sendAt" label="At a later time" hint="Empty: now." />}
      />
    </>
  )
}

function To({ message, nodes, locations, packages, pools }: Data) {
  const { audience, counts } = message
  const choice = (
    name: string,
    label: string,
    of: ChoiceKind,
    value: Named | null | undefined,
    { data, more }: Choices,
  ) => (
    <Chooser
      scope="to"
      name={`audience.${name}`}
      label={label}
      of={of}
      nullable
      none="Any"
      value={value?.id}
      choices={{ more, data: value && !data.some(({ id }) => id === value.id) ? [value, ...data] : data }}
    />
  )
  return (
    <Section id="to" title="To" first>
      <div class="stack">
        {audience.account ? (
          <p>
            {audience.account.name}, or its reseller
            {audience.serverIds?.length ? `, about ${count(audience.serverIds.length, 'server')}` : ''}.
          </p>
        ) : audience.serverIds?.length ? (
          <p>The owners of {count(audience.serverIds.length, 'server')} that were chosen in a list.</p>
        ) : (
          <div class="picks">
            {choice('nodeId', 'Node', 'node', audience.node, nodes)}
            {choice('locationId', 'Location', 'location', audience.location, locations)}
            {choice('packageId', 'Package', 'package', audience.package, packages)}
            {choice('ipPoolId', 'Address pool', 'address pool', audience.ipPool, pools)}
            <Field scope="to" name="audience.label" label="Label" nullable value={audience.label ?? ''} />
          </div>
        )}
        <p>
          <b>{count(counts.recipients, 'customer')}</b>{' '}
          <span class="muted">
            with {count(counts.servers, 'server')} · <a href="#recipients">see them</a>
          </span>
        </p>
        <Check
          scope="to"
          name="toCustomersOfResellers"
          label="Write to customers of resellers themselves"
          hint={`From the sender of their reseller. Otherwise it gets it once: ${count(counts.resellers, 'reseller')}.`}
          checked={message.toCustomersOfResellers}
        />
        {counts.leftOut > 0 && <Note level="info">{count(counts.leftOut, 'customer')} are left out; see below.</Note>}
      </div>
    </Section>
  )
}
type Named = { id: string; name: string }

const Words = ({ message }: { message: Message }) => (
  <Section id="message" title="Message">
    <div class="stack">
      <Field scope="words" name="subject" label="Subject" value={message.subject} />
      <TextArea
        scope="words"
        name="text"
        label="Text"
        rows={9}
        value={message.text}
        hint="An empty line begins a paragraph. Names in braces are filled in for each customer."
      />
      <Facts of={Object.entries(placeholders).map(([name, words]) => [<code>{`{${name}}`}</code>, words] as never)} />
      {message.unknownNames.length > 0 && (
        <Note level="warn">Nothing fills {message.unknownNames.map((name) => `{${name}}`).join(', ')}.</Note>
      )}
      <div class="picks">
        <MomentField scope="words" name="workStartsAt" label="Work begins" iso={message.workStartsAt} nullable />
        <MomentField scope="words" name="workEndsAt" label="Work ends" iso={message.workEndsAt} nullable />
      </div>
      {message.namesWithoutTime.length > 0 && (
        <Note level="warn">
          {message.namesWithoutTime.map((name) => `{${name}}`).join(', ')}: say when the work begins and ends.
        </Note>
      )}
      <Check
        scope="words"
        name="isService"
        label="About their servers"
        hint="So no unsubscribe link. News carry one."
        checked={message.isService}
      />
      <Check scope="words" name="alsoNotice" label="Also as a notice in the panel" checked={message.alsoNotice} />
    </div>
  </Section>
)

function Preview({ of: p }: { of: Data['preview'] }) {
  const at = useAt()
  const way = (number: number, words: string) =>
    number >= 1 &&
    number <= p.of && (
      <a class="btn s" href={`${at.path}?number=${number}`}>
        {words}
      </a>
    )
  return (
    <Section
      id="preview"
      title="Preview"
      first
      count={p.of ? `${p.number} of ${p.of}` : undefined}
      actions={
        <>
          {way(p.number - 1, 'Previous')}
          {way(p.number + 1, 'Next')}
        </>
      }
    >
      <article class="paper" aria-label="Preview">
        <header>
          <div>
            <span>From</span> {p.from}
          </div>
          <div>
            <span>To</span> {p.to}
          </div>
          <div>
            <span>Subject</span> <b>{p.subject}</b>
          </div>
        </header>
        <div>
          <p>{p.greeting}</p>
          {p.paragraphs.map((words) => (
            <p class="lines">{words}</p>
          ))}
          <p>{p.signature}</p>
        </div>
      </article>
    </Section>
  )
}

const Steps = ({ message: m }: { message: Message }) => {
  const isKnown = m.unknownNames.length === 0 && m.namesWithoutTime.length === 0
  return (
    <Section id="steps" title="Before it goes out">
      <ol class="steps">
        <li class={isKnown ? 'done' : 'now'}>
          <span>All names in braces are filled</span>
        </li>
        <li class={m.testedAt ? 'done' : isKnown ? 'now' : undefined}>
          <span>Test to yourself</span>
          <small>
            {m.testedAt ? (
              <>
                sent <Time iso={m.testedAt} />
              </>
            ) : (
              'not sent yet'
            )}
          </small>
        </li>
        <li>
          <span>Send</span>
        </li>
        <li>
          <span>Result for each customer</span>
        </li>
      </ol>
    </Section>
  )
}

function Outcome({ message: m, recipients }: Data) {
  const isOpen = m.finishedAt === null
  return (
    <Live id="message" every={isOpen ? 2 : undefined}>
      <Head
        title={m.subject}
        trail={[['Messages', '/admin/messages']]}
        state={<MessageState of={m} tag />}
        sub={
          <>
            <span>
              {m.counts.sent} of {m.counts.recipients} sent
            </span>
            <span>by {m.writtenBy.name}</span>
            {m.jobId && <Link href={`/admin/jobs/${m.jobId}`}>job</Link>}
          </>
        }
        actions={
          isOpen && (
            <Action
              op={cancelMessage}
              params={{ id: m.id }}
              label="Stop"
              title="Stop sending it?"
              done="Nobody else gets it"
              confirm={{ keep: 'Go on', consequences: ['Who has it, has it. The others get none.'] }}
            />
          )
        }
      />
      {m.state === 'scheduled' && m.sendAt && (
        <Note level="info">
          It is sent <Time iso={m.sendAt} />, to those who have such servers then.
        </Note>
      )}
      <Section id="text" title="Text" first>
        <div class="stack">
          {m.text.split(/\n\s*\n/).map((words) => (
            <p class="lines">{words}</p>
          ))}
        </div>
      </Section>
      <Recipients of={recipients} title="Recipients" />
    </Live>
  )
}

const results: Record<Recipient['state'], { words: string; tone: Tone; shape: IconName }> = {
  waiting: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  sent: { words: 'On its way', tone: 'work', shape: 'work' },
  delivered: { words: 'Delivered', tone: 'ok', shape: 'tick' },
  failed: { words: 'Not delivered', tone: 'bad', shape: 'fail' },
  left_out: { words: 'Left out', tone: 'warn', shape: 'stop' },
  cancelled: { words: 'Stopped before', tone: 'idle', shape: 'stop' },
}
const columns: readonly Column<Recipient>[] = [
  {
    title: 'Customer',
    kind: 'name',
    width: 26,
    cell: ({ id, name }) => <Link href={`/admin/customers/${id}`}>{name}</Link>,
  },
  {
    title: 'State',
    kind: 'state',
    width: 20,
    cell: ({ state, reason }) => (
      <>
        <State tone={results[state].tone} shape={results[state].shape}>
          {results[state].words}
        </State>
        {reason && <small title={reason}>{reason}</small>}
      </>
    ),
  },
  { title: 'E-mail', kind: 'addr', width: 30, cell: ({ email }) => email },
  { title: 'Servers', kind: 'a', width: 24, cell: ({ servers }) => <span title={servers}>{servers}</span> },
]
const Recipients = ({ of, title }: { of: Data['recipients']; title: string }) => (
  <Section
    id="recipients"
    title={title}
    flush
    actions={
      <PagerButtons of={of}>
        <b>{rangeOf(of) ?? count(of.total, 'customer')}</b>
      </PagerButtons>
    }
  >
    {of.data.length ? (
      <Table label={title} rows={of.data} columns={columns} idOf={({ id }) => id} />
    ) : (
      <Empty>It reaches nobody.</Empty>
    )}
    <Pager of={of} />
  </Section>
)
