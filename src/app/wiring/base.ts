// The things that every part of a controller is made of.
import type { MonotonicClock } from '../../../agent/protocol/monotonic-clock.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Failpoints } from '../../kernel/jobs/runner/execution.ts'
import type { Registry } from '../../kernel/registry.ts'
import type { Config } from '../config.ts'

/** Set once, when the controller begins to stop: changes are refused, reads go on. */
export type Life = { isRestarting: boolean }

export type Base = {
  config: Config
  registry: Registry
  db: Db
  secrets: Secrets
  /** Advances however the host's clock is set; in ms. */
  clock: Clock
  /** The host's clock, in ms since 1970. */
  wallClock: Clock
  time: MonotonicClock
  failpoints: Failpoints
  life: Life
}
/** With what features read and use, which is made of the other parts. */
export type WithApp = Base & { app: AppContext }
