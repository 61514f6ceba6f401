// The webhooks of an account, or of the platform for staff.
import { webhookPath } from '../../../src/billing/webhooks/paths.ts'
import { listWebhooks, MOST_WEBHOOKS, webhookQueue } from '../../../src/billing/webhooks/webhooks.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { PageTabs, Table } from '../../components/table.tsx'
import { howLong, Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import {
  ChangeWebhook,
  CreateWebhook,
  calledOf,
  DeleteWebhook,
  eventsInWords,
  RotateSecret,
  type Webhook,
} from './actions.tsx'

const reads = { webhooks: listWebhooks, queue: webhookQueue }
type Data = Answers<typeof reads>

export const webhooksPages = (['staff', 'reseller', 'customer'] as const satisfies AccountKind[]).map((kind) =>
  page({
    path: webhookPath[kind].list,
    reads,
    title: kind === 'staff' ? 'Webhooks & API' : 'Webhooks',
    nav: 'webhooks',
    ...(kind === 'customer' && { elsewhere: ownList }),
    view: (data) => <WebhooksPage {...data} kind={kind} />,
  }),
)
/** A reseller has the page in its own area. */
function ownList({ actor }: { actor: { kind: AccountKind } }): string | undefined {
  return actor.kind === 'customer' ? undefined : webhookPath[actor.kind].list
}

function WebhooksPage({ webhooks, queue, kind }: Data & { kind: AccountKind }) {
  return (
    <>
      <Head
        title={kind === 'staff' ? 'Webhooks & API' : 'Webhooks'}
        actions={<CreateWebhook />}
        sub={
          <>
            <span>A webhook sends events to an address of yours as they happen.</span>
            <span>{`${queue.waiting.toLocaleString('en')} of ${queue.most.toLocaleString('en')} in the queue`}</span>
          </>
        }
      />
      <WebhookTabs />
      {queue.dropped > 0 && (
        <Note level="warn">
          <strong>{`${count(queue.dropped, 'delivery', 'deliveries')} dropped because the queue was full`}</strong>
          {queue.droppedAt && (
            <>
              , the last <Time iso={queue.droppedAt} />
            </>
          )}
          . What was dropped can be listed with GET /events.
        </Note>
      )}
      <Section id="webhooks" title="Webhooks" quiet flush first>
        <List
          of={webhooks}
          noun="webhook"
          empty={
            <Empty title="No webhooks yet" action={<CreateWebhook />}>
              {`Add the address of your billing system, and it hears of events as they happen. Up to ${MOST_WEBHOOKS}.`}
            </Empty>
          }
        >
          <WebhookTable of={webhooks.data} />
        </List>
      </Section>
    </>
  )
}

export function WebhookTabs() {
  const { actor } = useAt()
  const { list, events } = webhookPath[actor.kind]
  return (
    <PageTabs
      label="Webhooks"
      of={[
        [list, 'Webhooks'],
        [events, 'Events'],
        ...(actor.kind === 'staff'
          ? ([
              ['/account/api', 'API tokens'],
              ['/admin/api/reference', 'API reference'],
            ] as const)
          : []),
      ]}
    />
  )
}

const WebhookTable = ({ of: rows }: { of: readonly Webhook[] }) => (
  <Table
    label="Webhooks"
    rows={rows}
    idOf={(w) => w.id}
    columns={[
      {
        title: 'Receiver',
        kind: 'name',
        width: 34,
        cell: (w) => (
          <>
            <WebhookLink of={w} />
            <small class="mono cut" title={w.url}>
              {w.name === null ? new URL(w.url).pathname : w.url.replace('https://', '')}
            </small>
          </>
        ),
      },
      { title: 'State', kind: 'state', width: 20, cell: (w) => <WebhookState of={w} /> },
      { title: 'Events', kind: 'a', width: 14, cell: (w) => eventsInWords(w) },
      { title: 'Last delivered', kind: 'b', width: 16, cell: (w) => <LastDelivered of={w} /> },
      { title: 'Created', kind: 'lo', width: 12, cell: (w) => <Time iso={w.createdAt} /> },
      {
        title: 'Actions',
        kind: 'more',
        cell: (w) => (
          <Menu label={`Actions for ${calledOf(w)}`} small>
            <ChangeWebhook of={w} />
            <RotateSecret of={w} />
            <DeleteWebhook of={w} />
          </Menu>
        ),
      },
    ]}
  />
)

function WebhookLink({ of: w }: { of: Webhook }) {
  const { actor } = useAt()
  return <Link href={`${webhookPath[actor.kind].one}/${w.id}`}>{calledOf(w)}</Link>
}

const LastDelivered = ({ of: w }: { of: Webhook }) =>
  w.deliveredAt ? <Time iso={w.deliveredAt} /> : <span class="muted">Never</span>

export const WebhookState = ({ of: w, tag }: { of: Webhook; tag?: boolean }) =>
  w.status === 'paused' ? (
    <State tone={w.pauseReason === 'by_hand' ? 'hold' : 'bad'} shape="hold" tag={tag}>
      {w.pauseReason === 'by_hand'
        ? 'Paused'
        : w.pauseReason === 'gone'
          ? 'Paused: it answered 410'
          : 'Paused: it failed'}
    </State>
  ) : w.failingSince ? (
    <State tone="warn" shape="wait" tag={tag}>
      Failing for {howLong(w.failingSince, null, useAt().now)}
    </State>
  ) : (
    <State tone="ok" shape="tick" tag={tag}>
      Active
    </State>
  )
