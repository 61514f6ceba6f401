// A server that is there already gets the CPU model of its location. Its definition changes at once, and its machine
// with the next start from off: a machine keeps its CPU while it runs.
import { Type as t } from 'typebox'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { location } from '../../fleet/locations/model.ts'
import { nodeById, nodesWithCpuModel } from '../../fleet/node-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { load, type Server, server, serverJob } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { vmOf, volumeOf } from '../server-vm/definition.ts'
import { defineAfter, isOn, lookAtPower } from '../server-vm/steps.ts'
import { MOST_SERVERS } from './baseline.ts'
import { cpuActions } from './states.ts'

export const adoptBaseline = operation({
  id: 'cpu-baseline.adopt',
  method: 'POST',
  path: '/admin/node-groups/{id}/actions/adopt-cpu-baseline',
  summary: 'Give servers the CPU model of their location, from their next start from off',
  past: 'Gave servers the CPU model of their location',
  access: { staff: ['servers:move'] },
  on: location,
  body: fields({
    serverIds: t.Array(t.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: MOST_SERVERS }),
  }),
  response: namedSchema('CpuBaselineAdopted', {
    servers: t.Array(
      t.Object({
        serverId: t.String(),
        jobId: described(nullable(t.String()), 'Null: it was refused, or nothing is installed on it.'),
        error: described(nullable(t.Object({ code: t.String(), message: t.String() })), 'Why it was refused.'),
      }),
    ),
  }),
  status: 202,
  example: { serverIds: ['<server_id>'] },
  run({ tx, actor, target, body, clock }) {
    const asked = { by: actor, now: clock(), model: target.cpuModel }
    return {
      servers: [...new Set(body.serverIds)].map((serverId) => {
        try {
          const found = server.find(tx, actor, serverId)
          if (found?.locationId !== target.id || found.terminatedAt !== null)
            throw new ApiError('server_not_found', `There is no such server in ${target.name}. Check the id.`)
          return { serverId, jobId: adopt(tx, found, asked), error: null }
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          return { serverId, jobId: null, error: { code: error.code, message: error.message } }
        }
      }),
    }
  },
})

type Change = { by: Actor; now: number; model: string | null }
/** Throws `already_done`, `no_capacity` where its node does not run the model, and what its state refuses. */
function adopt(tx: Tx, target: Server, { by, now, model }: Change): string | null {
  cpuActions.mustAllowFor(tx, by, target, 'cpu_model')
  if (target.cpuModel === model) throw new ApiError('already_done', `${target.hostname} has this CPU model already.`)
  if (model !== null && !nodesWithCpuModel(tx, model).has(target.nodeId))
    throw new ApiError(
      'no_capacity',
      `${nodeById(tx, target.nodeId)!.name} cannot run the CPU model ${model}. Move ${target.hostname} first.`,
    )
  if (target.diskGeneration === null) {
    updateServer(tx, target.id, { cpuModel: model, cpuPending: false })
    return null
  }
  const title = `Give ${target.hostname} ${model === null ? 'the CPU of its node' : `the CPU model ${model}`}`
  return startJob(
    tx,
    changingCpu,
    { serverId: target.id, nodeId: target.nodeId, model },
    serverJob(target, { by, title, now }),
  )
}

type Input = { serverId: string; nodeId: string; model: string | null }
function plan(tx: Tx, { serverId, model }: Input): { before: Vm; after: Vm } {
  const target = load(tx, serverId)
  const volume = volumeOf(target, target.diskGeneration!)
  return { before: vmOf(tx, target, volume, false), after: vmOf(tx, { ...target, cpuModel: model }, volume, false) }
}

export const changingCpu = saga<Input>('cpu_model', {
  title: 'CPU model change',
  forStaff: true,
  cancelWith: 'servers:settings',
})
  .record('plan', 'Planning', { do: (tx, { input }) => plan(tx, input) })
  .command('define', 'Changing the virtual machine', defineAfter)
  // After the definition: a machine that is off by then has it at its next start, whatever happens in between.
  .command('look', ...lookAtPower)
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, model }, out: { look } }) =>
      updateServer(tx, serverId, { cpuModel: model, cpuPending: isOn(look.power) }),
  })
