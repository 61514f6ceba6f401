// What both halves know of the journal that their standard error may be.
import { fstatSync } from 'node:fs'

export type Level = 'info' | 'warning' | 'error'

/** Is standard error the journal's own stream? systemd says which file that is; a shell that a service started has another. */
const toJournal = (() => {
  try {
    const { dev, ino } = fstatSync(2)
    return process.env['JOURNAL_STREAM'] === `${dev}:${ino}`
  } catch {
    return false
  }
})()
const priorities = { info: '<6>', warning: '<4>', error: '<3>' }
/** What stands before a line so that `journalctl -p warning` finds it; nothing where no journal reads. */
export const journalPriority = (level: Level): string => (toJournal ? priorities[level] : '')
