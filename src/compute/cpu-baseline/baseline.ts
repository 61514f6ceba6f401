// The CPU model of a location: new servers get it, so that every node that runs it can take them over.
import { Type as t } from 'typebox'
import { location } from '../../fleet/locations/model.ts'
import { updateLocation } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { capacityRowsIn, cpuModelsIn, cpuOf } from '../../fleet/node-records/queries.ts'
import { commonModels } from '../../fleet/placement/cpu-models.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, done, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countOutside, serversOutside } from './queries.ts'

export const MOST_SERVERS = 100
const aNode = t.Object({ id: t.String(), name: t.String() })

function modelsByNode(tx: Db, locationId: string) {
  const said = Map.groupBy(cpuModelsIn(tx, locationId), ({ nodeId }) => nodeId)
  return capacityRowsIn(tx, locationId).map(({ id, name }) => ({
    id,
    name,
    models: new Set(said.get(id)?.map(({ model }) => model)),
  }))
}

export const getBaseline = operation({
  id: 'cpu-baseline.get',
  method: 'GET',
  path: '/admin/node-groups/{id}/cpu-baseline',
  summary: 'The CPU model of new servers of a location, which nodes run it, and which servers have another one',
  access: { staff: ['nodes:read'] },
  atReader: true,
  on: location,
  response: namedSchema('CpuBaseline', {
    location: locationReferred,
    model: described(nullable(t.String()), 'Null: new servers have all that the CPU of their node has.'),
    proposed: described(nullable(t.String()), 'The best one that each node runs that says what it runs.'),
    common: described(t.Array(t.String()), 'Those that all of these nodes run, the best first.'),
    nodes: t.Array(
      t.Object({
        node: aNode,
        cpu: described(nullable(t.String()), 'As the CPU calls itself.'),
        models: described(t.Integer(), 'How many it runs; 0: it does not say.'),
        runs: described(t.Boolean(), 'It runs the CPU model of the location. Without one: true.'),
      }),
    ),
    servers: described(
      t.Array(
        t.Object({
          server: t.Object({ id: t.String(), hostname: t.String() }),
          node: aNode,
          model: described(nullable(t.String()), 'Null: all that its node has.'),
          pending: described(t.Boolean(), 'It has this one from its next start from off.'),
        }),
      ),
      `Servers with another one, and those that wait for it: the first ${MOST_SERVERS}, by hostname.`,
    ),
    serversTotal: t.Integer(),
  }),
  run({ tx, actor, target }) {
    const nodes = modelsByNode(tx, target.id)
    const common = commonModels(nodes.filter(({ models }) => models.size > 0).map(({ models }) => models))
    const names = new Map(nodes.map(({ id, name }) => [id, name]))
    const seesServers = actor.permissions.has('servers.see_all')
    return {
      location: { id: target.id, name: target.name },
      model: target.cpuModel,
      proposed: common[0] ?? null,
      common,
      nodes: nodes.map(({ id, name, models }) => ({
        node: { id, name },
        cpu: cpuOf(tx, id) ?? null,
        models: models.size,
        runs: target.cpuModel === null || models.has(target.cpuModel),
      })),
      servers: (seesServers ? serversOutside(tx, target, MOST_SERVERS) : []).map((one) => ({
        server: { id: one.id, hostname: one.hostname },
        node: { id: one.nodeId, name: names.get(one.nodeId) ?? '' },
        model: one.cpuModel,
        pending: !!one.cpuPending,
      })),
      serversTotal: countOutside(tx, target),
    }
  },
})

export const setBaseline = operation({
  id: 'cpu-baseline.set',
  method: 'PUT',
  path: '/admin/node-groups/{id}/cpu-baseline',
  summary: 'Set the CPU model of new servers of a location; nodes that do not run it get none of them',
  past: 'Changed the CPU model of a location',
  access: { staff: ['nodes:write'] },
  on: location,
  body: fields({ model: described(nullable(t.String({ minLength: 1, maxLength: 60 })), 'Null: that of their node.') }),
  response: done,
  example: { model: null },
  run({ tx, target, body: { model } }) {
    if (model !== null && !modelsByNode(tx, target.id).some(({ models }) => models.has(model)))
      throw invalid({ field: 'model', message: `is run by no node of ${target.name}. Choose one of the list.` })
    updateLocation(tx, target, { cpuModel: model })
    return {}
  },
})
