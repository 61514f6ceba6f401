// A panel whose database is restored as it was before something happened on its nodes.
import { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { raiseEpochIn } from '../../../../src/kernel/nodes/epoch.ts'
import type { World } from '../../../support/world/panel.ts'

/** Does the work, which nodes keep, and puts the database in place that was there before. */
export async function restoredBefore(p: World, work: () => Promise<unknown>) {
  const file = `${p.dir}/berth.db`
  p.db.$client.run('VACUUM INTO ?', [`${file}.before`])
  await work()
  await p.settle()
  p.turnClock(60_000)
  await p.crash({
    meanwhile() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
      renameSync(`${file}.before`, file)
      using db = new Database(file)
      raiseEpochIn(db, [], p.now())
    },
  })
  p.turnClock(60_000)
  await looked(p)
  await p.settle()
}

/** Every node that is connected has told what is on it. */
export async function looked(p: World) {
  for (const agent of p.agents.values()) await agent.look()
  await p.reported()
}
