// What the clock starts.
import { forgetOld } from '../kernel/api/idempotency.ts'
import type { Surroundings } from '../kernel/api/operation.ts'
import { hour, second } from '../kernel/db/clock.ts'
import { type Db, write } from '../kernel/db/open.ts'
import { log } from '../kernel/log.ts'
import type { Hub } from '../kernel/nodes/hub.ts'
import type { MailQueue } from '../kernel/web/mail.ts'
import { forgetLinks } from '../identity/account-links/links.ts'
import { answerResets } from '../identity/account-links/password-links.ts'
import { forgetSessions } from '../identity/auth/sessions.ts'

type Of = { hub: Hub; mail: MailQueue; db: Db; around: Surroundings }
type Work = { everyMs: number; what: string; work(of: Of): unknown }

const schedule: readonly Work[] = [
  { everyMs: 5 * second, what: 'looking for silent nodes', work: ({ hub }) => hub.sweep() },
  { everyMs: 5 * second, what: 'sending mail', work: ({ mail }) => mail.send() },
  { everyMs: 2 * second, what: 'mailing links to new passwords', work: ({ db, around }) => answerResets(db, around) },
  { everyMs: hour, what: 'forgetting old keys', work: ({ db, around }) => write(db, (tx) => forgetOld(tx, around.clock())) },
  { everyMs: hour, what: 'forgetting old sessions', work: ({ db, around }) => write(db, (tx) => forgetSessions(tx, around.clock())) },
  { everyMs: hour, what: 'forgetting old links', work: ({ db, around }) => write(db, (tx) => forgetLinks(tx, around.clock())) },
]

/** Answers what stops it. What fails once, on a full disk or without its key, is tried again next time: it must not take the controller with it. */
export function startSchedule(of: Of): () => void {
  const timers = schedule.map(({ everyMs, what, work }) =>
    setInterval(async () => {
      try {
        await work(of)
      } catch (error) {
        log.error(`${what} failed`, { error })
      }
    }, everyMs),
  )
  return () => timers.forEach(clearInterval)
}
