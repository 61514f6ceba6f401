// One operation for each action: those with `dryRun=true` answer the plan.
import { type TSchema, Type as t } from 'typebox'
import { idOf as idOfActor, nameOf } from '../../kernel/api/actor.ts'
import type { Code } from '../../kernel/api/errors.ts'
import {
  type Call,
  described,
  fields,
  isDryRun,
  line,
  type Operation,
  operation,
  type PrepareContext,
} from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { listAllInstances, listedInstanceIds } from '../gpu-instances/list.ts'
import { titles as instanceTitles } from '../gpu-instances/run/power-job.ts'
import { newOwner } from '../servers/life/change-owner.ts'
import { listAllServers, listedServerIds } from '../servers/list.ts'
import { titles } from '../servers/power-job.ts'
import { labelsField } from '../workloads/labels.ts'
import { bulkInstances, bulkServers } from './deeds.ts'
import { BEGINS, bulkActing } from './job.ts'
import { bulkActionResponse, showBulkAction, showPlan, titleOf } from './model.ts'
import { bulkActionById, insertBulkAction, insertBulkWorkload } from './queries.ts'
import { type Planned, planned, type Selectable, type Selection, selectionFields } from './select.ts'

export const servers: Selectable = { kind: bulkServers, list: listAllServers, ids: listedServerIds }
export const instances: Selectable = { kind: bulkInstances, list: listAllInstances, ids: listedInstanceIds }

type Many = Pick<Operation, 'access' | 'powers' | 'requiresRecentAuth' | 'actionWords' | 'past'> & {
  prefix: string
  path: `/${string}`
  action: string
  summary: string
  body: Record<string, TSchema>
  example: object
  /** Looks at what the body names, whichever workloads are chosen. Throws `validation_failed`. */
  mustNameKnown?(call: Pick<PrepareContext, 'db' | 'actor'>, body: any): void
}
function forMany(from: Selectable, { prefix, path, action, body, example, mustNameKnown, ...declared }: Many) {
  const { kind } = from
  const deed = kind.deeds[action]!
  const selection = selectionFields(from)
  const one: Operation = operation({
    ...declared,
    id: `${prefix}.${action}-many`,
    method: 'POST',
    path: `${path}/actions/${action}`,
    body: fields({ ...selection, ...body }),
    response: bulkActionResponse,
    status: 202,
    idempotent: true,
    dryRun: true,
    refuses: ['selection_changed', 'selection_too_large'] satisfies Code[],
    example: { filter: { status: 'running' }, ...example } as never,
    // Each of thousands is in the record: the log has what selects them.
    auditBody: (sent: any) => (sent.ids ? { ...sent, ids: sent.ids.length } : sent),
    prepare(call) {
      mustNameKnown?.(call, call.body)
      return planned(call as never, from, deed, given(call.body))
    },
    run(call) {
      const about = { kind: kind.kind, action, body: given(call.body) }
      const plan = call.prepared as Planned[]
      if (isDryRun(one, call.query)) return showPlan(about, plan)
      return showBulkAction(call.tx, bulkActionById(call.tx, begin(call as never, about, plan))!)
    },
  })
  return one
}

/** The body without the fields that select, and without those that are null, which means the same as left out. */
const given = ({ ids: _, filter: __, expected: ___, ...rest }: any): Record<string, unknown> =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))

type About = { kind: string; action: string; body: Record<string, unknown> }
function begin({ tx, actor, clock, client }: Call<unknown, Selection>, about: About, plan: readonly Planned[]): string {
  const now = clock()
  const id = newId('blk')
  const title = titleOf(about, plan.length)
  const jobId = startJob(tx, bulkActing, { bulkActionId: id }, { by: actor, title, held: BEGINS, now })
  insertBulkAction(tx, {
    ...about,
    ...{ id, jobId, state: 'running', createdAt: now, finishedAt: null },
    startedBy: { id: idOfActor(actor), name: nameOf(actor) },
    ...{ fromAddress: client.from, requestId: client.requestId },
  })
  for (const [position, { id: workloadId, name, code, reason, waits }] of plan.entries()) {
    const isRefused = code !== null && !waits
    insertBulkWorkload(tx, {
      ...{ bulkActionId: id, position, workloadId, name, jobId: null, notBefore: 0, tries: 0 },
      ...(isRefused
        ? { state: 'refused' as const, code, reason, endedAt: now }
        : { state: 'waiting' as const, code: null, reason: null, endedAt: null }),
    })
  }
  return id
}

const ofServers = { prefix: 'servers', path: '/admin/servers' } as const
const ofInstances = { prefix: 'gpu-instances', path: '/admin/gpu-instances' } as const
const reason = { reason: line(500) }
const overdue = { reason: 'Invoice 2041 is overdue' }

export const bulkOperations = [
  forMany(servers, {
    ...ofServers,
    action: 'power',
    summary: 'Start, shut down, force off or restart many servers, a few at a time on each node',
    past: 'Changed the power of many servers',
    access: { staff: ['servers:power'] },
    body: { action: t.Enum(Object.keys(titles)) },
    actionWords: titles,
    example: { action: 'start' },
  }),
  forMany(servers, {
    ...ofServers,
    action: 'suspend',
    summary: 'Suspend many servers',
    access: { staff: ['servers:suspend'] },
    body: reason,
    example: overdue,
  }),
  forMany(servers, {
    ...ofServers,
    action: 'unsuspend',
    summary: 'Unsuspend many servers, a few at a time on each node',
    access: { staff: ['servers:suspend'] },
    body: {},
    example: {},
  }),
  forMany(servers, {
    ...ofServers,
    action: 'label',
    summary: 'Add and remove labels of staff on many servers',
    past: 'Changed the labels of many servers',
    access: { staff: ['servers:settings'] },
    body: { add: labelsField('These are added.'), remove: labelsField('These are removed.') },
    example: { add: ['maintenance'] },
  }),
  forMany(servers, {
    ...ofServers,
    action: 'change-owner',
    summary: 'Give many servers to another customer, with their addresses and data',
    past: 'Changed the owner of many servers',
    access: { staff: ['customers:write'] },
    powers: ['gives_access'],
    requiresRecentAuth: true,
    body: { ownerId: described(t.String({ minLength: 1, maxLength: 40 }), 'The customer.') },
    example: { ownerId: '<customer_id>' },
    mustNameKnown: ({ db, actor }, { ownerId }) => void newOwner(db, actor, ownerId),
  }),
  forMany(instances, {
    ...ofInstances,
    action: 'power',
    summary: 'Start, stop or restart many GPU instances, a few at a time on each node',
    past: 'Changed the power of many GPU instances',
    access: { staff: ['servers:power'] },
    body: { action: t.Enum(Object.keys(instanceTitles)) },
    actionWords: instanceTitles,
    example: { action: 'start' },
  }),
  forMany(instances, {
    ...ofInstances,
    action: 'suspend',
    summary: 'Suspend many GPU instances',
    access: { staff: ['servers:suspend'] },
    body: reason,
    example: overdue,
  }),
  forMany(instances, {
    ...ofInstances,
    action: 'unsuspend',
    summary: 'Unsuspend many GPU instances, a few at a time on each node',
    access: { staff: ['servers:suspend'] },
    body: {},
    example: {},
  }),
]
/** `servers.power-many` and the others, by their ids. */
export const bulkOperation = (id: string): Operation => bulkOperations.find((op) => op.id === id)!
