// The statements about what the owners of imported servers are told.
import { and, eq } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { type ImportMessage, importMessages, type MessageKind, type ToldKind } from './tables.ts'

export const messageOf = (tx: Db, importId: string, kind: MessageKind): ImportMessage | undefined =>
  tx
    .select()
    .from(importMessages)
    .where(and(eq(importMessages.importId, importId), eq(importMessages.kind, kind)))
    .get()
export const putMessage = (tx: Tx, row: ImportMessage) =>
  void tx
    .insert(importMessages)
    .values(row)
    .onConflictDoUpdate({
      target: [importMessages.importId, importMessages.kind],
      set: { isOn: row.isOn, subject: row.subject, words: row.words },
    })
    .run()

const statements = prepared(({ $client }) => ({
  tell: $client.prepare<unknown, [string, ToldKind, string, number]>(
    'INSERT OR IGNORE INTO import_told (import_id, kind, subject, at) VALUES (?, ?, ?, ?)',
  ),
  told: $client.prepare<{ kind: ToldKind; n: number }, [string]>(
    'SELECT kind, count(*) AS n FROM import_told WHERE import_id = ? GROUP BY kind',
  ),
  isTold: $client.prepare<{ at: number }, [string, ToldKind, string]>(
    'SELECT at FROM import_told WHERE import_id = ? AND kind = ? AND subject = ?',
  ),
}))

/** False: somebody was told before, and is not told again. */
export const noteTold = (tx: Tx, importId: string, kind: ToldKind, subject: string, at: number): boolean =>
  statements(tx).tell.run(importId, kind, subject, at).changes === 1
export const isTold = (tx: Db, importId: string, kind: ToldKind, subject: string): boolean =>
  statements(tx).isTold.get(importId, kind, subject) !== null
/** How many were told. */
export const toldCounts = (tx: Db, importId: string): Partial<Record<ToldKind, number>> =>
  Object.fromEntries(
    statements(tx)
      .told.all(importId)
      .map(({ kind, n }) => [kind, n]),
  )
