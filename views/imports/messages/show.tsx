// The messages to the owners of servers before, during and after the move: their words, when they go out, and a test.
import { getImport } from '../../../src/imports/imports/imports.ts'
import {
  announce,
  getMessages,
  inviteOwners,
  setMessages,
  testMessage,
} from '../../../src/imports/messages/messages.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Check, Field, TextArea } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Empty, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { count } from '../../components/words.ts'
import { ImportFrame } from '../imports/frame.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'

const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  messages: reading(getMessages, ({ params }) => ({ params })),
}
type Messages = Answers<typeof reads>['messages']

export const importMessagesPage = page({
  path: '/admin/imports/{id}/messages',
  reads,
  title: ({ import: of }) => `Messages to owners of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, messages }) => (
    <ImportFrame of={of} step="migrate" actions={<Actions of={of} messages={messages} />}>
      {of.discoveredAt === null ? (
        <Empty>The panel was not read yet. Its owners are known afterwards.</Empty>
      ) : (
        <>
          <Whether of={of} messages={messages} />
          {kinds.map((one) => (
            <Message of={of} messages={messages} {...one} />
          ))}
        </>
      )}
    </ImportFrame>
  ),
})

type Of = { of: Import; messages: Messages }
const kinds = [
  {
    kind: 'before',
    title: 'Before',
    when: 'Goes to each owner once, when the import starts, or when you announce it.',
  },
  { kind: 'during', title: 'During', when: 'Goes to the owner of each server when it begins to move.' },
  { kind: 'after', title: 'After', when: 'Goes to the owner of each server once it runs here, with its addresses.' },
] as const
type Kind = (typeof kinds)[number]

const useMayTell = ({ actions }: Import) => useAt().may(setMessages) && actions.includes('tell')

const Actions = ({ of, messages: { toAnnounce, toInvite, before } }: Of) =>
  of.actions.includes('tell') ? (
    <>
      {toAnnounce > 0 && (
        <Action
          op={announce}
          params={{ id: of.id }}
          label="Announce now"
          icon="mail"
          submit="Send"
          done="{sent} owners are told"
          confirm={{
            consequences: [
              `The message “before” goes to ${count(toAnnounce, 'owner')} of servers that are ready to come.`,
              before.told > 0 && `${count(before.told, 'owner was', 'owners were')} told already, and get it no more.`,
              'It cannot be taken back.',
            ],
          }}
        />
      )}
      {toInvite > 0 && (
        <Action
          op={inviteOwners}
          params={{ id: of.id }}
          label="Send invitations"
          icon="customers"
          submit="Send"
          done="{sent} owners are invited"
          confirm={{
            consequences: [
              `${count(toInvite, 'new account')} of this import gets a link to choose a password.`,
              'Nobody is invited by itself, and nobody twice.',
            ],
          }}
        />
      )}
    </>
  ) : null

const Whether = ({ of, messages: { emailsOwners } }: Of) => {
  const mayTell = useMayTell(of)
  return (
    <Section
      id="whether"
      title="Mail to owners"
      first
      words={
        emailsOwners
          ? 'Owners are told by mail: those messages below that are turned on go out by themselves.'
          : 'Nobody is told anything by itself. The messages below can be prepared and tested all the same.'
      }
      actions={
        mayTell && (
          <Action
            op={setMessages}
            params={{ id: of.id }}
            body={{ emailsOwners: !emailsOwners }}
            label={emailsOwners ? 'Tell nobody' : 'Tell owners'}
            icon={emailsOwners ? 'hold' : 'mail'}
            done={emailsOwners ? 'Nobody is told from now on' : 'Owners are told from now on'}
          />
        )
      }
    >
      <State tone={emailsOwners ? 'ok' : 'idle'} shape={emailsOwners ? 'tick' : 'stop'}>
        {emailsOwners ? 'Owners are told' : 'Nobody is told'}
      </State>
    </Section>
  )
}

function Message({ of, messages, kind, title, when }: Of & Kind) {
  const message = messages[kind]
  const mayTell = useMayTell(of)
  const scope = `message-${kind}`
  const known = Object.entries(message.placeholders).map(([name, words]) => `{${name}}: ${words}`)
  return (
    <div class="split even">
      <div>
        <Section
          id={kind}
          title={title}
          count={message.told > 0 ? `${count(message.told, 'mail')} sent` : undefined}
          words={when}
        >
          <CallForm op={setMessages} params={{ id: of.id }} class="stack" done="Saved">
            <Check scope={scope} name={`${kind}.isOn`} label="Goes out by itself" checked={message.isOn} />
            <Field scope={scope} name={`${kind}.subject`} label="Subject" required value={message.subject} />
            <TextArea
              scope={scope}
              name={`${kind}.text`}
              label="Text"
              required
              rows={6}
              value={message.text}
              hint={`An empty line begins a paragraph. In braces: ${known.join(', ')}.`}
            />
            {mayTell && (
              <div class="bar">
                <button class="btn pri">
                  <Icon name="check" />
                  Save
                  <span class="sr"> {title}</span>
                </button>
              </div>
            )}
          </CallForm>
        </Section>
      </div>
      <div>
        <Section
          id={`${kind}-preview`}
          title={
            <>
              Preview<span class="sr"> of {title}</span>
            </>
          }
          actions={
            of.actions.includes('tell') && (
              <Action
                op={testMessage}
                params={{ id: of.id }}
                body={{ kind }}
                label="Send a test to me"
                of={title}
                icon="mail"
                small
                done="A test is on its way to {to}"
              />
            )
          }
        >
          <div class="stack">
            <Facts of={[['Subject', <b>{message.preview.subject}</b>]]} />
            {message.preview.paragraphs.map((words) => (
              <p>{words}</p>
            ))}
            <p class="hint">As saved. Greeting, button and name of the brand come with the mail.</p>
          </div>
        </Section>
      </div>
    </div>
  )
}
