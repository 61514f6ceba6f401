import { prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy } from '../../kernel/db/rows.ts'
import { interruptedInstallations } from './tables.ts'

const insertInterrupted = inserting(interruptedInstallations)
const interruptedById = rowBy(interruptedInstallations, interruptedInstallations.serverId)
const interruptions = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>('DELETE FROM interrupted_installations WHERE server_id = ?'),
)
/** Keeps the installation that a suspension stops. */
export const keepInterrupted = (tx: Tx, one: typeof interruptedInstallations.$inferSelect) => {
  interruptions(tx).run(one.serverId)
  insertInterrupted(tx, one)
}
/** The installation that a suspension stopped, once; undefined where there is none. */
export const takeInterrupted = (tx: Tx, serverId: string) => {
  const found = interruptedById(tx, serverId)
  if (found) interruptions(tx).run(serverId)
  return found
}
