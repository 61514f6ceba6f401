import { eq } from 'drizzle-orm'
import type { GuestFileSystem, GuestSystem, OsFamily, StartupResult } from '../../../agent/protocol/wire.ts'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { serverReference } from '../server-records/queries.ts'
import { type InstallationCheck, type StartupScript, serverGuests, startupScripts } from './tables.ts'

/** Joined by the id of the server. */
export const guestReference = reference(
  serverGuests,
  ['osId', 'osName', 'osVersion', 'kernel', 'detectedAt'],
  'serverId',
)
export const guestOf = rowBy(serverGuests, serverGuests.serverId)
export const startupScriptOf = rowBy(startupScripts, startupScripts.serverId)

/** `seenAt`: when a Windows server was first seen running with its seed. */
type Started = { id: string; nodeId: string; os: OsFamily; seenAt: number | null }
export type Due = { id: string; nodeId: string; tries: number; waitsForScript: number }
const statements = prepared(({ $client }) => ({
  due: $client.prepare<Due, [number, number]>(
    `SELECT w.id, w.node_id AS nodeId, g.tries,
       EXISTS (SELECT 1 FROM startup_scripts s WHERE s.server_id = w.id AND s.state = 'waiting') AS waitsForScript
     FROM server_guests g ${workloadReference.crossJoin('w', 'g.server_id')}
     WHERE g.next_look_at <= ? AND w.power = 'running' AND w.lifecycle = 'active' AND w.terminated_at IS NULL
     ORDER BY g.next_look_at LIMIT ?`,
  ),
  watch: $client.prepare(
    `INSERT INTO server_guests (server_id, next_look_at) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET next_look_at = excluded.next_look_at, tries = 0, agent_answers = 0,
       seen = NULL, os_id = NULL, os_name = NULL, os_version = NULL, kernel = NULL, detected_at = NULL,
       file_systems = NULL`,
  ),
  postpone: $client.prepare('UPDATE server_guests SET next_look_at = ? WHERE server_id = ?'),
  silent: $client.prepare(
    'UPDATE server_guests SET agent_answers = 0, tries = tries + 1, next_look_at = ? WHERE server_id = ?',
  ),
  startedWithSeed: $client.prepare<Started, [number]>(
    `SELECT w.id, w.node_id AS nodeId, ${serverReference.columns('s', { os: 'os' })}, g.seed_seen_at AS seenAt
     ${serverReference.from('s')} ${workloadReference.crossJoin('w', 's.id')}
     LEFT JOIN server_guests g ON g.server_id = w.id
     WHERE ${serverReference.column('s', 'pendingSeed')} = 'next_start'
       AND ${serverReference.column('s', 'rescue')} IS NULL AND w.power = 'running' AND w.lifecycle = 'active'
       AND w.terminated_at IS NULL AND coalesce(g.seed_tried_at, 0) <= ? LIMIT 50`,
  ),
  seedSeen: $client.prepare(
    `INSERT INTO server_guests (server_id, next_look_at, seed_seen_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET seed_seen_at = excluded.seed_seen_at`,
  ),
  seedTried: $client.prepare(
    `INSERT INTO server_guests (server_id, next_look_at, seed_tried_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET seed_tried_at = excluded.seed_tried_at`,
  ),
}))

/** Servers whose guest is to be asked now, the longest waiting first. */
export const dueGuests = (tx: Db, now: number, most: number): Due[] => statements(tx).due.all(now, most)
/** A system was installed: it is asked from now on, and nothing of an earlier one counts. */
export const watchGuest = (tx: Tx, id: string, now: number) => void statements(tx).watch.run(id, now)
export const postponeLook = (tx: Tx, id: string, until: number) => void statements(tx).postpone.run(until, id)
export const noteSilent = (tx: Tx, id: string, nextLookAt: number) => void statements(tx).silent.run(nextLookAt, id)

/** The answer of a guest: its system, and how full its disks are where it tells. */
type Said = { system: GuestSystem; fileSystems: GuestFileSystem[] | undefined }
export const noteSystem = (tx: Tx, id: string, { system, fileSystems = [] }: Said, now: number, nextLookAt: number) => {
  const told = fileSystems.length ? fileSystems : null
  const known = { ...system, fileSystems: told, agentAnswers: true, tries: 0, detectedAt: now, nextLookAt }
  tx.insert(serverGuests)
    .values({ serverId: id, ...known })
    .onConflictDoUpdate({ target: serverGuests.serverId, set: known })
    .run()
}

/** After `watchGuest`, which forgets what an earlier installation left. */
export const noteCheck = (tx: Tx, id: string, seen: InstallationCheck) =>
  void tx.update(serverGuests).set({ seen }).where(eq(serverGuests.serverId, id)).run()

/** Servers that were started with a seed of a password reset, and were not tried since. */
export const startedWithSeed = (tx: Db, triedBefore: number) => statements(tx).startedWithSeed.all(triedBefore)
export const noteSeedSeen = (tx: Tx, id: string, now: number) => void statements(tx).seedSeen.run(id, now, now)
export const noteSeedTry = (tx: Tx, id: string, now: number) => void statements(tx).seedTried.run(id, now, now)

/** The script of an installation takes the place of that of the one before; without a script there is none. */
export function noteStartupScript(
  tx: Tx,
  serverId: string,
  given: Pick<StartupScript, 'jobId' | 'name' | 'content' | 'startedAt'> | undefined,
) {
  tx.delete(startupScripts).where(eq(startupScripts.serverId, serverId)).run()
  if (given)
    tx.insert(startupScripts)
      .values({ serverId, state: 'waiting', ...given })
      .run()
}
export const endStartupScript = (tx: Tx, serverId: string, result: StartupResult | undefined, now: number) =>
  void tx
    .update(startupScripts)
    .set({ ...(result ? { ...result, state: 'ended' } : { state: 'unknown' }), endedAt: now })
    .where(eq(startupScripts.serverId, serverId))
    .run()
