import { Type as t } from 'typebox'
import { endedServer } from '../../compute/server-records/model.ts'
import { node } from '../../fleet/node-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import {
  described,
  namedSchema,
  nullable,
  operation,
  type Query,
  type ReadContext,
  time,
} from '../../kernel/api/operation.ts'
import { moment, momentFrom, oneOf } from '../../kernel/api/query.ts'
import { day, hour, iso, second } from '../../kernel/db/clock.ts'
import { MOST_POINTS, type Resolution, resolutions, type Span, tierFor, type Values, valuesOf } from './read.ts'
import { series } from './series.ts'

/** Spans that end now, with the step in which a chart of some 300 points shows them. */
export const ranges = {
  '1h': { ms: hour, resolution: 10 },
  '24h': { ms: day, resolution: 300 },
  '7d': { ms: 7 * day, resolution: 1800 },
  '30d': { ms: 30 * day, resolution: 7200 },
  '1y': { ms: 365 * day, resolution: 86_400 },
} as const
export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]
/** Points of a response where nothing is said. */
const USUAL_POINTS = 400

const oneSeries = t.Array(nullable(t.Number()))
const values = namedSchema(
  'MetricValues',
  Object.fromEntries(series.map(({ name, words }) => [name, described(oneSeries, words)])) as Record<
    keyof Values,
    typeof oneSeries
  >,
)

const steps = {
  from: described(time, 'The start of the first step.'),
  to: described(time, 'The end of the last step.'),
  resolutionSeconds: described(t.Integer(), 'The length of a step.'),
  memoryMb: t.Integer(),
  series: described(values, 'One value per step; null where nothing was measured.'),
}

/** The parameters of every read of metrics. */
export const spanQuery = {
  range: oneOf(rangeNames, 'The time until now: an hour when nothing is said. Not together with from.'),
  from: moment('The start, instead of a range.'),
  to: moment('The end; without it: now.'),
  resolution: oneOf(
    resolutions.map(String),
    'Seconds of a step; without it: what gives a few hundred points, of what is kept for so long. ' +
      `${MOST_POINTS} points are the most.`,
  ),
}

export const getMetrics = operation({
  id: 'servers.metrics',
  method: 'GET',
  path: '/servers/{id}/metrics',
  summary: 'Processor, memory, disk and network of a server over time, in steps from 10 seconds to a day',
  access: everybody('servers:read'),
  on: endedServer,
  query: spanQuery,
  response: namedSchema('Metrics', { serverId: t.String(), ...steps, vcpus: t.Integer() }),
  run: (call) => ({ serverId: call.target.id, ...metricsOf(call, call.target), vcpus: call.target.vcpus }),
})

export const getNodeMetrics = operation({
  id: 'nodes.metrics',
  method: 'GET',
  path: '/admin/nodes/{id}/metrics',
  summary: 'Processor, memory, disk and network of a node over time, in steps from 10 seconds to a day',
  access: { staff: ['nodes:read'] },
  on: node,
  query: spanQuery,
  response: namedSchema('NodeMetrics', { nodeId: t.String(), ...steps, threads: t.Integer() }),
  run: (call) => ({ nodeId: call.target.id, ...metricsOf(call, call.target), threads: call.target.threads }),
})

/** The steps of the span that was asked for. Throws `invalid_request`. */
function metricsOf({ tx, query, clock, metrics }: ReadContext, { id, memoryMb }: { id: string; memoryMb: number }) {
  const span = spanFrom(query, clock())
  return {
    from: iso(span.from),
    to: iso(span.to),
    resolutionSeconds: span.resolution,
    memoryMb,
    series: valuesOf(tx, metrics.recent, id, span),
  }
}

/** The steps that hold the span that was asked for. Throws `invalid_request`. */
export function spanFrom(query: Query, now: number): Span {
  const range = ranges[(query['range'] ?? '1h') as RangeName]
  if (query['range'] && query['from']) throw wrong('Send either range or from.')
  const to = query['to'] ? momentFrom('to', query['to']) : now
  const from = query['from'] ? momentFrom('from', query['from']) : to - range.ms
  if (from >= to) throw wrong('from must be before to.')
  const resolution = query['resolution']
    ? (Number(query['resolution']) as Resolution)
    : query['from']
      ? fitting(to - from, now - from)
      : range.resolution
  const stepMs = resolution * second
  const span = { from: Math.floor(from / stepMs) * stepMs, to: Math.ceil(to / stepMs) * stepMs, resolution }
  if ((span.to - span.from) / stepMs > MOST_POINTS + 1)
    throw wrong(`That is more than ${MOST_POINTS} points. Ask for a shorter time or longer steps.`)
  return span
}

/** The finest step that gives no more than the usual number of points, and whose points are kept for so long. */
const fitting = (ms: number, ageMs: number): Resolution =>
  resolutions.find((seconds) => ms / (seconds * second) <= USUAL_POINTS && ageMs <= tierFor(seconds).keptMs) ??
  resolutions.at(-1)!

const wrong = (words: string) => new ApiError('invalid_request', words)
