import { byteFile, operation } from '../../../kernel/api/operation.ts'
import { auditLine } from '../../../kernel/audit/audit.ts'
import { writeIfPossible } from '../../../kernel/db/open.ts'
import { backup } from '../model.ts'
import { filePath, partition, partitionIn } from './list-files.ts'
import { askFor, browsing, namesIn, refusals } from './reading.ts'

const ID = 'backups.download-file'

export const downloadBackupFile = operation({
  id: ID,
  method: 'GET',
  path: '/backups/{id}/files/content',
  summary: 'A file out of the disk of a backup. Each download is in the audit log',
  access: browsing,
  on: backup,
  query: {
    partition,
    path: filePath('The file, such as /etc/hostname.'),
  },
  produces: 'application/octet-stream',
  response: byteFile,
  refuses: refusals,
  async prepare(call) {
    const { path = '/' } = call.query
    const answer = await askFor(call, { type: 'read', ...partitionIn(call.query), path })
    if (!('file' in answer)) throw new Error('a node answered a file with a list')
    const {
      actor,
      target,
      client: { from, requestId },
    } = call
    const details = { ...partitionIn(call.query), path, sizeBytes: answer.file.sizeBytes }
    writeIfPossible(call.db, (tx) =>
      auditLine(tx, call, { actor, operation: ID, target: target.id, from, requestId, result: 'done', details }),
    )
    return { ...answer.file, name: namesIn(path).at(-1) ?? 'file' }
  },
  run: ({ prepared }) => prepared,
})
