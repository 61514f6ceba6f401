// The use of cards over time: those of an instance for its owner, and those of a host for staff.
import { Type as t } from 'typebox'
import { gpuInstance } from '../../../compute/gpu-instances/model.ts'
import { cardsOf, cardsOn } from '../../../fleet/gpus/queries.ts'
import { node } from '../../../fleet/node-records/model.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { described, namedSchema, nullable, operation, type ReadContext, time } from '../../../kernel/api/operation.ts'
import { iso, second } from '../../../kernel/db/clock.ts'
import { type Span, valuesIn } from '../read.ts'
import { spanFrom, spanQuery } from '../show.ts'
import { cardSeries } from './card-metrics.ts'

const oneSeries = t.Array(nullable(t.Number()))
type Name = (typeof cardSeries)[number]['name']
const cardMetrics = namedSchema('CardMetrics', {
  id: t.String(),
  model: t.String(),
  memoryMb: t.Integer(),
  measuredAt: described(nullable(time), 'When its host last said anything of it; null: not within the hour.'),
  busyPercent: described(nullable(t.Integer()), 'The last values; null as measuredAt is.'),
  memoryUsedMb: nullable(t.Integer()),
  temperatureC: nullable(t.Integer()),
  powerW: nullable(t.Integer()),
  series: namedSchema(
    'CardValues',
    Object.fromEntries(cardSeries.map(({ name, words }) => [name, described(oneSeries, words)])) as Record<
      Name,
      typeof oneSeries
    >,
  ),
})
const steps = {
  from: described(time, 'The start of the first step.'),
  to: described(time, 'The end of the last step.'),
  resolutionSeconds: described(t.Integer(), 'The length of a step.'),
  cards: described(t.Array(cardMetrics), 'In the order of their slots; one value per step, null where none is.'),
}

export const getInstanceMetrics = operation({
  id: 'gpu-instances.metrics',
  method: 'GET',
  path: '/gpu-instances/{id}/metrics',
  summary: 'The use of the cards of a GPU instance over time, in steps from 10 seconds to a day',
  access: everybody('servers:read'),
  on: gpuInstance,
  query: spanQuery,
  response: namedSchema('InstanceMetrics', { instanceId: t.String(), ...steps }),
  // Another instance may have had the cards before: it is none of this one's business.
  run: (call) => ({
    instanceId: call.target.id,
    ...cardsIn(call, cardsOf(call.tx, call.target), call.target.createdAt),
  }),
})

export const getNodeCardMetrics = operation({
  id: 'nodes.card-metrics',
  method: 'GET',
  path: '/admin/nodes/{id}/card-metrics',
  summary: 'The use of the cards of a node over time, in steps from 10 seconds to a day',
  access: { staff: ['nodes:read'] },
  on: node,
  query: spanQuery,
  response: namedSchema('NodeCardMetrics', { nodeId: t.String(), ...steps }),
  run: (call) => ({ nodeId: call.target.id, ...cardsIn(call, cardsOn(call.tx, call.target.id), 0) }),
})

type ShownCard = { id: string; model: string; memoryMb: number }
/** Steps that begin before `since` (ms) are gaps. Throws `invalid_request`. */
function cardsIn(call: ReadContext, cards: readonly ShownCard[], since: number) {
  const span = spanFrom(call.query, call.clock())
  return {
    from: iso(span.from),
    to: iso(span.to),
    resolutionSeconds: span.resolution,
    cards: cards.map((card) => showCard(call, card, span, since)),
  }
}

function showCard({ tx, cardMetrics }: ReadContext, { id, model, memoryMb }: ShownCard, span: Span, since: number) {
  const found = cardMetrics.latest(id)
  const latest = found && found.at >= since ? found : undefined
  const series = valuesIn(tx, cardMetrics, id, span, cardSeries)
  const hidden = Math.ceil((since - span.from) / (span.resolution * second))
  for (const { name } of cardSeries) series[name].fill(null, 0, Math.max(0, hidden))
  return {
    id,
    model,
    memoryMb,
    measuredAt: latest ? iso(latest.at) : null,
    busyPercent: latest?.sample.usePercent ?? null,
    memoryUsedMb: latest?.sample.memoryUsedMb ?? null,
    temperatureC: latest?.sample.temperatureC ?? null,
    powerW: latest?.sample.powerW ?? null,
    series,
  }
}
