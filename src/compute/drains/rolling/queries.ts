// The statements about rolling maintenance.
import { asc, isNull } from 'drizzle-orm'
import { newest } from '../../../kernel/api/list.ts'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import type { AuditTarget } from '../../../kernel/audit/target.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../../kernel/db/rows.ts'
import { type Rolling, rollingDrains } from './tables.ts'

export type { Rolling }

export const rollingTarget: AuditTarget = { prefix: 'rol', scope: 'nodes:read' }
export const rollingById = rowBy(rollingDrains, rollingDrains.id)
export const insertRolling = inserting(rollingDrains)
export const changeRolling = updating(rollingDrains, rollingDrains.id)
/** Those that have not ended, the oldest first. */
export const openRollings = (tx: Db): Rolling[] =>
  tx.select().from(rollingDrains).where(isNull(rollingDrains.finishedAt)).orderBy(asc(rollingDrains.id)).all()
/** The one at work in which this node is. */
export const rollingOf = (tx: Db, nodeId: string): Rolling | undefined =>
  openRollings(tx).find(({ nodeIds }) => nodeIds.includes(nodeId))
export const pageOfRollings = <Shown>(call: ReadContext, show: (row: Rolling) => Shown) =>
  newest({ call, name: 'rolling drains', table: rollingDrains, where: undefined, show })
