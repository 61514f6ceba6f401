// The events of the last 30 days, newest first.
import { listEvents } from '../../../src/billing/events/events.ts'
import { typesFor } from '../../../src/billing/events/model.ts'
import { webhookPath } from '../../../src/billing/webhooks/paths.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { MomentCell } from '../../components/time.tsx'
import { WebhookTabs } from '../webhooks/list.tsx'

const reads = {
  events: reading(listEvents, ({ query: { sort: _, ...query } }) => ({ query: { ...query, sort: '-created_at' } })),
}
type Data = Answers<typeof reads>
type Event = Data['events']['data'][number]

export const eventsPages = (['staff', 'reseller', 'customer'] as const satisfies AccountKind[]).map((kind) =>
  page({
    path: webhookPath[kind].events,
    reads,
    title: 'Events',
    nav: 'webhooks',
    view: (data) => <EventsPage {...data} />,
  }),
)

function EventsPage({ events }: Data) {
  const { registry, actor } = useAt()
  return (
    <>
      <Head
        title="Events"
        sub={<p>The events that webhooks send, listed here even without a webhook. Kept for 30 days.</p>}
      />
      <WebhookTabs />
      <Section id="events" title="Events" quiet flush first>
        <List
          of={events}
          noun="event"
          filters={[
            {
              name: 'type',
              label: 'Type',
              options: typesFor(registry, actor.kind).map((type) => [type, type] as const),
            },
          ]}
          empty={
            <Empty title="No events yet">Events appear here as they happen, for example when a server is ready.</Empty>
          }
        >
          <EventTable of={events.data} />
        </List>
      </Section>
    </>
  )
}

const EventTable = ({ of: rows }: { of: readonly Event[] }) => (
  <Table
    label="Events"
    rows={rows}
    idOf={(e) => e.id}
    columns={[
      {
        title: 'Event',
        kind: 'name',
        width: 34,
        cell: (e) => (
          <>
            <b>{e.type}</b>
            <small class="mono">{e.id}</small>
          </>
        ),
      },
      { title: 'About', kind: 'a', width: 22, cell: (e) => aboutOf(e) },
      { title: 'When', kind: 'b', width: 20, cell: (e) => <MomentCell iso={e.created_at} /> },
      { title: 'Data', kind: 'wide', width: 24, cell: (e) => <EventData of={e} /> },
    ]}
  />
)

type Named = { hostname?: string; name?: string; address?: string; resource?: string }
/** The name of the thing that it happened to, as the data has it. */
function aboutOf({ data }: Event): string {
  const { server, gpuInstance, floatingIp, customer, node } = data as Record<string, Named | undefined>
  return (
    server?.hostname ??
    gpuInstance?.name ??
    floatingIp?.address ??
    customer?.name ??
    node?.name ??
    String(data['resource'] ?? '')
  )
}

const EventData = ({ of: e }: { of: Event }) => (
  <details class="row" id={`data-${e.id}`}>
    <summary>
      Data<span class="sr"> of {e.type}</span>
    </summary>
    <pre class="code">{JSON.stringify(e.data, null, 2)}</pre>
  </details>
)
