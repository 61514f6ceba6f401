import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { named } from '../../kernel/api/named.ts'
import { described, fields, nullable, operation } from '../../kernel/api/operation.ts'
import { server } from '../server-records/model.ts'
import { describeSnapshot, pageOfSnapshots, snapshotsGb } from '../snapshot-records/queries.ts'
import {
  commentField,
  limitOf,
  mustBeTakeable,
  nameField,
  refusalOf,
  showSnapshot,
  snapshotIn,
  snapshotResponse,
} from './model.ts'

export const listSnapshots = operation({
  id: 'snapshots.list',
  method: 'GET',
  path: '/servers/{id}/snapshots',
  summary: 'The snapshots of a server, newest first, and how many it may have',
  access: everybody('servers:read'),
  on: server,
  pages: { usual: 50, most: 50 },
  response: t.Object({
    data: t.Array(snapshotResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    limit: described(t.Integer(), 'As its package says; 0: none.'),
    heldGb: described(t.Integer(), 'The space that is held for them beside the disk.'),
    notTakeable: described(nullable(t.String()), 'Why none can be taken now, in words; null: one can.'),
  }),
  run(call) {
    const { tx, actor, target } = call
    return {
      ...pageOfSnapshots(call, target.id, (row) => showSnapshot(tx, actor, target, row)),
      limit: limitOf(tx, target),
      heldGb: snapshotsGb(tx, target.id),
      notTakeable: refusalOf(() => mustBeTakeable(tx, actor, target)),
    }
  },
})

export const changeSnapshotWords = operation({
  id: 'snapshots.update',
  method: 'PATCH',
  path: '/servers/{id}/snapshots/{snapshotId}',
  summary: 'Rename a snapshot or change its comment',
  past: 'Changed a snapshot',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ name: t.Optional(nameField), comment: t.Optional(commentField) }),
  response: snapshotResponse,
  refuses: ['snapshot_not_found', 'name_taken'],
  example: { comment: 'PHP 8.4, before the update' },
  run({ tx, actor, target, params, body }) {
    const row = snapshotIn(tx, target, params['snapshotId'])
    return showSnapshot(
      tx,
      actor,
      target,
      named('snapshot', () => describeSnapshot(tx, row, body)),
    )
  },
})
