import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'

type IdleStop = { instanceId: string; minutes: number }
const statements = prepared(({ $client }) => ({
  all: $client.prepare<IdleStop, []>('SELECT instance_id AS instanceId, minutes FROM gpu_idle_stops'),
  of: $client.prepare<IdleStop, [string]>(
    'SELECT instance_id AS instanceId, minutes FROM gpu_idle_stops WHERE instance_id = ?',
  ),
  keep: $client.prepare('INSERT OR REPLACE INTO gpu_idle_stops (instance_id, minutes) VALUES (?, ?)'),
  forget: $client.prepare('DELETE FROM gpu_idle_stops WHERE instance_id = ?'),
}))

export const idleStops = (tx: Db): IdleStop[] => statements(tx).all.all()
/** After how many minutes without use it is stopped; null: it is not. */
export const idleMinutesOf = (tx: Db, instanceId: string): number | null =>
  statements(tx).of.get(instanceId)?.minutes ?? null
export const keepIdleStop = (tx: Tx, instanceId: string, minutes: number) =>
  void statements(tx).keep.run(instanceId, minutes)
/** Without a setting nothing happens. */
export const forgetIdleStop = (tx: Tx, instanceId: string) => void statements(tx).forget.run(instanceId)
