// One controller at a time: the highest claim in the store is the right one's. A controller looks after each segment
// that it stored, and before it confirms a change; a standby claims before it looks for the last segment. So the change
// was stored before the standby looked, or is not confirmed.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Secrets } from '../crypto/secrets.ts'
import { type ObjectStore, StoreError } from '../stores/store.ts'
import { type Claim, claimName, claimsIn, encode, fetchObject } from './objects.ts'

/** The claim of this data directory, and the last segment that it is known to have stored. */
export type Held = { epoch: number; id: string; stream?: string; number?: number }

const fileOf = (dataDir: string) => `${dataDir}/replica.json`

export function heldIn(dataDir: string): Held | undefined {
  const path = fileOf(dataDir)
  if (!existsSync(path)) return undefined
  try {
    const held = JSON.parse(readFileSync(path, 'utf8')) as Held
    return Number.isInteger(held.epoch) && /^[0-9a-f]{16}$/.test(held.id) ? held : undefined
  } catch {
    // A crash of the host while it was written: it is not flushed. What it says can be found in the store.
    return undefined
  }
}

export function keepHeld(dataDir: string, held: Held) {
  const part = `${fileOf(dataDir)}.new`
  writeFileSync(part, JSON.stringify(held), { mode: 0o600 })
  renameSync(part, fileOf(dataDir))
}

/** Another controller has the replica. */
export class TakenOver extends Error {
  constructor(
    readonly by: Pick<Claim, 'at' | 'host'> | undefined,
    message: string,
  ) {
    super(message)
  }
}

/** The claim above `held`, if there is one. Throws `StoreError`. */
export async function higherClaim(store: ObjectStore, secrets: Secrets, held: Held | undefined) {
  const above = (await claimsIn(store)).filter(
    ({ epoch, id }) => !held || epoch > held.epoch || (epoch === held.epoch && id !== held.id),
  )
  const highest = above.at(-1)
  if (!highest) return undefined
  const found = await fetchObject<Claim>(store, secrets, claimName(highest)).catch((error) => {
    if (error instanceof StoreError) throw error
    return undefined
  })
  return { ...highest, at: found?.header.at, host: found?.header.host, isReadable: found !== undefined }
}

/**
 * Claims the store from the next epoch on. Of two that do so at once at most one succeeds. Throws `TakenOver` and
 * `StoreError`.
 */
export async function claim(store: ObjectStore, secrets: Secrets, now: number): Promise<Held> {
  const epoch = ((await claimsIn(store)).at(-1)?.epoch ?? 0) + 1
  const mine: Claim = { epoch, id: randomBytes(8).toString('hex'), at: now, host: hostname() }
  const name = claimName(mine)
  await store.put(name, await encode(secrets, name, mine))
  // The later of two sees the earlier one's; both give up when both see the other's.
  if ((await claimsIn(store)).some((other) => other.epoch >= epoch && other.id !== mine.id)) {
    await store.remove(name)
    throw new TakenOver(undefined, 'Another controller claimed the replica at the same moment. Try again.')
  }
  return { epoch, id: mine.id }
}
