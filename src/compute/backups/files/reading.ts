// Asking a node for files of a backup, and its troubles in the words of the API.
import type { FileSystem, FilesRequest } from '../../../../agent/protocol/backup.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { isLockedFor } from '../../../identity/team/access.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { PrepareContext } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { type FailureWords, plainCause } from '../../../kernel/jobs/failures.ts'
import { backupTargetById } from '../../backup-target-records/queries.ts'
import { load } from '../../server-records/model.ts'
import { repositoryIn } from '../keys.ts'
import { type Backup, mustBeReady } from '../model.ts'
import { nodesReaching } from '../reach.ts'
import { type Answer, NoAnswer } from './open-question.ts'

/** Reading what is in a disk takes the right to restore it: to see that there is a backup is much less. */
export const browsing = {
  staff: ['servers:reinstall'],
  reseller: ['servers:reinstall'],
  customer: ['servers:reinstall'],
} as const
export const refusals = [
  'backup_not_ready',
  'backup_file_not_found',
  'backup_not_browsable',
  'backup_files_unavailable',
  'limit_reached',
  'account_locked',
  'server_suspended',
] as const

type Wanted = { partition?: number; path: string } & ({ type: 'list'; skip: number } | { type: 'read' })

/** Throws `support_session`, and what `refusals` names. */
export async function askFor(call: PrepareContext<Backup>, { path, ...wanted }: Wanted): Promise<Answer> {
  const { db, actor, target: backup, secrets, nodes, fileQuestions } = call
  if (actor.via.type === 'support')
    throw new ApiError('support_session', `A support session may not see the files of ${actor.name}.`)
  mustNotBeWithheld(db, actor, backup)
  mustBeReady(backup)
  if (!backupTargetById(db, backup.targetId)) throw unavailable('The place for backups was removed.')
  const nodeId = nodeFor(db, nodes, backup)
  const names = namesIn(path)
  const request: FilesRequest = {
    ...wanted,
    path: names,
    target: repositoryIn(db, secrets, nodeId, backup),
    snapshot: backup.snapshot!,
  }
  try {
    return await fileQuestions.ask(nodes, { nodeId, accountId: actor.accountId, request })
  } catch (error) {
    throw error instanceof NoAnswer ? refusalFor(error, call.registry.failures) : error
  }
}

/** A customer who may not use the server or the account does not get its data this way; staff and the reseller do. */
function mustNotBeWithheld(tx: Db, actor: Actor, { ownerId, serverId, serverName }: Backup) {
  const resellerId = accountById(tx, ownerId)?.resellerId ?? null
  if (isLockedFor(tx, actor, { ownerId, resellerId }))
    throw new ApiError('account_locked', 'The account is locked, so its backups cannot be read. Ask your provider.')
  const { status, ownerId: present } = load(tx, serverId)
  if (actor.kind === 'customer' && status === 'suspended' && present === ownerId)
    throw new ApiError(
      'server_suspended',
      `${serverName} is suspended, so its backups cannot be read. Ask your provider.`,
    )
}

const MOST_NAMES = 200
/** The names on the way to a file. Throws `backup_file_not_found`: no file is so deep. */
export function namesIn(path: string): string[] {
  const names = path.split('/').filter(Boolean)
  if (names.length > MOST_NAMES || names.some((name) => name.length > 1100)) throw notThere()
  return names
}

/** The node that made it, or another one. Throws `backup_files_unavailable`. */
function nodeFor(tx: Db, nodes: PrepareContext['nodes'], backup: Backup): string {
  const found = nodesReaching(tx, backup).find((id) => nodes.connected(id))
  if (found === undefined) throw unavailable('No node that reaches it is connected.')
  return found
}

const notThere = () => new ApiError('backup_file_not_found', 'There is no such file in the backup.')
const unavailable = (words: string) =>
  new ApiError('backup_files_unavailable', `The files of this backup cannot be read now. ${words}`)
const notBrowsable = (words: string) => new ApiError('backup_not_browsable', words)

/** Also for customers, who ask their provider for it. */
const INSTEAD = 'Have the backup restored to a new server to get at its files.'
/** File systems in words for people; null: one that is read. */
export const fileSystemWords: Readonly<Record<FileSystem, string | null>> = {
  ext: null,
  xfs: 'XFS',
  btrfs: 'Btrfs',
  ntfs: 'NTFS, of Windows',
  fat: 'FAT',
  encrypted: 'encrypted',
  lvm: 'LVM volumes',
  swap: 'swap space',
  unknown: 'unknown',
}

const refusalOf: Readonly<Record<string, (failure: NoAnswer) => ApiError>> = {
  file_not_found: notThere,
  not_a_directory: () => notBrowsable('That is no directory.'),
  not_a_file: () => notBrowsable('Only files can be downloaded: that is a directory, a link or a device.'),
  file_too_large: () => notBrowsable(`This file is larger than its file system, so it is almost empty. ${INSTEAD}`),
  no_file_system: ({ fileSystem = 'unknown' }) =>
    notBrowsable(
      `Files can be read of ext2, ext3 and ext4 only; this partition is ${fileSystemWords[fileSystem]}. ${INSTEAD}`,
    ),
  file_system_damaged: () => notBrowsable(`The file system in the backup is damaged there. ${INSTEAD}`),
  tool_missing: () => unavailable('The node lacks FUSE or a program for it. Ask your provider.'),
  too_many: () => unavailable('The node reads files of other backups. Try again in a few minutes.'),
  unreachable: () => unavailable('The node does not take it up. Try again in a minute.'),
  slow: () => unavailable('It takes long to open the backup. Try again in a minute: it goes on meanwhile.'),
  broke_off: () => unavailable('The connection to the node broke off. Try again.'),
}

function refusalFor(failure: NoAnswer, words: FailureWords): ApiError {
  const known = Object.hasOwn(refusalOf, failure.code) ? refusalOf[failure.code] : undefined
  return known?.(failure) ?? unavailable(plainCause(words, { code: failure.code, message: '' }))
}
