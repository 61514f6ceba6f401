import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { described, nullable, operation } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { endedServer } from '../server-records/model.ts'
import { snapshotsOf } from '../snapshot-records/queries.ts'
import { refusalOf } from '../snapshots/model.ts'
import { backup, backupRecord, backupResponse, mustBeBackupable, reading, showBackup, showRecord } from './model.ts'
import { backupsOf, pageOfAllBackups, pageOfBackups } from './queries.ts'

export const listBackups = operation({
  id: 'backups.list',
  method: 'GET',
  path: '/servers/{id}/backups',
  summary: 'The backups of a server under its present owner, newest first',
  access: reading,
  on: endedServer,
  pages: { usual: 50, most: 200 },
  response: t.Object({
    data: t.Array(backupResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    lastFailure: described(
      nullable(backupRecord),
      'The newest backup, when it failed and nobody had cancelled it. Null: the newest one worked, or there is none.',
    ),
    snapshots: described(t.Integer(), 'So many snapshots go with the present disk when a backup is restored in place.'),
    notTakeable: described(nullable(t.String()), 'Why none can be made now, in words; null: one can.'),
  }),
  run(call) {
    const { tx, actor, target } = call
    const newest = backupsOf(tx, target).find(
      ({ state, errorCode }) => state !== 'running' && errorCode !== 'cancelled',
    )
    return {
      ...pageOfBackups(call, target, (row) => showBackup(tx, actor, target, row)),
      lastFailure: newest?.state === 'failed' ? showRecord(tx, newest) : null,
      snapshots: snapshotsOf(tx, target.id).length,
      notTakeable: refusalOf(() => mustBeBackupable(tx, actor, target)),
    }
  },
})

export const listAllBackups = operation({
  id: 'backups.list-all',
  method: 'GET',
  path: '/backups',
  summary: 'Every backup that you own or have in your care, also of servers that are terminated, newest first',
  access: reading,
  query: {
    serverId: t.String({ minLength: 1, maxLength: 40, description: 'Of this server only.' }),
    left: oneOf(['true', 'false'], 'With true only those whose server is terminated, or another’s now.'),
  },
  response: page(backupRecord),
  run(call) {
    const { serverId, left } = call.query
    return pageOfAllBackups(call, { serverId, left: left === 'true' }, (row) => showRecord(call.tx, row))
  },
})

export const getBackup = operation({
  id: 'backups.get',
  method: 'GET',
  path: '/backups/{id}',
  summary: 'One backup, also of a server that is terminated',
  access: reading,
  on: backup,
  response: backupRecord,
  run: ({ tx, target }) => showRecord(tx, target),
})
