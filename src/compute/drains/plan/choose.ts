// Choices for the servers of a node, kept in its plan: they hold over a reload, and for a drain that begins later.
import { Type as t } from 'typebox'
import { node } from '../../../fleet/node-records/model.ts'
import { nameOf } from '../../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { described, done, fields, namedSchema, nullable, operation, see } from '../../../kernel/api/operation.ts'
import { server } from '../../server-records/model.ts'
import { choicesFor, dropChoice, dropChoices, putChoice } from '../queries.ts'
import { chosenModes } from '../tables.ts'
import { choiceResponse, showChoice } from './choice.ts'

const access = { staff: ['nodes:maintain'] } as const
const MOST_PLACES = 5000

export const chooseInPlan = operation({
  id: 'nodes.choose-in-drain-plan',
  method: 'PUT',
  path: '/admin/nodes/{id}/drain-plan/servers/{serverId}',
  summary: 'Choose how a server leaves its node, until a drain begins: its way, its node, its place, or that it stays',
  past: 'Changed a drain plan',
  access,
  on: node,
  body: fields({
    mode: t.Optional(described(nullable(t.Enum([...chosenModes])), 'Null, and without it: as nothing speaks against.')),
    nodeId: t.Optional(described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'Null: placement chooses.')),
    leave: t.Optional(described(t.Boolean(), 'It stays where it is.')),
    place: t.Optional(
      described(
        nullable(t.Integer({ minimum: 1, maximum: MOST_PLACES })),
        'Those with a place move first, in its order. Null: in the order of the plan.',
      ),
    ),
  }),
  response: namedSchema('DrainChoiceKept', {
    serverId: t.String(),
    choice: described(nullable(choiceResponse), 'Null: nothing is chosen any more.'),
  }),
  refuses: ['server_not_found'],
  example: { mode: 'live', nodeId: null },
  run({ tx, actor, target, body, params }) {
    const { mode = null, nodeId = null, leave = false, place = null } = body
    const to = nodeId === null ? null : see(tx, actor, node, nodeId, 'nodeId')
    const found = server.find(tx, actor, params['serverId'] ?? '')
    if (found?.nodeId !== target.id || found.terminatedAt !== null)
      throw new ApiError('server_not_found', `There is no such server on ${target.name}. Check the id.`)
    if (to?.id === target.id) throw invalid({ field: 'nodeId', message: `must be another node than ${to.name}.` })
    const of = { nodeId: target.id, workloadId: found.id }
    if (mode === null && to === null && !leave && place === null) {
      dropChoice(tx, of)
      return { serverId: found.id, choice: null }
    }
    const choice = { ...of, mode, toNodeId: to?.id ?? null, leaves: leave, place, setBy: nameOf(actor) }
    putChoice(tx, choice)
    return { serverId: found.id, choice: showChoice(tx, choice) }
  },
})

export const forgetChoices = operation({
  id: 'nodes.forget-drain-choices',
  destroys: [],
  method: 'DELETE',
  path: '/admin/nodes/{id}/drain-plan/servers',
  summary: 'Take back every choice in the plan of a node',
  past: 'Reset a drain plan',
  access,
  on: node,
  response: done,
  run({ tx, target }) {
    if (choicesFor(tx, target.id).size) dropChoices(tx, target.id)
    return {}
  },
})
