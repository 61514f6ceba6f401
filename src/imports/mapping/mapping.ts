import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { type Page, page } from '../../kernel/api/list.ts'
import { described, fields, namedSchema, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import {
  choiceCounts,
  leaveOutServers,
  leftToDecide,
  type OwnerFilter,
  ownerCondition,
  rowCondition,
  settle,
} from '../import-records/choices/queries.ts'
import { changeServer, type Part, type PartRow, rowsOf, serverInImport } from '../import-records/inventory/queries.ts'
import {
  type BillingIds,
  billingFields,
  type ImportRecord,
  importAccess,
  importRecord,
  importResponse,
  ownerChoices,
  ownerConflicts,
  showImport,
} from '../import-records/model.ts'
import { changeImport, importById, noteMapped } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { choose, choosing, chosenHypervisor, chosenOwner, chosenPackage, chosenRange, type Given } from './choose.ts'
import { Facts } from './facts.ts'
import { planOfImport } from './plan.ts'
import { responses, showRows } from './show.ts'

const base = { method: 'GET', access: importAccess, on: importRecord } as const

/** A page of a part, in the order of the ids in the other panel. */
function pageOf<P extends Part>(call: ReadContext<ImportRecord>, part: P, where?: ReturnType<typeof ownerCondition>) {
  const { tx, target } = call
  const rows = rowsOf[part].page as unknown as (
    call: ReadContext,
    id: string,
    where: ReturnType<typeof ownerCondition>,
    show: (row: PartRow[P]) => PartRow[P],
  ) => Page<PartRow[P]>
  const found = rows(call, target.id, where, (row) => row)
  return { ...found, data: showRows({ tx, target, facts: new Facts(tx, target) }, part, found.data) }
}

const yes = (description: string) => oneOf(['true'], description)
const rowQuery = {
  undecided: yes('Only those about which nothing is decided.'),
  proposed: yes('Only those about which nobody has decided yet and a choice is proposed.'),
  q: text('Only those with this text in their name, or with this id.'),
}
const pageOfRows = <P extends 'packages' | 'ranges' | 'hypervisors'>(call: ReadContext<ImportRecord>, part: P) =>
  pageOf(
    call,
    part,
    rowCondition(part, {
      undecided: call.query['undecided'] === 'true',
      proposed: call.query['proposed'] === 'true',
      q: call.query['q'],
    }),
  )

export const listMappedPackages = operation({
  ...base,
  id: 'imports.packages',
  path: '/admin/migrations/{id}/mapping/packages',
  summary: 'The packages of the other panel, and which own package each becomes',
  query: rowQuery,
  response: page(responses.packages),
  run: (call) => pageOfRows(call, 'packages'),
})
export const listMappedRanges = operation({
  ...base,
  id: 'imports.ranges',
  path: '/admin/migrations/{id}/mapping/ranges',
  summary: 'The ranges of addresses of the other panel, and what happens to each',
  query: rowQuery,
  response: page(responses.ranges),
  run: (call) => pageOfRows(call, 'ranges'),
})
export const listMappedHypervisors = operation({
  ...base,
  id: 'imports.hypervisors',
  path: '/admin/migrations/{id}/mapping/hypervisors',
  summary: 'The hypervisors of the other panel, and where the servers of each go',
  query: rowQuery,
  response: page(responses.hypervisors),
  run: (call) => pageOfRows(call, 'hypervisors'),
})
export const ownerQuery = {
  conflict: oneOf(ownerConflicts, 'Only those with this conflict.'),
  choice: oneOf(ownerChoices, 'Only those for whom this is chosen.'),
  undecided: yes('Only those for whom nothing is decided.'),
  proposed: yes('Only those for whom nobody has decided yet and a choice is proposed.'),
  lapsed: yes('Only those whose earlier choice does not hold any more.'),
  q: text('Only those with this text in their name, address or the name of a server, or with this id.'),
}
export const ownerFilterFrom = (query: Readonly<Record<string, string | undefined>>): OwnerFilter => ({
  conflict: query['conflict'] as OwnerFilter['conflict'],
  choice: query['choice'],
  undecided: query['undecided'] === 'true',
  proposed: query['proposed'] === 'true',
  lapsed: query['lapsed'] === 'true',
  q: query['q'],
})
export const listMappedOwners = operation({
  ...base,
  id: 'imports.owners',
  path: '/admin/migrations/{id}/mapping/owners',
  summary: 'The owners of the other panel, and who gets the servers of each',
  query: ownerQuery,
  response: page(responses.owners),
  run: (call) => pageOf(call, 'owners', ownerCondition(ownerFilterFrom(call.query))),
})

const partCounts = t.Object({
  rows: described(t.Integer(), 'That are not decided and that a server waits for.'),
  servers: described(t.Integer(), 'That wait for one.'),
  choices: described(
    t.Array(t.Object({ choice: t.Union([t.String(), t.Null()]), isProposed: t.Boolean(), rows: t.Integer() })),
    'How many rows have each choice.',
  ),
})
const mappingResponse = namedSchema('ImportMapping', {
  version: t.Integer(),
  billing: t.Object(billingFields),
  ...{ packages: partCounts, ranges: partCounts, hypervisors: partCounts, owners: partCounts },
})
function showMapping({ tx }: Pick<ReadContext, 'tx'>, { id, mappingVersion, billing }: ImportRecord) {
  const left = leftToDecide(tx, id)
  const counted = choiceCounts(tx, id)
  const of = (part: Part) => ({
    ...left[part],
    choices: counted
      .filter((one) => one.part === part)
      .map(({ choice, isProposed, n }) => ({ choice, isProposed: isProposed === 1, rows: n })),
  })
  return {
    ...{ version: mappingVersion, billing },
    ...{ packages: of('packages'), ranges: of('ranges'), hypervisors: of('hypervisors'), owners: of('owners') },
  }
}

export const getMapping = operation({
  ...base,
  id: 'imports.mapping',
  path: '/admin/migrations/{id}/mapping',
  summary: 'What is decided, part by part, and what is left; the rows of each part have lists of their own',
  response: mappingResponse,
  run: (call) => showMapping(call, call.target),
})

const MOST_AT_ONCE = 500
const rowsField = <T extends ReturnType<typeof fields>>(row: T) => t.Optional(t.Array(row, { maxItems: MOST_AT_ONCE }))

export const changeMapping = operation({
  id: 'imports.change-mapping',
  method: 'PATCH',
  path: '/admin/migrations/{id}/mapping',
  summary: 'Decide: what is not sent stays as it is. Hypervisors are decided first, then packages, ranges and owners',
  past: 'Changed the mapping of an import',
  access: importAccess,
  on: importRecord,
  body: fields({
    hypervisors: rowsField(chosenHypervisor),
    packages: rowsField(chosenPackage),
    ranges: rowsField(chosenRange),
    owners: rowsField(chosenOwner),
    servers: t.Optional(
      described(
        t.Array(
          fields({
            id: t.String({ minLength: 1, maxLength: 60 }),
            isLeftOut: t.Optional(t.Boolean()),
            hasBillingId: t.Optional(described(t.Boolean(), 'False: it comes without its billing id.')),
          }),
          { maxItems: MOST_AT_ONCE },
        ),
        'Servers alone that are left out, or not any more.',
      ),
    ),
    billing: t.Optional(
      fields({
        externalId: t.Optional(billingFields.externalId),
        billingServiceId: t.Optional(billingFields.billingServiceId),
        billingProductId: t.Optional(billingFields.billingProductId),
      }),
    ),
  }),
  response: mappingResponse,
  idempotent: true,
  refuses: ['choice_not_offered', 'import_not_discovered', 'import_busy', 'import_started', 'import_ended'],
  example: { packages: [{ sourceId: '7', choice: 'leave_out' }] },
  run(call) {
    const { tx, target, body } = call
    mustAllow(target, 'map')
    const by = choosing(call)
    for (const part of ['hypervisors', 'packages', 'ranges', 'owners'] as const satisfies readonly Part[]) {
      const given = body[part] as readonly Given[typeof part][] | undefined
      if (given) choose(by, part, given as never)
    }
    for (const [i, { id, isLeftOut, hasBillingId }] of (body.servers ?? []).entries()) {
      if (!serverInImport(tx, target.id, id))
        throw invalid({ field: `servers/${i}/id`, message: 'is none of this import.' })
      if (hasBillingId !== undefined) changeServer(tx, id, { hasBillingId })
      if (isLeftOut !== undefined)
        settle(tx, target.id, { serverIds: leaveOutServers(tx, target.id, { ids: [id] }, isLeftOut) })
    }
    if (body.billing) {
      const billing = { ...target.billing, ...(body.billing as Partial<BillingIds>) }
      changeImport(tx, target.id, { billing })
    }
    noteMapped(tx, target.id)
    return showMapping(call, importById(tx, target.id)!)
  },
})

const servers = t.Integer()
export const getPlan = operation({
  ...base,
  id: 'imports.plan',
  path: '/admin/migrations/{id}/plan',
  summary: 'What the import would do as things are decided now',
  response: namedSchema('ImportPlan', {
    import: importResponse,
    servers: t.Object({
      coming: servers,
      undecided: described(servers, 'Of those that come: they wait for a decision.'),
      conflicts: described(servers, 'Of those that come: something here or there stands against them.'),
      leftOut: servers,
      refused: servers,
      alreadyMoved: servers,
    }),
    refusals: t.Array(t.Object({ code: t.String(), servers })),
    diskGb: t.Number(),
    locations: t.Array(
      t.Object({
        ...{ id: t.String(), name: t.String(), servers, diskGb: t.Integer(), memoryMb: t.Integer() },
        newIpv4: described(t.Integer(), 'Addresses that copies need there.'),
        freeIpv4: t.Integer(),
      }),
    ),
    adopted: t.Array(t.Object({ hypervisorId: t.String(), nodeId: t.String(), name: t.String(), servers })),
    packagesToMake: t.Array(t.Object({ sourceId: t.String(), name: t.String(), servers })),
    poolsToMake: t.Array(
      t.Object({ sourceId: t.String(), name: t.String(), network: t.Union([t.String(), t.Null()]), servers }),
    ),
    quotas: described(
      t.Array(
        t.Object({
          ...{ resellerId: t.String(), name: t.String(), resource: t.String() },
          ...{ used: t.Integer(), more: t.Integer(), limit: t.Integer(), isExceeded: t.Boolean() },
        }),
      ),
      'Of resellers for whom servers come, what is limited: used now, and what the import adds.',
    ),
    accounts: t.Object({
      toMake: t.Integer(),
      toJoin: described(
        t.Array(
          t.Object({
            ...{ id: t.String(), name: t.String(), kind: t.String(), servers, diskGb: t.Integer() },
            isLocked: t.Boolean(),
          }),
        ),
        'Accounts that were chosen, the first 500.',
      ),
    }),
  }),
  run(call) {
    return { import: showImport(call, call.target), ...planOfImport(call) }
  },
})
