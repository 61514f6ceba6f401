import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { endedServer } from '../server-records/model.ts'
import { guestOf } from './queries.ts'

export const listFileSystems = operation({
  id: 'servers.file-systems',
  method: 'GET',
  path: '/servers/{id}/file-systems',
  summary: 'How full the disks of a server are, as its guest agent told it last',
  access: everybody('servers:read'),
  on: endedServer,
  response: namedSchema('FileSystems', {
    seenAt: described(nullable(time), 'When its guest agent told it; null: none has.'),
    fileSystems: t.Array(
      t.Object({
        path: described(t.String(), 'Where it is mounted. The guest can claim anything.'),
        device: t.String(),
        kind: described(t.String(), 'Such as ext4.'),
        usedBytes: t.Integer(),
        totalBytes: t.Integer(),
      }),
    ),
  }),
  run({ tx, target }) {
    const guest = guestOf(tx, target.id)
    const fileSystems = guest?.fileSystems ?? []
    return { seenAt: isoOrNull(fileSystems.length ? (guest?.detectedAt ?? null) : null), fileSystems }
  },
})
