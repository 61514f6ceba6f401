import { and } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { pageOfVolumes, renameVolumeRow, volumesGbOf, volumesThatFit } from '../../fleet/volume-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, fields, nullable, operation } from '../../kernel/api/operation.ts'
import { idOf, text } from '../../kernel/api/query.ts'
import { server } from '../server-records/model.ts'
import { refusalOf } from '../snapshots/model.ts'
import {
  allowanceGb,
  mustBeMakeable,
  mustNotBeLockedFor,
  nameField,
  showVolume,
  visibleTo,
  volume,
  volumeResponse,
} from './model.ts'

export const listVolumes = operation({
  id: 'volumes.list',
  method: 'GET',
  path: '/volumes',
  summary: 'Extra volumes, newest first, with the server that has each',
  access: everybody('servers:read'),
  query: {
    ownerId: idOf('usr', 'Only those of this account.'),
    resellerId: idOf('usr', 'Only those of the customers of this reseller.'),
    nodeId: idOf('nod', 'Only those on this node.'),
    q: text('Part of a name, or an id.'),
  },
  response: page(volumeResponse),
  run(call) {
    const { tx, actor, query } = call
    const { ownerId, resellerId, nodeId, q } = query
    const where = and(visibleTo(actor), volumesThatFit(tx, { ownerId, resellerId, nodeId, text: q }))
    return pageOfVolumes(call, { name: 'volumes', where }, (volume) => showVolume(tx, actor, volume))
  },
})

export const listServerVolumes = operation({
  id: 'volumes.of-server',
  method: 'GET',
  path: '/servers/{id}/volumes',
  summary: 'The extra volumes of a server, and how much of them its owner may have',
  access: everybody('servers:read'),
  on: server,
  pages: { usual: 50, most: 50 },
  response: t.Object({
    data: t.Array(volumeResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    limitGb: described(t.Integer(), 'What comes with all servers of the owner, by their packages.'),
    usedGb: described(t.Integer(), 'Of it, by volumes of all of them and by detached ones.'),
    notMakeable: described(nullable(t.String()), 'Why none can be made now, in words; null: one can.'),
  }),
  run(call) {
    const { tx, actor, target } = call
    const list = { name: `volumes ${target.id}`, where: volumesThatFit(tx, { serverId: target.id }) }
    return {
      ...pageOfVolumes(call, list, (volume) => showVolume(tx, actor, volume)),
      limitGb: allowanceGb(tx, target.ownerId),
      usedGb: volumesGbOf(tx, target.ownerId),
      notMakeable: refusalOf(() => mustBeMakeable(tx, actor, target)),
    }
  },
})

export const getVolume = operation({
  id: 'volumes.get',
  method: 'GET',
  path: '/volumes/{id}',
  summary: 'One extra volume',
  access: everybody('servers:read'),
  on: volume,
  response: volumeResponse,
  run: ({ tx, actor, target }) => showVolume(tx, actor, target),
})

export const renameVolume = operation({
  id: 'volumes.update',
  method: 'PATCH',
  path: '/volumes/{id}',
  summary: 'Rename an extra volume',
  past: 'Renamed a volume',
  access: everybody('servers:settings'),
  on: volume,
  body: fields({ name: nameField }),
  response: volumeResponse,
  refuses: ['name_taken', 'account_locked'],
  example: { name: 'Archive' },
  run({ tx, actor, target, body }) {
    mustNotBeLockedFor(tx, actor, target)
    return showVolume(
      tx,
      actor,
      named('volume', () => renameVolumeRow(tx, target, body)),
    )
  },
})
