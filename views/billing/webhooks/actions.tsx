import { typesFor } from '../../../src/billing/events/model.ts'
import { testWebhook } from '../../../src/billing/webhooks/deliveries.ts'
import { EVERY_TYPE } from '../../../src/billing/webhooks/fan-out.ts'
import { webhookPath } from '../../../src/billing/webhooks/paths.ts'
import {
  PREVIOUS_SECRET_HOURS,
  pauseWebhook,
  resumeWebhook,
  rotateSecret,
} from '../../../src/billing/webhooks/state.ts'
import { changeWebhook, createWebhook, type getWebhook, removeWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { count } from '../../components/words.ts'

export type Webhook = Answers<{ w: typeof getWebhook }>['w']
type Of = { of: Webhook }

/** Shows a secret, this one time. */
const shownOnce = {
  field: 'secret',
  title: 'The signing secret',
  words: 'Save it where deliveries are received: each is signed with it.',
}

/** The name that its owner gave it, or the host of its address alone: paths may be long. */
export const calledOf = ({ name, url }: Pick<Webhook, 'name' | 'url'>) => name ?? new URL(url).host

/** `every event`, `3 events` */
export const eventsInWords = ({ events }: Pick<Webhook, 'events'>) =>
  events.includes(EVERY_TYPE) ? 'every event' : count(events.length, 'event')

export const CreateWebhook = () => (
  <Action
    op={createWebhook}
    label="Add webhook"
    icon="plus"
    tone="pri"
    wide
    secret={shownOnce}
    fields={<WebhookFields scope="webhook" name={null} url="" events={[EVERY_TYPE]} />}
  />
)

export const ChangeWebhook = ({ of: w }: Of) => (
  <Action
    op={changeWebhook}
    params={{ id: w.id }}
    label="Edit"
    icon="pencil"
    of={calledOf(w)}
    inMenu
    wide
    done="Saved"
    fields={<WebhookFields scope={`edit-${w.id}`} name={w.name} url={w.url} events={w.events} />}
  />
)

/** The groups of events, by what stands in front of the dot; others are called by that. */
const groupTitles: Readonly<Record<string, string>> = {
  brake: 'Approvals',
  floating_ip: 'Floating addresses',
  gpu_instance: 'GPU instances',
  quota: 'Quotas of resellers',
  roll_out: 'Roll-outs',
}
function groupOf(type: string): string {
  const about = type.split('.')[0]!
  const words = `${about[0]!.toUpperCase()}${about.slice(1).replaceAll('_', ' ')}s`
  return groupTitles[about] ?? words
}

type WebhookFieldsProps = { scope: string } & Pick<Webhook, 'name' | 'url' | 'events'>
function WebhookFields({ scope, name, url, events }: WebhookFieldsProps) {
  const { registry, actor } = useAt()
  return (
    <>
      <Field
        scope={scope}
        name="name"
        label="Name"
        value={name}
        nullable
        placeholder="Billing"
        hint="Empty: the host of its address."
      />
      <Field
        scope={scope}
        name="url"
        label="Address"
        required
        value={url}
        type="url"
        mono
        placeholder="https://billing.example.com/berth"
        hint="Begins with https:// and can be reached from the Internet."
      />
      <Checks
        scope={scope}
        name="events"
        label="Events"
        hint="The first means all of them, also those of later versions."
        values={[...events]}
        options={[
          { value: EVERY_TYPE, label: 'Every event' },
          ...typesFor(registry, actor.kind).map((type) => ({
            value: type,
            label: registry.events[type]!.words,
            hint: type,
            group: groupOf(type),
          })),
        ]}
      />
    </>
  )
}

export const SendTest = ({ of: w }: Of) => (
  <Action op={testWebhook} params={{ id: w.id }} label="Send test" icon="webhook" done="A test is on its way" />
)

export const PauseOrResume = ({ of: w }: Of) =>
  w.status === 'active' ? (
    <Action
      op={pauseWebhook}
      params={{ id: w.id }}
      label="Pause"
      icon="stop"
      of={calledOf(w)}
      title={`Pause ${calledOf(w)}?`}
      done="Paused"
      confirm={{
        keep: 'Keep it active',
        consequences: ['Waiting deliveries are kept.', 'Events during the pause are not sent later; see Events.'],
      }}
    />
  ) : (
    <Action op={resumeWebhook} params={{ id: w.id }} label="Resume" icon="play" tone="pri" done="Resumed" />
  )

export const RotateSecret = ({ of: w }: Of) => (
  <Action
    op={rotateSecret}
    params={{ id: w.id }}
    label="Rotate secret"
    icon="refresh"
    of={calledOf(w)}
    inMenu
    title={`Rotate the secret of ${calledOf(w)}?`}
    secret={shownOnce}
    confirm={{
      keep: 'Keep the secret',
      consequences: [
        'It gets a new secret, which is shown once.',
        `For ${PREVIOUS_SECRET_HOURS} hours each delivery is signed with both, the new one first.`,
        w.previousSecretUntil && 'The secret before the last rotation signs no more from now on.',
      ],
    }}
  />
)

export function DeleteWebhook({ of: w }: Of) {
  const { actor } = useAt()
  return (
    <Action
      op={removeWebhook}
      params={{ id: w.id }}
      label="Delete"
      icon="trash"
      of={calledOf(w)}
      inMenu
      tone="bad"
      title={`Delete ${calledOf(w)}?`}
      done={`${calledOf(w)} is deleted`}
      leadsTo={webhookPath[actor.kind].list}
      confirm={{
        keep: 'Keep webhook',
        consequences: [
          'Nothing more is delivered to it, including what is waiting.',
          'Its log is deleted.',
          'It cannot be restored.',
        ],
      }}
    />
  )
}
