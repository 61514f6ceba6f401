// What the clock starts.

import { forgetLinks } from '../identity/auth/links/links.ts'
import { answerResets } from '../identity/auth/links/password-links.ts'
import { forgetSessions } from '../identity/auth/sessions.ts'
import { forgetOld } from '../kernel/api/idempotency.ts'
import type { AppContext } from '../kernel/api/operation.ts'
import { hour, second } from '../kernel/db/clock.ts'
import { type Db, write } from '../kernel/db/open.ts'
import { log } from '../kernel/log.ts'
import type { Hub } from '../kernel/nodes/hub.ts'
import type { MailQueue } from '../kernel/web/mail.ts'

type Of = { hub: Hub; mail: MailQueue; db: Db; app: AppContext }
type Work = { everyMs: number; what: string; work(of: Of): unknown }

const schedule: readonly Work[] = [
  { everyMs: 5 * second, what: 'looking for silent nodes', work: ({ hub }) => hub.sweep() },
  { everyMs: 5 * second, what: 'sending mail', work: ({ mail }) => mail.send() },
  { everyMs: 2 * second, what: 'mailing links to new passwords', work: ({ db, app }) => answerResets(db, app) },
  { everyMs: hour, what: 'forgetting old keys', work: ({ db, app }) => write(db, (tx) => forgetOld(tx, app.clock())) },
  {
    everyMs: hour,
    what: 'forgetting old sessions',
    work: ({ db, app }) => write(db, (tx) => forgetSessions(tx, app.clock())),
  },
  {
    everyMs: hour,
    what: 'forgetting old links',
    work: ({ db, app }) => write(db, (tx) => forgetLinks(tx, app.clock())),
  },
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
