// Argon2id with OWASP's memory cost. Each hash takes 19 MiB and 30 ms of a thread, so a few run at a time and a limited
// number waits. A flood of sign-ins is refused, and people from known addresses go first.

import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { accountById } from '../../account-records/queries.ts'
import { isGuessable } from './strength.ts'

const cost = { algorithm: 'argon2id', memoryCost: 19456, timeCost: 2 } as const
const AT_ONCE = 4

/** The length of each of the two queues: about two seconds of work. */
const MOST_WAITING = 50
const BUSY_SECONDS = 5

let running = 0
const [known, strangers]: [(() => void)[], (() => void)[]] = [[], []]
/** Throws `rate_limited` when too many wait already. */
async function inTurn<T>(isKnown: boolean, work: () => Promise<T>): Promise<T> {
  const queue = isKnown ? known : strangers
  // A released waiter keeps its slot, so that no newcomer takes it in between.
  if (running < AT_ONCE) running++
  else if (queue.length < MOST_WAITING) await new Promise<void>((go) => queue.push(go))
  else
    throw new ApiError('rate_limited', `Too many people are signing in right now. Try again in ${BUSY_SECONDS} s.`, {
      retryAfterSeconds: BUSY_SECONDS,
    })
  try {
    return await work()
  } finally {
    const next = known.shift() ?? strangers.shift()
    if (next) next()
    else running--
  }
}

export const LEAST_CHARACTERS = 12
/**
 * Throws `invalid_request` for `field` unless the password has 12 to 200 characters and is hard to guess, also for
 * people who know its holder.
 */
export async function mustBeGood(password: string, field: string, { name, email }: { name: string; email: string }) {
  if (password.length < LEAST_CHARACTERS)
    throw invalid({ field, message: `must have at least ${LEAST_CHARACTERS} characters.` })
  if (password.length > 200) throw invalid({ field, message: 'must have at most 200 characters.' })
  const about = [...email.split(/[@.+_-]/), ...name.split(/\s+/)]
  if (await isGuessable(password, about))
    throw invalid({ field, message: 'is too easy to guess. Three or four random words work well.' })
}

/** For people who may set a password: they have proved something already and wait in the first queue. */
export const hashPassword = (password: string) => inTurn(true, () => Bun.password.hash(password, cost))

let nobody: Promise<string> | undefined
/**
 * Does the password match the hash? Takes the same time for an account without a password or without existence.
 * `isKnown`: the call comes from an address where the account was signed in before.
 */
export async function passwordFits(
  password: string,
  hash: string | null | undefined,
  isKnown: boolean,
): Promise<boolean> {
  nobody ??= Bun.password.hash('nobody has this password', cost)
  const against = hash ?? (await nobody)
  return (await inTurn(isKnown, () => Bun.password.verify(password, against).catch(() => false))) && !!hash
}

/** The account as it is now; undefined when its password has changed since it was read, or it was disabled. */
export function accountIfPasswordUnchanged(tx: Db, read: Account): Account | undefined {
  const now = accountById(tx, read.id)
  return now?.passwordHash === read.passwordHash && now.disabledAt === null ? now : undefined
}
