// Standard error as systemd's journal, for controller and agent.
import { fstatSync } from 'node:fs'

export type Level = 'info' | 'warning' | 'error'

/** JOURNAL_STREAM names device and inode of the journal's stream; in a shell that a service started they differ. */
const toJournal = (() => {
  try {
    const { dev, ino } = fstatSync(2)
    return process.env['JOURNAL_STREAM'] === `${dev}:${ino}`
  } catch {
    return false
  }
})()
const priorities = { info: '<6>', warning: '<4>', error: '<3>' }
/** The prefix that gives a line its priority in the journal (`journalctl -p warning`); empty where no journal reads. */
export const journalPriority = (level: Level): string => (toJournal ? priorities[level] : '')
