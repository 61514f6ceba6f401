import { Type as t } from 'typebox'
import { backupFileKinds, fileSystems, MOST_SKIPPED } from '../../../../agent/protocol/backup.ts'
import { escaped } from '../../../../agent/protocol/text.ts'
import { described, namedSchema, nullable, operation, type Query, time } from '../../../kernel/api/operation.ts'
import { wholeNumber } from '../../../kernel/api/query.ts'
import { isoOrNull } from '../../../kernel/db/clock.ts'
import { backup } from '../model.ts'
import { askFor, browsing, refusals } from './reading.ts'

const MOST_PARTITION = 256
export const partition = wholeNumber('The number of the partition; without it the largest that can be read.', 0, {
  maximum: MOST_PARTITION,
})
export const partitionIn = ({ partition }: Query) => (partition === undefined ? {} : { partition: Number(partition) })
export const filePath = (description: string) => t.String({ pattern: '^/', maxLength: 4096, description })

const entry = namedSchema('BackupFile', {
  name: described(t.String(), 'Bytes that are no UTF-8 are written as \\xff.'),
  shownName: described(t.String(), 'The same for people: without line ends and invisible characters.'),
  kind: described(t.Enum([...backupFileKinds]), 'other: a device, a pipe or a socket. Links are not followed.'),
  sizeBytes: t.Integer(),
  modifiedAt: nullable(time),
})

export const listBackupFiles = operation({
  id: 'backups.list-files',
  method: 'GET',
  path: '/backups/{id}/files',
  summary: 'A directory in the disk of a backup, directories first, 400 entries at a time',
  access: browsing,
  on: backup,
  query: {
    partition,
    path: filePath('The directory, such as /etc; without it the root directory.'),
    skip: wholeNumber('Leave out so many entries.', 0, { maximum: MOST_SKIPPED }),
  },
  response: namedSchema('BackupFiles', {
    partitions: t.Array(
      namedSchema('BackupPartition', {
        number: described(t.Integer(), '0: the disk has no partitions.'),
        sizeBytes: t.Integer(),
        fileSystem: described(t.Enum([...fileSystems]), 'Only ext can be read: ext2, ext3 and ext4.'),
      }),
    ),
    partition: described(
      nullable(t.Integer()),
      'The one that was asked for, or the largest that can be read. Null: none of them can be read.',
    ),
    path: t.String(),
    entries: t.Array(entry),
    skipped: t.Integer(),
    total: t.Integer(),
    isCut: described(t.Boolean(), 'The directory has more entries, which cannot be reached.'),
  }),
  refuses: refusals,
  async prepare(call) {
    const { path = '/', skip = '0' } = call.query
    const asked = { path, skip: Number(skip), ...partitionIn(call.query) }
    const answer = await askFor(call, { type: 'list', ...asked })
    if (!('listing' in answer)) throw new Error('a node answered a list with a file')
    return { ...answer.listing, path, skipped: asked.skip }
  },
  run: ({ prepared }) => ({
    ...prepared,
    entries: prepared.entries.map(({ name, modifiedAt, ...rest }) => ({
      ...rest,
      name,
      shownName: escaped(name),
      modifiedAt: isoOrNull(modifiedAt),
    })),
  }),
})
