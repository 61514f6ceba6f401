import { type Static, Type as t } from 'typebox'
import { page, sortParameter } from '../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { checkResponse, showCheck } from '../import-records/checks/show-check.ts'
import { type ImportServer, pageOfServers, serverSorts } from '../import-records/inventory/queries.ts'
import { filterFrom, serverQuery } from '../import-records/inventory/server-filter.ts'
import {
  type ImportRecord,
  importAccess,
  importRecord,
  importServer,
  importServerStates,
} from '../import-records/model.ts'
import { type ImportPanels, panelLabel } from '../import-records/panels.ts'
import { importById } from '../import-records/queries.ts'
import { reasonOf } from '../import-records/refusals.ts'
import { serviceIdOf } from './claims/service-ids.ts'
import { Facts } from './facts.ts'
import { planOf } from './plan.ts'
import { locationOf } from './show.ts'

const amount = nullable(t.Number())
export const serverResponse = namedSchema('ImportServer', {
  id: t.String(),
  importId: t.String(),
  sourceId: described(t.String(), 'The id in the other panel.'),
  hostname: t.String(),
  domain: nullable(t.String()),
  state: described(
    t.Enum([...importServerStates]),
    'waiting: for decisions or the dry run. refused: it stays in any case, see reason.',
  ),
  reason: described(nullable(t.String()), 'Why it is refused, left out, or cannot be made here.'),
  refusal: nullable(t.String()),
  leftOutBy: nullable(t.Enum(['server', 'package', 'hypervisor', 'range', 'owner'])),
  undecided: described(t.Integer(), 'Decisions that it waits for.'),
  ...{ hypervisorId: t.String(), packageId: t.String(), ownerId: t.String() },
  ...{ vcpus: amount, memoryMb: amount, diskGb: amount },
  mac: nullable(t.String()),
  os: described(t.String(), 'The template there in readable form; “Imported from …” where there is none.'),
  ...{ isSuspended: t.Boolean(), isInRescue: t.Boolean() },
  power: t.Enum(['running', 'stopped', 'unknown']),
  billingId: t.String(),
  billingServiceId: described(nullable(t.String()), 'That it would have here.'),
  addresses: t.Array(
    t.Object({
      address: t.String(),
      prefixLength: nullable(t.Integer()),
      becomes: described(
        t.Enum(['kept', 'replaced', 'dropped', 'undecided']),
        'replaced: by one of the pools of its node. dropped: a copy with new IPv4 addresses loses it.',
      ),
    }),
  ),
  way: nullable(t.Enum(['copy', 'adopt'])),
  goesTo: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The location of a copy.'),
  nodeId: described(nullable(t.String()), 'Of an adopted server.'),
  becomes: described(
    t.Object({
      packageId: nullable(t.String()),
      accountId: described(nullable(t.String()), 'The account that gets it, where there is one already.'),
      newEmail: described(nullable(t.String()), 'The address of the account that is made for it.'),
      externalId: described(nullable(t.String()), 'Of that account.'),
    }),
    'Null where nothing is decided, or where it is made when the import starts.',
  ),
  isComplete: described(t.Boolean(), 'Everything is decided, and nothing is known against it.'),
  waitsFor: t.Array(t.Enum(['package', 'hypervisor', 'owner', 'range'])),
  workloadId: described(nullable(t.String()), 'The server here.'),
  check: described(nullable(checkResponse), 'What the dry run has found. Null: it has not looked at it yet.'),
})

type Showing = { tx: Db; importPanels: ImportPanels }
export function showServer(
  { tx, importPanels }: Showing,
  target: ImportRecord,
  row: ImportServer,
  facts = new Facts(tx, target),
): Static<typeof serverResponse> {
  const plan = planOf({ tx, target }, row, facts)
  return {
    ...{
      id: row.id,
      importId: row.importId,
      sourceId: row.sourceId,
      hostname: row.hostname,
      domain: row.domain,
      state: row.state,
    },
    reason: reasonOf(row),
    ...{ refusal: row.refusal, leftOutBy: row.leftOutBy, undecided: row.undecided },
    ...{ hypervisorId: row.hypervisorId, packageId: row.packageId, ownerId: row.ownerId },
    ...{ vcpus: row.vcpus, memoryMb: row.memoryMb, diskGb: row.diskGb, mac: row.mac },
    os: row.osName ?? `Imported from ${panelLabel(importPanels, target.kind)}`,
    ...{ isSuspended: row.isSuspended, isInRescue: row.isInRescue, power: row.power, billingId: row.billingId },
    billingServiceId: serviceIdOf(target, row),
    ...{ addresses: plan.addresses, way: plan.way, goesTo: locationOf(facts, plan.locationId), nodeId: plan.nodeId },
    becomes: {
      packageId: plan.package && 'id' in plan.package ? plan.package.id : null,
      accountId: plan.owner?.kind === 'existing' ? plan.owner.accountId : null,
      newEmail: plan.owner?.kind === 'new' ? plan.owner.email : null,
      externalId: plan.owner?.kind === 'new' ? plan.owner.externalId : null,
    },
    ...{ isComplete: plan.isComplete, waitsFor: plan.waitsFor, workloadId: row.workloadId },
    check: showCheck(tx, row.id, facts.nodes),
  }
}

export const listImportServers = operation({
  id: 'imports.servers',
  method: 'GET',
  path: '/admin/migrations/{id}/servers',
  summary: 'The servers of an import: what each becomes, or why it stays',
  access: importAccess,
  on: importRecord,
  query: { ...serverQuery, sort: sortParameter(serverSorts) },
  response: page(serverResponse),
  run(call) {
    const { tx, target } = call
    const facts = new Facts(tx, target)
    return pageOfServers(call, target.id, filterFrom(call.query), (row) => showServer(call, target, row, facts))
  },
})

export const getImportServer = operation({
  id: 'imports.server',
  method: 'GET',
  path: '/admin/migration-servers/{id}',
  summary: 'One server of an import: what it becomes, or why it stays',
  access: importAccess,
  on: importServer,
  response: serverResponse,
  run: (call) => showServer(call, importById(call.tx, call.target.importId)!, call.target),
})
