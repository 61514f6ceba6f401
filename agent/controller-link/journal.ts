// Makes a repeated command harmless: one that still runs under its key is joined, one that has ended is answered from
// disk. Only a command that a crash interrupted runs again, and commands converge. Inputs are not stored, because a
// seed holds password hashes and keys. Commands that act on one workload run one after another: after a cancellation,
// an undo must not meet the command that it undoes. Of a command that looks no answer is stored: it is out of date.
import type { Database } from 'bun:sqlite'
import { endAfterDiskError, openDatabase } from '../database.ts'
import { failureOf } from '../failure.ts'
import { hostTime } from '../protocol/monotonic-clock.ts'

export type Answer = { output: unknown } | { error: { code: string; message: string } }
/**
 * `kind` as it is declared. `turn`: the workload that the command changes. Without it the command waits for no other.
 */
export type Command = { key: string; name: string; kind: 'look' | 'act'; turn?: string | undefined }
export type Journal = ReturnType<typeof openJournal>

const day = 86_400_000
const RETENTION_DAYS = 14

/** `crash` is the failpoint of crash-injection.ts. */
export function openJournal(
  path: string,
  crash: (moment: 'before' | 'after', command: Command) => void = () => {},
  now = hostTime.wall,
) {
  const db: Database = openDatabase(
    path,
    `create table if not exists ended (
      key text primary key, name text not null, answer text not null, at integer not null) strict`,
  )
  const find = db.prepare<{ answer: string }, [string]>('select answer from ended where key = ?')
  const keep = db.prepare('insert or ignore into ended (key, name, answer, at) values (?, ?, ?, ?)')
  const going = new Map<string, Promise<Answer>>()
  const turns = new Map<string, Promise<unknown>>()

  const begin = async (command: Command, work: () => Promise<unknown>): Promise<Answer> => {
    const earlier = command.turn && turns.get(command.turn)
    if (earlier) await earlier
    crash('before', command)
    const answer = await attempt(work)
    crash('after', command)
    if (command.kind === 'act') keep.run(command.key, command.name, JSON.stringify(answer), now())
    return answer
  }

  /** Makes later commands of the same workload wait until this one has ended, whatever its end. */
  const take = (workload: string, answer: Promise<unknown>) => {
    const over = answer.catch(() => {}).finally(() => turns.get(workload) === over && turns.delete(workload))
    turns.set(workload, over)
  }

  const journal = {
    /** Runs `work` unless it runs or has run under this key. A failure is an answer too, and is stored like one. */
    obey(command: Command, work: () => Promise<unknown>): Promise<Answer> {
      const ended = find.get(command.key)
      if (ended) return Promise.resolve(JSON.parse(ended.answer) as Answer)
      const running = going.get(command.key)
      if (running) return running
      const answer = begin(command, work).finally(() => going.delete(command.key))
      going.set(command.key, answer)
      if (command.turn) take(command.turn, answer)
      return answer
    },
    /** Runs `work`, which is no command, when the commands of the workload before it have ended. Others wait for it. */
    inTurn(workload: string, work: () => Promise<void>): Promise<void> {
      const done = (turns.get(workload) ?? Promise.resolve()).then(work)
      take(workload, done)
      return done
    },
    /** The number of commands that are running. */
    going: () => going.size,
    /** Resolves when no command is running, or after `limitMs`. */
    quiet: (limitMs: number) => Promise.race([Promise.allSettled(going.values()), Bun.sleep(limitMs)]),
    /** Deletes answers older than 14 days. A controller that was away longer sends commands under new keys. */
    prune: () => db.run('delete from ended where at < ?', [now() - RETENTION_DAYS * day]),
    close: () => db.close(),
  }
  journal.prune()
  return journal
}

async function attempt(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { output: (await work()) ?? {} }
  } catch (error) {
    endAfterDiskError(error)
    return { error: failureOf(error) }
  }
}
