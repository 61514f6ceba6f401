import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, fields, line, operation, see } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { location, locationResponse, showLocation } from './model.ts'
import { allLocations, insertLocation, offeredFrom, setMovesFrom, updateLocation } from './queries.ts'
import { type Location, placements, reserveUnits } from './tables.ts'

const placement = t.Enum([...placements])
const wanted = {
  placement: t.Optional(placement),
  open: t.Optional(t.Boolean()),
  reserve: t.Optional(t.Integer({ minimum: 0, maximum: 1_000_000 })),
  reserveUnit: t.Optional(t.Enum([...reserveUnits])),
}

/** Throws `validation_failed`. */
function mustBeReserve({ reserve, reserveUnit }: Pick<Location, 'reserve' | 'reserveUnit'>) {
  if (reserveUnit === 'percent' && reserve > MOST_PERCENT)
    throw invalid({ field: 'reserve', message: `must be ${MOST_PERCENT} percent or less.` })
}
/** With more a location could hardly sell anything. */
const MOST_PERCENT = 90

export const createLocation = operation({
  id: 'locations.create',
  method: 'POST',
  path: '/admin/node-groups',
  summary: 'Add a location: a group of nodes with a placement rule',
  access: { staff: ['nodes:write'] },
  body: fields({ name: line(60), ...wanted }),
  response: locationResponse,
  status: 201,
  refuses: ['name_taken'],
  example: { name: 'Frankfurt', placement: 'spread', open: true },
  run(call) {
    const { tx, body, clock } = call
    const reserved = { reserve: body.reserve ?? 0, reserveUnit: body.reserveUnit ?? 'nodes' } as const
    mustBeReserve(reserved)
    const made = named('location', () =>
      insertLocation(tx, {
        id: newId('grp'),
        name: body.name,
        placement: body.placement ?? 'spread',
        open: body.open ?? true,
        ...reserved,
        createdAt: clock(),
      }),
    )
    return showLocation(call, made)
  },
})

export const changeLocation = operation({
  id: 'locations.update',
  method: 'PATCH',
  path: '/admin/node-groups/{id}',
  summary: 'Rename a location, change its placement rule or its reserve, open or close it for new servers',
  past: 'Changed a location',
  access: { staff: ['nodes:write'] },
  on: location,
  body: fields({ name: t.Optional(line(60)), ...wanted }),
  response: locationResponse,
  refuses: ['name_taken'],
  example: { open: false },
  run(call) {
    const { tx, target, body } = call
    mustBeReserve({ ...target, ...body })
    return showLocation(
      call,
      named('location', () => updateLocation(tx, target, body)),
    )
  },
})

export const getLocation = operation({
  id: 'locations.get',
  method: 'GET',
  path: '/admin/node-groups/{id}',
  summary: 'One location',
  access: { staff: ['nodes:read', 'servers:create'] },
  on: location,
  response: locationResponse,
  run: (call) => showLocation(call, call.target),
})

export const listLocations = operation({
  id: 'locations.list',
  method: 'GET',
  path: '/admin/node-groups',
  summary: 'Locations, with what their nodes have and hold',
  access: { staff: ['nodes:read', 'servers:create'] },
  response: page(locationResponse),
  run: (call) =>
    paginateAll({
      call,
      name: 'locations',
      all: allLocations(call.tx),
      order: 'names',
      keyOf: ({ name }) => name,
      show: (location) => showLocation(call, location),
    }),
})

export const allowMoves = operation({
  id: 'locations.allow-moves',
  method: 'PUT',
  path: '/admin/node-groups/{id}/moves',
  summary: 'To which other locations the servers of this one may move, by staff or by their owners',
  past: 'Changed where servers may move',
  access: { staff: ['nodes:write'] },
  on: location,
  body: fields({
    locationIds: described(
      t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 100, uniqueItems: true }),
      'In place of those that were allowed: servers get new addresses there. The way back is allowed at the other ' +
        'location.',
    ),
    offeredIds: t.Optional(
      described(
        t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 100, uniqueItems: true }),
        'Those of them that owners of servers may choose themselves; the others are for staff alone. Without it ' +
          'those stay offered that were.',
      ),
    ),
  }),
  response: locationResponse,
  example: { locationIds: [], offeredIds: [] },
  run(call) {
    const { tx, actor, target, body } = call
    const field = 'locationIds'
    const to = body.locationIds.map((id) => see(tx, actor, location, id, field))
    if (to.some(({ id }) => id === target.id))
      throw invalid({ field, message: 'must not name the location itself: its servers move between its nodes anyway.' })
    const ids = to.map(({ id }) => id)
    const wrong = body.offeredIds?.find((id) => !ids.includes(id))
    if (wrong !== undefined)
      throw invalid({ field: 'offeredIds', message: 'must name locations that are among `locationIds`.' })
    setMovesFrom(tx, target.id, ids, body.offeredIds ?? offeredFrom(tx, target.id))
    return showLocation(call, target)
  },
})
