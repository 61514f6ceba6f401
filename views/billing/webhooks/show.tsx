// One webhook: its deliveries, and the chosen one with what was sent and answered.

import { getDelivery, listDeliveries } from '../../../src/billing/webhooks/deliveries.ts'
import { webhookPath } from '../../../src/billing/webhooks/paths.ts'
import { getWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { type Answers, type At, ifNamed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Note } from '../../components/section.tsx'
import { addressWith } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import {
  ChangeWebhook,
  calledOf,
  DeleteWebhook,
  eventsInWords,
  PauseOrResume,
  RotateSecret,
  SendTest,
  type Webhook,
} from './actions.tsx'
import { DeliveryDetail, DeliveryShape } from './delivery.tsx'
import { WebhookState } from './list.tsx'

const listQuery = ({ query: { cursor, limit, state } }: At) =>
  Object.fromEntries(
    Object.entries({ cursor, limit, state }).filter((one): one is [string, string] => one[1] !== undefined),
  )

const reads = {
  webhook: reading(getWebhook, ({ params }) => ({ params })),
  deliveries: reading(listDeliveries, (at) => ({ params: at.params, query: listQuery(at) })),
  delivery: ifNamed(getDelivery, ({ query }, { deliveries }) => {
    const id = query['delivery'] ?? deliveries.data[0]?.id
    return id === undefined ? undefined : { params: { id } }
  }),
}
type Data = Answers<typeof reads>
type Row = Data['deliveries']['data'][number]

export const webhookPages = (['staff', 'reseller', 'customer'] as const satisfies AccountKind[]).map((kind) =>
  page({
    path: `${webhookPath[kind].one}/{id}`,
    reads,
    title: ({ webhook }) => calledOf(webhook),
    nav: 'webhooks',
    view: (data) => <WebhookPage {...data} kind={kind} />,
  }),
)

const WebhookPage = ({ webhook, deliveries, delivery, kind }: Data & { kind: AccountKind }) => (
  <>
    <Head
      title={calledOf(webhook)}
      trail={[[kind === 'staff' ? 'Webhooks & API' : 'Webhooks', webhookPath[kind].list]]}
      state={<WebhookState of={webhook} tag />}
      actions={<Actions of={webhook} />}
      sub={<About of={webhook} />}
    />
    {webhook.status === 'paused' && <Paused of={webhook} />}
    <div class="split list">
      <div>
        <List
          of={deliveries}
          noun="delivery"
          plural="deliveries"
          every={5}
          filters={[
            {
              name: 'state',
              label: 'Result',
              options: [
                ['delivered', 'Delivered'],
                ['waiting', 'Waiting'],
                ['failed', 'Failed'],
              ],
            },
          ]}
          empty={
            <Empty title="Nothing delivered yet" action={<SendTest of={webhook} />}>
              Deliveries appear here as events happen. A test shows at once whether the receiver works.
            </Empty>
          }
        >
          <ul aria-label="Deliveries">
            {deliveries.data.map((row) => (
              <DeliveryRow of={row} current={row.id === delivery?.id} />
            ))}
          </ul>
        </List>
      </div>
      {delivery && (
        <div>
          <Live id="delivery" every={delivery.state === 'waiting' ? 2 : undefined} class="">
            <DeliveryDetail of={delivery} />
          </Live>
        </div>
      )}
    </div>
  </>
)

const Actions = ({ of }: { of: Webhook }) => (
  <>
    <SendTest of={of} />
    <PauseOrResume of={of} />
    <Menu label="More">
      <ChangeWebhook of={of} />
      <RotateSecret of={of} />
      <DeleteWebhook of={of} />
    </Menu>
  </>
)

const About = ({ of: w }: { of: Webhook }) => (
  <>
    <span class="mono cut" title={w.url}>
      {w.url}
    </span>
    <span>Gets {eventsInWords(w)}</span>
    {w.deliveredAt && (
      <span>
        Last delivered <Time iso={w.deliveredAt} />
      </span>
    )}
    {w.previousSecretUntil && (
      <span>
        Also signed with the previous secret until <Time iso={w.previousSecretUntil} />
      </span>
    )}
  </>
)

const Paused = ({ of: w }: { of: Webhook }) => (
  <Note level={w.pauseReason === 'by_hand' ? 'info' : 'warn'}>
    <strong>Nothing more is queued for it.</strong>
    <br />
    {w.pauseReason === 'failing'
      ? 'It failed at least 50 times in a row over more than a day. Resume it when the receiver works again.'
      : w.pauseReason === 'gone'
        ? 'Its receiver answered 410 Gone, which says that it wants no deliveries any more.'
        : 'Waiting deliveries are kept.'}{' '}
    Events during the pause are not sent later; see <Link href="/account/events">Events</Link>.
  </Note>
)

function DeliveryRow({ of: row, current }: { of: Row; current: boolean }) {
  const at = useAt()
  return (
    <li>
      <a
        class="hook"
        href={`${addressWith(at, { delivery: row.id })}#delivery`}
        aria-current={current ? 'true' : undefined}
      >
        <DeliveryShape of={row} />
        <b class="cut">{row.event}</b>
        <span class="end">{row.lastStatus ?? (row.error ? 'no answer' : '')}</span>
        <small class="cut mono">{row.eventId}</small>
        <small class="end nb">
          <Time iso={row.createdAt} />
        </small>
      </a>
    </li>
  )
}
