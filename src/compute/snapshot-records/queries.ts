import { and, eq } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy, updating } from '../../kernel/db/rows.ts'
import { type Snapshot, snapshots } from './tables.ts'

const snapshotReference = reference(snapshots, ['name'])
export const snapshotTarget: AuditTarget = {
  prefix: 'snp',
  scope: 'servers:read',
  name: (id) => snapshotReference.value('name', id),
}

export const snapshotById = rowBy(snapshots, snapshots.id)
export const changeSnapshot = updating(snapshots, snapshots.id)

/** A page of the server's snapshots, newest first. */
export const pageOfSnapshots = <Shown>(call: ReadContext, serverId: string, show: (row: Snapshot) => Shown) =>
  newest({ call, name: `snapshots ${serverId}`, table: snapshots, where: eq(snapshots.serverId, serverId), show })
/** All snapshots of the server, oldest first. */
export const snapshotsOf = (tx: Db, serverId: string): Snapshot[] =>
  tx.select().from(snapshots).where(eq(snapshots.serverId, serverId)).orderBy(snapshots.id).all()

/** Throws a unique violation when the server has a snapshot of this name. */
export const insertSnapshot = (
  tx: Tx,
  row: Pick<Snapshot, 'id' | 'serverId' | 'name' | 'comment' | 'diskGb' | 'takenBy' | 'createdAt'>,
): Snapshot => tx.insert(snapshots).values(row).returning().get()
/** Throws a unique violation when the server has a snapshot of this name. */
export const describeSnapshot = (tx: Tx, row: Snapshot, given: Partial<Snapshot>): Snapshot =>
  patched(tx, snapshots, row, given)
export const deleteSnapshot = (tx: Tx, id: string) => void tx.delete(snapshots).where(eq(snapshots.id, id)).run()

/** Layers that stood on `from` stand on `into`, and a snapshot that was `from` is `into`. */
export function moveLayers(tx: Tx, serverId: string, from: number, into: { layer: number; parent: number | null }) {
  const ofServer = eq(snapshots.serverId, serverId)
  tx.update(snapshots)
    .set({ parent: into.layer })
    .where(and(ofServer, eq(snapshots.parent, from)))
    .run()
  tx.update(snapshots)
    .set(into)
    .where(and(ofServer, eq(snapshots.layer, from)))
    .run()
}

/** Notes what the layer of a snapshot takes on the node. */
export const noteUsed = (tx: Tx, serverId: string, layer: number, usedBytes: number) =>
  void tx
    .update(snapshots)
    .set({ usedBytes })
    .where(and(eq(snapshots.serverId, serverId), eq(snapshots.layer, layer)))
    .run()

const statements = prepared(({ $client }) => ({
  held: $client.prepare<{ n: number }, [string]>(
    'SELECT coalesce(sum(disk_gb), 0) AS n FROM snapshots WHERE server_id = ?',
  ),
  forget: $client.prepare('DELETE FROM snapshots WHERE server_id = ?'),
}))
/** The space in GiB that is held for the snapshots of the server, beside its disk. */
export const snapshotsGb = (tx: Db, serverId: string): number => statements(tx).held.get(serverId)!.n
/** Forgets the snapshots of a server whose disk goes, and answers the space in GiB that was held for them. */
export function forgetSnapshots(tx: Tx, serverId: string): number {
  const held = snapshotsGb(tx, serverId)
  if (held) statements(tx).forget.run(serverId)
  return held
}
/** A server whose disk is a new one. */
export const firstLayer = { diskLayer: 0, diskParent: null, lastDiskLayer: 0 } as const
