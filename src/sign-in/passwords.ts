// Argon2id with the memory cost OWASP asks for. Each hash takes 19 MiB and 30 ms of a thread, so only a few run at once.
import { invalid } from '../kernel/api/errors.ts'

const cost = { algorithm: 'argon2id', memoryCost: 19456, timeCost: 2 } as const
const AT_ONCE = 4

let running = 0
const queue: (() => void)[] = []
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((go) => queue.push(go))
  running++
  try {
    return await work()
  } finally {
    running--
    queue.shift()?.()
  }
}

/** 12 to 200 characters; what is on everybody's list, or says whose it is, is refused. */
export function mustBeGood(password: string, field = 'password', whose?: { name: string; email: string }) {
  if (password.length < 12) throw invalid({ field, message: 'must have at least 12 characters.' })
  if (password.length > 200) throw invalid({ field, message: 'must have at most 200 characters.' })
  if (/^(.{1,3})\1+$/.test(password) || common.has(password.toLowerCase()) || (whose && saysWhose(password, whose)))
    throw invalid({ field, message: 'is too easy to guess. Three or four random words work well.' })
}
/** Is it little more than the person's own name or address? */
function saysWhose(password: string, { name, email }: { name: string; email: string }): boolean {
  const rest = [...email.split(/[@.+_-]/), ...name.split(/\s+/)]
    .filter((part) => part.length > 2)
    .reduce((left, part) => left.replaceAll(part.toLowerCase(), ''), password.toLowerCase())
  return rest.length < 6
}

const common = new Set([
  'password1234',
  'passwordpassword',
  '123456789012',
  '1234567890123',
  'qwertyuiop12',
  'qwertyuiopasdf',
  'administrator',
  'letmeinletmein',
  'changemechangeme',
  'iloveyouiloveyou',
])

export const hashPassword = (password: string) => inTurn(() => Bun.password.hash(password, cost))

let nobody: Promise<string> | undefined
/** False for a wrong password, and just as slowly for an account that has none or does not exist. */
export async function passwordFits(password: string, hash: string | null | undefined): Promise<boolean> {
  nobody ??= hashPassword('nobody has this password')
  const against = hash ?? (await nobody)
  return (await inTurn(() => Bun.password.verify(password, against).catch(() => false))) && !!hash
}
