// Compares a billing system's list with the servers and GPU instances. It changes nothing; it is a POST because no
// address has the space for a list of thousands.
import { Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, type PrepareContext } from '../../kernel/api/operation.ts'
import { Slices } from '../../kernel/slices.ts'
import { visibleUsage } from '../usage/model.ts'
import { currentServices, endOfService, GPU_INSTANCE } from '../usage/queries.ts'
import { compare, differenceKinds, type Here, type ListedService, listedStates, workloadIdOf } from './compare.ts'
import { COLUMNS, listFromCsv, MOST_LINES } from './csv.ts'

/** More make the answer so long that to write it holds everybody up. */
const MOST_DIFFERENCES = 10_000

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
  past: 'Compared the services of a billing system',
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
    servers: described(t.Integer(), 'Servers that are here and billed by the caller.'),
    instances: described(t.Integer(), 'The same of GPU instances.'),
    resold: described(
      t.Integer(),
      'Servers and GPU instances of customers of resellers: they are not billed here, but by their resellers.',
    ),
    found: described(t.Integer(), `How many differences there are; the first ${MOST_DIFFERENCES} follow.`),
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
  // The audit log says that it was asked, and not the whole list again.
  auditBody: ({ services, csv }) => (services ? { services: services.length } : { csv: csv?.length ?? 0 }),
  atReader: true,
  prepare: (call) => reconciled(call, new Slices()),
  run: ({ prepared }) => prepared,
})

type Body = { services?: ListedService[] | undefined; csv?: string | undefined }
async function reconciled({ db, actor, body }: PrepareContext<unknown, Body>, slices: Slices) {
  if ((body.services === undefined) === (body.csv === undefined))
    throw invalid({ field: 'services', message: 'or csv must be given, and not both.' })
  const list = body.services ?? (await listFromCsv(body.csv!, slices))
  for (const [i, one] of list.entries())
    if (!workloadIdOf(one) && !one.billingServiceId)
      throw invalid({ field: `services/${i}`, message: 'needs a serverId, an instanceId or a billingServiceId.' })
  const here = await servicesHere({ db, actor }, slices)
  const visible = visibleUsage(actor)
  const differences = await compare(
    list,
    here,
    (one) =>
      endOfService(db, visible, {
        workloadId: workloadIdOf(one),
        billingServiceId: one.billingServiceId ?? '',
        among: actor.kind === 'staff' ? 'house' : 'all',
      }),
    slices,
  )
  const billed = here.filter(({ resellerName }) => resellerName === null)
  const instances = billed.filter(({ kind }) => kind === GPU_INSTANCE).length
  return {
    listed: list.length,
    servers: billed.length - instances,
    instances,
    resold: here.length - billed.length,
    found: differences.length,
    differences: differences.slice(0, MOST_DIFFERENCES),
  }
}

const AT_ONCE = 500
/**
 * Every server and GPU instance that is there. Each is read once, with all that is compared of it at one moment; one
 * that is ordered or ends meanwhile is there or not.
 */
async function servicesHere({ db, actor }: Pick<PrepareContext, 'db' | 'actor'>, slices: Slices): Promise<Here[]> {
  const visible = visibleUsage(actor)
  const accounts = new Map<string, { externalId: string | null; name: string }>()
  const accountOf = (id: string) => {
    let account = accounts.get(id)
    if (!account) {
      const { externalId = null, name = id } = accountById(db, id) ?? {}
      accounts.set(id, (account = { externalId, name }))
    }
    return account
  }
  const here: Here[] = []
  for (let after = ''; ; ) {
    const page = currentServices(db, visible, { after, limit: AT_ONCE })
    for (const { isVisible, resellerId, billingServiceId, ...one } of page) {
      if (!isVisible) continue
      const owner = accountOf(one.ownerId)
      const isResold = actor.kind === 'staff' && resellerId !== null
      here.push({
        ...one,
        ownerExternalId: owner.externalId,
        ownerName: owner.name,
        resellerName: isResold ? accountOf(resellerId).name : null,
        // A reseller's billing system has identifiers of its own, which may be the same as the house's.
        billingServiceId: isResold ? null : billingServiceId,
      })
      if (slices.isOver) await slices.rest()
    }
    if (page.length < AT_ONCE) return here
    after = page.at(-1)!.workloadId
    await slices.rest()
  }
}
