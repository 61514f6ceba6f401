import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { ImportRecord, ImportServer } from '../import-records/model.ts'
import { type ImportMove, moveOf } from '../import-records/moves/queries.ts'
import { importById } from '../import-records/queries.ts'

/** The import of a server that has moved, and its move. Throws `import_server_not_moved`. */
export function movedIn(tx: Db, { id, importId, hostname }: ImportServer): { of: ImportRecord; move: ImportMove } {
  const move = moveOf(tx, id)
  if (move?.state !== 'moved')
    throw new ApiError('import_server_not_moved', `${hostname} has not moved, so nothing of it is here.`)
  return { of: importById(tx, importId)!, move }
}
