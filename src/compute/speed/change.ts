// A speed of its own for one server: an add-on that billing sells, or a limit that staff set.
import { Type as t } from 'typebox'
import { described, fields, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { isOverridden, type Limits, limitsOf, overrideOf, speedOf } from '../server-records/limits.ts'
import { inEvent, jobResponse, load, server, serverJob } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { speedActions } from './states.ts'
import { setSpeed } from './tell.ts'

const mbps = nullable(t.Integer({ minimum: 1, maximum: 400_000 }))

export const changeSpeed = operation({
  id: 'servers.speed',
  method: 'PATCH',
  path: '/servers/{id}/speed',
  summary: 'Set the speed of a server; in force at once, and null is that of its package',
  past: 'Changed the speed',
  access: { staff: ['servers:resize'] },
  on: server,
  body: fields({
    portInMbps: t.Optional(described(mbps, 'Traffic to the server, in megabit per second.')),
    portOutMbps: t.Optional(described(mbps, 'Traffic from the server, in megabit per second.')),
    cpuPercent: t.Optional(
      described(nullable(t.Integer({ minimum: 1, maximum: 100 })), 'The share of the processor time of all its vCPUs.'),
    ),
  }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...speedActions.refusalsOf('speed'), 'server_busy'],
  example: { portInMbps: 200, portOutMbps: 100, cpuPercent: null },
  run({ tx, actor, target, body, clock }) {
    speedActions.mustAllowFor(tx, actor, target, 'speed')
    const before = overrideOf(target)
    const override: Limits = { ...before, ...body }
    const now = clock()
    if (JSON.stringify(override) === JSON.stringify(before)) return { jobId: null, serverId: target.id }
    // Its node has no vm of it: the installation tells the node.
    if (target.status === 'pending_setup' || target.diskGeneration === null) {
      record(tx, target.id, override, now)
      return { jobId: null, serverId: target.id }
    }
    const input = { serverId: target.id, nodeId: target.nodeId, override }
    const title = `Change the speed of ${target.hostname}`
    return {
      jobId: startJob(tx, changingSpeed, input, serverJob(target, { by: actor, title, now })),
      serverId: target.id,
    }
  },
})

function record(tx: Tx, id: string, override: Limits, now: number) {
  updateServer(tx, id, columnsOf(override))
  const changed = load(tx, id)
  const { concerning, data } = inEvent(tx, changed)
  const speed = limitsOf(changed)
  emit(tx, now, 'server.speed_changed', concerning, { ...data, speed, overridden: isOverridden(override) })
}

const columnsOf = ({ portInMbps, portOutMbps, cpuPercent }: Limits) => ({
  speedInMbps: portInMbps,
  speedOutMbps: portOutMbps,
  speedCpuPercent: cpuPercent,
})

type Input = { serverId: string; nodeId: string; override: Limits }

export const changingSpeed = saga<Input>('speed', { title: 'Speed change', cancelWith: 'servers:resize' })
  .record('plan', 'Working out its limits', {
    do(tx, { input: { serverId, override } }) {
      const target = load(tx, serverId)
      return { before: speedOf(target), after: speedOf({ ...target, ...columnsOf(override) }) }
    },
  })
  .command('tell', 'Telling its node', {
    do: ({ input, out }) => setSpeed(input, out.plan.after),
    undo: ({ input, out }) => setSpeed(input, out.plan.before),
  })
  .record('note', 'Recording it', {
    do: (tx, { input, now }) => record(tx, input.serverId, input.override, now),
  })
