// A card that its node reports as broken, does not report any more, or that fails its check, is not sold from that
// moment. Nobody calls an operation for it, so the audit log gets a line of its own.
import { system } from '../../kernel/api/actor.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { GpuCard } from './tables.ts'

/** Name of the audit line: no operation is called for it. */
export const OUT_OF_SALE = 'gpus.out-of-sale'
/** Each reason for a log, where the line says first what is out of sale. */
export const outOfSaleActions = {
  broken: 'Out of sale: its node reports it as broken',
  missing: 'Out of sale: its node does not report it',
  check_failed: 'Out of sale: it did not pass its check',
} as const
export type OutOfSale = keyof typeof outOfSaleActions

type Card = Pick<GpuCard, 'id' | 'uuid' | 'nodeId' | 'workloadId'>
/** `problems`: sentences. */
export function noteOutOfSale(tx: Tx, card: Card, reason: OutOfSale, problems: readonly string[], now: number) {
  const { id, uuid, nodeId, workloadId } = card
  auditLine(
    tx,
    { clock: () => now },
    {
      actor: system,
      operation: OUT_OF_SALE,
      target: id,
      from: '',
      requestId: '',
      result: 'done',
      details: { action: reason, uuid, nodeId, problems, ...(workloadId !== null && { heldBy: workloadId }) },
    },
  )
}
