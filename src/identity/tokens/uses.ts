// When tokens were last used. A note of its own would cost a flush to disk at each call of a token that is used rarely.
import { afterWrite, beforeCommit, type Db, type Tx, writeIfPossible, writeUnflushed } from '../../kernel/db/open.ts'
import { markTokenUsed } from './queries.ts'

/** Uses that are not written yet: they go to disk with the call's own change, or with `settle`. */
export class TokenUses {
  private waiting = new Map<string, { now: number; from: string }>()

  constructor(private db: Db) {
    beforeCommit(db, (tx) => this.writeAll(tx))
    afterWrite(db, () => this.waiting.clear())
  }

  /** `now` in ms; `from` is the caller's address. */
  add(tokenId: string, now: number, from: string) {
    this.waiting.set(tokenId, { now, from })
  }

  isSettled = (): boolean => this.waiting.size === 0

  /** Writes what no change has taken along, without waiting for the disk. Nothing is noted while that has trouble. */
  settle() {
    if (!this.waiting.size) return
    writeIfPossible(this.db, (tx) => this.writeAll(tx), writeUnflushed)
    this.waiting.clear()
  }

  private writeAll(tx: Tx) {
    for (const [tokenId, { now, from }] of this.waiting) markTokenUsed(tx, tokenId, now, from)
  }
}
