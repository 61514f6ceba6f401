import { newId } from '../../../src/kernel/db/ids.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { type TestKey, writeRelease } from '../../release/signed.ts'
import type { World } from '../world/panel.ts'

/** The record of a roll-out to this node that was stopped before it began; answers its id. */
export function addRollOut(p: Pick<World, 'db' | 'now'>, nodeId: string): string {
  const id = newId('rlo')
  p.db.$client.run(
    `INSERT INTO roll_outs VALUES (?1, ?2, 'stopped', 0, NULL, 900, 60, '[]', NULL, NULL, NULL,
       '{"id":"usr_x","name":"Ada"}', ?3, ?3)`,
    [id, VERSION, p.now()],
  )
  p.db.$client.run(
    `INSERT INTO roll_out_nodes VALUES (?1, ?2, 0, 0, 'waiting', '0.0.9', NULL, NULL, NULL, NULL, '[]', NULL, NULL, 0)`,
    [id, nodeId],
  )
  return id
}

/** The release of this version is there, and the agents of all nodes are older and update themselves. */
export function addRelease(p: Pick<World, 'db' | 'releaseFolder'>, by: TestKey) {
  writeRelease(`${p.releaseFolder()}/berth-${VERSION}.release`, { by, version: VERSION })
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.agentVersion', '0.0.9', '$.updatedBy', 'itself')")
}
