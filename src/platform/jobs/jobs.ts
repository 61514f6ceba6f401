import { Type as t } from 'typebox'
import { everyWorkload } from '../../fleet/workloads/reports.ts'
import { isWorthWalking, page, paginate, sortParameter } from '../../kernel/api/list.ts'
import { operation, time } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text, wholeNumber } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import { lastLines } from '../../kernel/jobs/failures.ts'
import { type Line, linesAfter } from '../../kernel/jobs/log.ts'
import { job, jobDetails, jobRecord, jobState, sagaOf, showJob, showJobDetails, stateOf } from './model.ts'
import { countEveryJob, countJobs, jobRows, jobSorts, jobStates, jobsWithWords, visibleJobs } from './queries.ts'

const everybody = {
  staff: ['servers:read', 'nodes:read'],
  reseller: ['servers:read'],
  customer: ['servers:read'],
} as const

export const getJob = operation({
  id: 'jobs.get',
  method: 'GET',
  path: '/jobs/{jobId}',
  summary: 'One job; follow it until its state is succeeded or failed',
  access: everybody,
  on: job,
  response: jobDetails,
  run: ({ tx, actor, target, registry }) =>
    showJobDetails(tx, actor, target, sagaOf(registry, target), registry.failures),
})

type State = keyof typeof jobStates

export const listJobs = operation({
  id: 'jobs.list',
  method: 'GET',
  path: '/jobs',
  summary: 'Jobs, newest first',
  access: everybody,
  query: {
    q: text('Words of a title or of the name of a server or GPU instance, or the id of a job.', 100),
    state: oneOf(Object.keys(jobStates) as State[], 'running: at work or waiting for it; done: succeeded; failed.'),
    serverId: idOf('srv', 'Only jobs of this server.'),
    instanceId: idOf('gpu', 'Only jobs of this GPU instance.'),
    nodeId: idOf('nod', 'Only jobs on this node.'),
    kind: text('Only jobs of this kind, such as install.', 40),
    sort: sortParameter(jobSorts),
  },
  response: page(jobRecord),
  run(call) {
    const { tx, actor, query } = call
    const { where, values } = visibleJobs(tx, actor)
    const filters: [string, string[]][] = [[where, values]]
    if (query['state']) filters.push([jobStates[query['state'] as State], []])
    for (const [name, column] of [
      ['serverId', 'j.subject_id'],
      ['instanceId', 'j.subject_id'],
      ['kind', 'j.kind'],
    ] as const)
      if (query[name]) filters.push([`${column} = ?`, [query[name]]])
    const { nodeId } = query
    if (nodeId) filters.push(['(j.node_id = ? OR j.other_node_id = ?)', [nodeId, nodeId]])
    if (query['q']) {
      const fits = jobsWithWords(tx, query['q'])
      filters.push([fits.where, fits.values])
    }
    // Any other parameter narrows the list by what is not counted.
    const isCounted =
      where === everyWorkload.where &&
      Object.keys(query).every((name) => ['limit', 'cursor', 'sort', 'state', 'kind'].includes(name))
    const filter = { where: filters.map(([sql]) => sql).join(' AND '), values: filters.flatMap(([, v]) => v) }
    const total = countJobs(tx, { ...filter, isCounted })
    const sort = query['sort'] && jobSorts[query['sort'].replace(/^-/, '') as keyof typeof jobSorts]
    const walks = isCounted && isWorthWalking({ fitting: total, all: countEveryJob(tx) })
    return paginate({
      call,
      name: 'jobs',
      sorts: jobSorts,
      rows: (slice) => jobRows(tx, filter, slice, sort && walks ? sort.index : undefined),
      keyOf: (j) => j.id,
      show: (j) => showJob(tx, actor, j, call.registry.failures, sagaOf(call.registry, j)),
      total: () => total,
    })
  },
})

const ownLines: readonly string[] = Object.values(lastLines)
/** Commands and the words of errors name the node's paths, bridges and volumes. */
const withoutNode = (lines: readonly Line[]) =>
  lines
    .filter(({ level }) => level !== 'command')
    .map((l) => (l.level !== 'error' || ownLines.includes(l.text) ? l : { ...l, text: 'This step failed.' }))

export const getJobLog = operation({
  id: 'jobs.log',
  method: 'GET',
  path: '/jobs/{jobId}/log',
  summary: "A job's log lines; ask again with the last number. The node's commands and errors are for staff",
  access: everybody,
  on: job,
  query: { after: wholeNumber('The number of the last line you have.', 0, { maximum: 999_999_999 }) },
  response: t.Object({
    lines: t.Array(t.Object({ n: t.Integer(), at: time, level: t.String(), text: t.String() })),
    state: jobState,
  }),
  run({ tx, actor, target, query }) {
    const all = linesAfter(tx, target.id, Number(query['after'] ?? 0))
    const lines = actor.kind === 'staff' ? all : withoutNode(all)
    return { lines: lines.map((l) => ({ ...l, at: iso(l.at) })), state: stateOf(target) }
  },
})
