// Challenges for nodes, without memory for those that nobody answers: a nonce carries its node, its time and a code
// that only this process can make. So whoever asks for challenges, as often and under whose id he likes, takes nothing
// from the node that holds the key.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, second } from '../../kernel/db/clock.ts'

/** A challenge is answered at once or asked for again. */
export const NONCE_MS = 30 * second

/** `release`: for the paths of releases alone, which agents of other protocols reach too. */
export type Purpose = 'connect' | 'release'

/** A nonce takes some 100 bytes. */
const MOST_SPENT = 50_000

export class Challenges {
  private key = randomBytes(32)
  /** Nonces that were presented, until they expire, the oldest first. */
  private used = new Map<string, number>()
  constructor(private clock: Clock) {}

  /** A nonce for this node, which works once and for 30 s. */
  issue(nodeId: string, purpose: Purpose = 'connect'): string {
    const content = `${this.clock().toString(36)}.${randomBytes(24).toString('base64url')}`
    return `${content}.${this.codeOf(nodeId, content, purpose).toString('base64url')}`
  }

  /** Was the nonce issued for this node and this purpose, within 30 s, and never redeemed before? */
  isFresh(nodeId: string, nonce: string, purpose: Purpose = 'connect'): boolean {
    const now = this.clock()
    const [time = '', random = '', code = ''] = nonce.split('.')
    const at = Number.parseInt(time, 36)
    const given = Buffer.from(code, 'base64url')
    const right = this.codeOf(nodeId, `${time}.${random}`, purpose)
    if (given.length !== right.length || !timingSafeEqual(given, right)) return false
    return now - at <= NONCE_MS && !this.used.has(`${time}.${random}`)
  }

  /** As `isFresh`, and from now on it is not. For a wrong signature too, but a flood of these takes no more memory. */
  spend(nodeId: string, nonce: string, purpose: Purpose = 'connect') {
    if (this.used.size < MOST_SPENT) this.redeem(nodeId, nonce, purpose)
  }

  /** As `isFresh`, and from now on it is not. */
  redeem(nodeId: string, nonce: string, purpose: Purpose = 'connect'): boolean {
    const now = this.clock()
    for (const [old, until] of this.used) {
      if (until > now) break
      this.used.delete(old)
    }
    if (!this.isFresh(nodeId, nonce, purpose)) return false
    const [time = '', random = ''] = nonce.split('.')
    this.used.set(`${time}.${random}`, Number.parseInt(time, 36) + NONCE_MS)
    return true
  }

  private codeOf = (nodeId: string, content: string, purpose: Purpose) =>
    createHmac('sha256', this.key).update(`${purpose}\n${nodeId}\n${content}`).digest()
}
