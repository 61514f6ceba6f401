// What makes a repeated command harmless: one with this key that is still going is joined, one that has ended is
// answered from disk. Only a command cut short by a crash runs again, and commands converge.
// Inputs are not kept: a seed holds password hashes and keys.
import type { Database } from 'bun:sqlite'
import { openDatabase } from '../database.ts'
import { failureOf } from '../failure.ts'

export type Answer = { output: unknown } | { error: { code: string; message: string } }
export type Command = { key: string; name: string }
export type Journal = ReturnType<typeof openJournal>

const day = 86_400_000
const KEPT_DAYS = 14

/** `cut` is the crash seam (power-cut.ts). */
export function openJournal(
  path: string,
  cut: (moment: 'before' | 'after', command: Command) => void = () => {},
  now = Date.now,
) {
  const db: Database = openDatabase(
    path,
    'create table if not exists ended (key text primary key, name text not null, answer text not null, at integer not null) strict',
  )
  const find = db.prepare<{ answer: string }, [string]>('select answer from ended where key = ?')
  const keep = db.prepare('insert or ignore into ended (key, name, answer, at) values (?, ?, ?, ?)')
  const going = new Map<string, Promise<Answer>>()

  const begin = async (command: Command, work: () => Promise<unknown>): Promise<Answer> => {
    cut('before', command)
    const answer = await attempt(work)
    cut('after', command)
    keep.run(command.key, command.name, JSON.stringify(answer), now())
    return answer
  }

  const journal = {
    /** Does `work`, unless it is being done or has been done under this key. A failure is an answer like any other. */
    obey(command: Command, work: () => Promise<unknown>): Promise<Answer> {
      const ended = find.get(command.key)
      if (ended) return Promise.resolve(JSON.parse(ended.answer) as Answer)
      const joined = going.get(command.key) ?? begin(command, work).finally(() => going.delete(command.key))
      going.set(command.key, joined)
      return joined
    },
    /** How many commands are running. */
    going: () => going.size,
    /** Resolves when nothing is running any more, or after `limitMs`. */
    quiet: (limitMs: number) => Promise.race([Promise.allSettled(going.values()), Bun.sleep(limitMs)]),
    /** Forgets answers older than 14 days; a controller that was away longer sends what it still wants under new keys. */
    prune: () => db.run('delete from ended where at < ?', [now() - KEPT_DAYS * day]),
    close: () => db.close(),
  }
  journal.prune()
  return journal
}

async function attempt(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { output: (await work()) ?? {} }
  } catch (error) {
    return { error: failureOf(error) }
  }
}
