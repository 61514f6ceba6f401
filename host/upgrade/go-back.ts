// An operator goes back after an upgrade that went well: the same way as one that did not.
import { existsSync } from 'node:fs'
import { isSameFile, type Machine } from '../machine/machine.ts'
import { reasonOf } from './before-start.ts'
import { keptDatabase } from './data.ts'
import { describedBy, UpgradeRefused } from './prepare.ts'
import { startWatching } from './start.ts'
import { formerProgram, journalOf, note, uptime } from './store.ts'

/** Throws `UpgradeRefused` where what was before is not kept any more. */
export async function goBack(machine: Machine, by: string) {
  const { paths } = machine
  const journal = journalOf(paths, 'berth')
  const former = formerProgram(paths, 'berth')
  const isKept =
    journal?.state === 'done' &&
    existsSync(former) &&
    existsSync(keptDatabase(journal.dataDir ?? '')) &&
    describedBy(machine, paths.program).version === journal.to &&
    !isSameFile(former, paths.program)
  if (!isKept)
    throw new UpgradeRefused(
      'nothing_to_go_back_to',
      'The last upgrade went back by itself, or another program was installed since.',
    )
  const startedAt = new Date().toISOString()
  note(paths, journal, { state: 'going_back', by, startedAt, restartedAt: uptime(), reason: reasonOf('taken_back') })
  await startWatching(machine, 'berth')
}
