// Argon2id with the memory cost OWASP asks for. Each hash takes 19 MiB and 30 ms of a thread, so only a few run at once, and only so
// many wait: a flood of sign-ins is told to come again, and those who are known already go before it.

import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Account } from '../../accounts/model.ts'
import { accountById } from '../../accounts/model.ts'
import { isGuessable } from './strength.ts'

const cost = { algorithm: 'argon2id', memoryCost: 19456, timeCost: 2 } as const
const AT_ONCE = 4

/** In each of the two queues: some two seconds of work. */
const MOST_WAITING = 50
const BUSY_SECONDS = 5

let running = 0
const [known, strangers]: [(() => void)[], (() => void)[]] = [[], []]
/** Throws `rate_limited` when too many wait already. */
async function inTurn<T>(isKnown: boolean, work: () => Promise<T>): Promise<T> {
  const queue = isKnown ? known : strangers
  // Whoever is let go has its place kept, so that nobody who comes just then slips in between.
  if (running < AT_ONCE) running++
  else if (queue.length < MOST_WAITING) await new Promise<void>((go) => queue.push(go))
  else
    throw new ApiError('rate_limited', `Very many are signing in just now. Try again in ${BUSY_SECONDS} s.`, {
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
 * Throws `invalid_request` for `field` unless the password has 12 to 200 characters and is hard to guess, also for people who know
 * its holder.
 */
export async function mustBeGood(password: string, field: string, { name, email }: { name: string; email: string }) {
  if (password.length < LEAST_CHARACTERS)
    throw invalid({ field, message: `must have at least ${LEAST_CHARACTERS} characters.` })
  if (password.length > 200) throw invalid({ field, message: 'must have at most 200 characters.' })
  const about = [...email.split(/[@.+_-]/), ...name.split(/\s+/)]
  if (await isGuessable(password, about))
    throw invalid({ field, message: 'is too easy to guess. Three or four random words work well.' })
}

/** For who may set a password, and so has shown something already. */
export const hashPassword = (password: string) => inTurn(true, () => Bun.password.hash(password, cost))

let nobody: Promise<string> | undefined
/**
 * False for a wrong password, and just as slowly for an account that has none or does not exist. `isKnown`: it comes from where the
 * account was signed in to before.
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

/** The account as it is now; undefined when its password is another one meanwhile, or it was disabled. */
export function withTheSamePassword(tx: Db, looked: Account): Account | undefined {
  const now = accountById(tx, looked.id)
  return now?.passwordHash === looked.passwordHash && now.disabledAt === null ? now : undefined
}
