// Compares a billing system's list with the servers and GPU instances. It changes nothing; it is a POST because no
// address has the space for a list of thousands.
import { parse } from 'csv-parse/sync'
import { Type as t } from 'typebox'
import { accountById } from '../../identity/accounts/queries.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { visibleUsage } from '../usage/model.ts'
import { currentServices, endOfService, GPU_INSTANCE } from '../usage/queries.ts'
import { compare, differenceKinds, type ListedService, listedStates, workloadIdOf } from './compare.ts'

const MOST_LINES = 20_000
export const COLUMNS = [
  'serverId',
  'instanceId',
  'billingServiceId',
  'ownerExternalId',
  'billingProductId',
  'state',
] as const

const id = t.Optional(nullable(t.String({ minLength: 1, maxLength: 200 })))
const name = t.Optional(nullable(t.String({ maxLength: 200 })))
const listed = t.Object(
  {
    serverId: id,
    instanceId: id,
    billingServiceId: name,
    ownerExternalId: name,
    billingProductId: name,
    state: t.Optional(nullable(t.Enum([...listedStates]))),
  },
  { additionalProperties: false, title: 'ListedService' },
)

export const reconcileUsage = operation({
  id: 'usage.reconcile',
  method: 'POST',
  path: '/usage/reconciliation',
  summary: 'Compare a billing system’s list of services with servers and GPU instances, and answer what differs',
  access: { staff: ['customers:read'], reseller: ['servers:read'] },
  body: fields({
    services: t.Optional(t.Array(listed, { maxItems: MOST_LINES })),
    csv: t.Optional(
      described(
        t.String({ maxLength: 1_000_000 }),
        `In place of services: lines with a head that names columns of ${COLUMNS.join(', ')}.`,
      ),
    ),
  }),
  mostValues: MOST_LINES * (COLUMNS.length + 1) + 10,
  response: namedSchema('Reconciliation', {
    listed: described(t.Integer(), 'Lines of the list.'),
    servers: described(t.Integer(), 'Servers that are here.'),
    instances: described(t.Integer(), 'GPU instances that are here.'),
    differences: t.Array(
      namedSchema('BillingDifference', {
        kind: t.Enum([...differenceKinds]),
        line: described(nullable(t.Integer()), 'The line of the list, from 1; null where it has none.'),
        serverId: nullable(t.String()),
        instanceId: nullable(t.String()),
        hostname: nullable(t.String()),
        billingServiceId: nullable(t.String()),
        there: described(nullable(t.String()), 'The value in the list.'),
        here: described(nullable(t.String()), 'The value here.'),
        words: t.String(),
      }),
    ),
  }),
  example: {
    services: [{ billingServiceId: 'service-4711', billingProductId: 'vendor:12', state: 'active' as const }],
  },
  run({ tx, actor, body }) {
    if ((body.services === undefined) === (body.csv === undefined))
      throw invalid({ field: 'services', message: 'or csv must be given, and not both.' })
    const list = body.services ?? fromCsv(body.csv!)
    for (const [i, one] of list.entries())
      if (!workloadIdOf(one) && !one.billingServiceId)
        throw invalid({ field: `services/${i}`, message: 'needs a serverId, an instanceId or a billingServiceId.' })
    const visible = visibleUsage(actor)
    const accounts = new Map<string, { ownerExternalId: string | null; ownerName: string }>()
    const ownerOf = (id: string) => {
      let found = accounts.get(id)
      if (!found) {
        const account = accountById(tx, id)
        accounts.set(id, (found = { ownerExternalId: account?.externalId ?? null, ownerName: account?.name ?? id }))
      }
      return found
    }
    const here = currentServices(tx, visible).map(({ billingServiceId, ...one }) => ({
      ...one,
      ...ownerOf(one.ownerId),
      // A reseller's billing system has identifiers of its own, which may be the same as the house's.
      billingServiceId: actor.kind === 'staff' && accountById(tx, one.ownerId)?.resellerId ? null : billingServiceId,
    }))
    const differences = compare(list, here, (one) =>
      endOfService(tx, visible, { workloadId: workloadIdOf(one), billingServiceId: one.billingServiceId ?? '' }),
    )
    const instances = here.filter(({ kind }) => kind === GPU_INSTANCE).length
    return { listed: list.length, servers: here.length - instances, instances, differences }
  },
})

/** Throws `validation_failed` for what is no such list. Empty cells are not compared. */
function fromCsv(text: string): ListedService[] {
  if (!text.trim()) throw invalid({ field: 'csv', message: 'is empty: it needs a head, and a line for each service.' })
  let rows: Record<string, string>[]
  try {
    rows = parse(text, { columns: true, bom: true, trim: true, skip_empty_lines: true, delimiter: [',', ';', '\t'] })
  } catch {
    throw invalid({ field: 'csv', message: 'is not CSV: a line has another number of cells than the head.' })
  }
  if (rows.length > MOST_LINES) throw invalid({ field: 'csv', message: `has more than ${MOST_LINES} lines.` })
  const unknown = Object.keys(rows[0] ?? {}).find((column) => !COLUMNS.includes(column as (typeof COLUMNS)[number]))
  if (unknown !== undefined)
    throw invalid({ field: 'csv', message: `has a column that is none of ${COLUMNS.join(', ')}.` })
  return rows.map((row, i) => {
    const state = row['state'] || null
    if (state !== null && !listedStates.includes(state as (typeof listedStates)[number]))
      throw invalid({ field: 'csv', message: `line ${i + 1}: the state must be one of ${listedStates.join(', ')}.` })
    return {
      serverId: row['serverId'] || null,
      instanceId: row['instanceId'] || null,
      billingServiceId: row['billingServiceId'] || null,
      ownerExternalId: row['ownerExternalId'] || null,
      billingProductId: row['billingProductId'] || null,
      state: state as ListedService['state'],
    }
  })
}
