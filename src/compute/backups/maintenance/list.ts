// The repositories of all accounts, with what was found in them.
import { type Static, Type as t } from 'typebox'
import { backupCheckFindings } from '../../../../agent/protocol/backup.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { page, paginateAll } from '../../../kernel/api/list.ts'
import { described, mayCall, namedSchema, nullable, operation, time } from '../../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../../kernel/attention.ts'
import { iso, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { backupTargetById } from '../../backup-target-records/queries.ts'
import { PARTS } from './check.ts'
import { allRepositories, damagedRepositories, NEVER } from './queries.ts'
import type { BackupRepository } from './tables.ts'

const repository = namedSchema('BackupRepository', {
  target: t.Object({ id: t.String(), name: t.String() }),
  owner: t.Object({ id: t.String(), name: t.String() }),
  node: described(
    nullable(t.Object({ id: t.String(), name: t.String() })),
    'The node in whose folder it lies; null in a target that all nodes share.',
  ),
  jobId: described(nullable(t.String()), 'The last job that checked or tidied it.'),
  checkedAt: described(nullable(time), 'Null before the first check.'),
  finding: described(nullable(t.Enum([...backupCheckFindings])), 'Of the last check.'),
  detail: nullable(t.String()),
  damagedAt: described(nullable(time), 'Since when it is known to be damaged; null: it is not.'),
  partsRead: described(t.Integer(), 'Of its data, in this round. A round begins when all parts were read.'),
  parts: t.Integer(),
  prunedAt: described(nullable(time), 'When space was last freed. Null: never.'),
  prunedHere: described(
    t.Boolean(),
    'False: its target is append-only, so the holder of the second key of the target frees the space there.',
  ),
  freedBytes: nullable(t.Integer()),
})

const show = (tx: Db, row: BackupRepository): Static<typeof repository> => ({
  target: { id: row.targetId, name: backupTargetById(tx, row.targetId)?.name ?? '' },
  owner: { id: row.ownerId, name: accountById(tx, row.ownerId)?.name ?? '' },
  node: row.folderNodeId ? { id: row.folderNodeId, name: nodeById(tx, row.folderNodeId)?.name ?? '' } : null,
  jobId: row.jobId,
  checkedAt: isoOrNull(row.checkedAt),
  finding: row.finding,
  detail: row.detail || null,
  damagedAt: isoOrNull(row.damagedAt),
  partsRead: row.nextPart - 1,
  parts: PARTS,
  prunedAt: isoOrNull(row.prunedAt),
  prunedHere: row.pruneDueAt !== NEVER && backupTargetById(tx, row.targetId)?.appendOnly !== 'yes',
  freedBytes: row.freedBytes,
})

export const listRepositories = operation({
  id: 'backup-repositories.list',
  method: 'GET',
  path: '/admin/backup-repositories',
  summary:
    'The repository of each account in each place for backups, and in the folder of each node, damaged ones first: ' +
    'what the daily check found',
  access: { staff: ['settings:write'] },
  pages: { usual: 100, most: 200 },
  response: page(repository),
  run: (call) =>
    paginateAll({
      call,
      name: 'backup repositories',
      all: allRepositories(call.tx),
      keyOf: ({ damagedAt, targetId, ownerId, folderNodeId }) =>
        `${damagedAt === null ? 1 : 0} ${targetId} ${ownerId} ${folderNodeId}`,
      order: 'names',
      show: (row) => show(call.tx, row),
    }),
})

/** Repositories in which damage was found: what they hold may not be restorable. */
export const damaged: Source = ({ tx, actor }): Attention[] =>
  mayCall(listRepositories, actor)
    ? damagedRepositories(tx, MOST_SHOWN).map((row) => ({
        level: 'bad',
        what:
          `The backups of ${accountById(tx, row.ownerId)?.name ?? 'an account'} in ` +
          `${backupTargetById(tx, row.targetId)?.name ?? 'a backup target'}` +
          `${row.folderNodeId ? ` on ${nodeById(tx, row.folderNodeId)?.name ?? 'a node'}` : ''} are damaged.`,
        effect: `Some of them cannot be restored. ${row.detail ?? ''}`.trim(),
        since: iso(row.damagedAt!),
        action: 'Open backup targets',
        href: '/admin/backup-targets',
      }))
    : []
