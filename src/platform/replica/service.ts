// The replica of a running controller: finds whether this is still the right controller, then ships.
import { hostTime } from '../../../agent/protocol/monotonic-clock.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { type Clock, day, second } from '../../kernel/db/clock.ts'
import { type Db, holdChanges, releaseChanges } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import type { AppConfig } from '../../kernel/register.ts'
import { claim, type Held, heldIn, higherClaim, keepHeld } from '../../kernel/replica/claims.ts'
import { claimsIn } from '../../kernel/replica/objects.ts'
import { Shipper, type ShipperState } from '../../kernel/replica/shipper.ts'
import type { ObjectStore } from '../../kernel/stores/store.ts'
import { replicaStore } from './store.ts'

/** Between two segments. A request to S3 costs money. */
export const shipsEveryMs = { folder: second, sftp: second, s3: 5 * second } as const
/** A start waits so long for the answer whether another controller took over. */
const CONFIRM_MS = 5 * second
const RETRY_MS = 5 * second

const notYet: ShipperState = {
  ...{ shippedAt: null, baseAt: null, isBeginning: false, error: null, takenOver: null, roundMs: 0 },
}

export class Replica {
  #shipper: Shipper | undefined
  #store: ObjectStore | undefined
  #starting: ShipperState = notYet
  #tried = -Infinity
  #opening: Promise<void> | undefined
  readonly #takenOver = Promise.withResolvers<void>()
  #secrets: Secrets | undefined

  constructor(
    readonly config: AppConfig['replica'],
    private dataDir: string,
    private db: Db,
    private wallClock: Clock,
  ) {}

  get state(): ShipperState {
    return this.#shipper?.state ?? this.#starting
  }

  /** Resolves when another controller took over; this one has to end then. */
  get takenOver(): Promise<void> {
    return this.#takenOver.promise
  }

  /** For the process that makes changes: refuses them until it is known that no other controller took over. */
  async begin(secrets: Secrets) {
    if (!this.config) return
    this.#secrets = secrets
    holdChanges(this.db, {
      kind: 'unconfirmed',
      code: 'UNCONFIRMED',
      reason: `Whether another controller took over is not known yet: ${this.config.address} has not answered.`,
      since: this.wallClock(),
    })
    await Promise.race([this.tick(), Bun.sleep(CONFIRM_MS)])
  }

  /** Call it every second. */
  async tick() {
    if (!this.config || !this.#secrets) return
    if (this.#shipper) {
      this.#shipper.check()
      return this.#shipper.round()
    }
    if (this.#starting.takenOver || hostTime.monotonic() - this.#tried < RETRY_MS) return
    this.#tried = hostTime.monotonic()
    this.#opening ??= this.#open(this.#secrets).finally(() => (this.#opening = undefined))
    await this.#opening
  }

  async #open(secrets: Secrets) {
    const config = this.config!
    try {
      this.#store ??= replicaStore(config, hostTime.wall)
      const held = await this.#held(this.#store, secrets)
      if (!held) return
      this.#shipper = new Shipper(this.db, {
        ...{ store: this.#store, secrets, dataDir: this.dataDir, held, waits: config.waits },
        ...{ wallClock: hostTime.wall, monotonic: hostTime.monotonic },
        ...{ everyMs: shipsEveryMs[config.kind], keepMs: config.days * day },
      })
      void this.#shipper.takenOver.promise.then(this.#takenOver.resolve)
      releaseChanges(this.db, 'unconfirmed')
      await this.#shipper.round(true)
    } catch (error) {
      const { message } = error as Error
      if (!this.#starting.error) log.error('the replica cannot be used', { address: config.address, error: message })
      const since = this.#starting.error?.since ?? hostTime.wall()
      this.#starting = { ...notYet, error: { message, since } }
    }
  }

  /** Undefined when the replica is another controller's. */
  async #held(store: ObjectStore, secrets: Secrets): Promise<Held | undefined> {
    const held = heldIn(this.dataDir)
    const higher = await higherClaim(store, secrets, held)
    if (higher) {
      const { at, host, isReadable } = higher
      const reason = isReadable
        ? `Another controller took over the replica ${store.title}${host ? ` on ${host}` : ''}.`
        : `The replica ${store.title} belongs to another installation: its key is not in the key file.`
      log.error(reason)
      this.#starting = { ...notYet, takenOver: { at, host } }
      holdChanges(this.db, { kind: 'taken-over', code: 'FENCED', reason, since: hostTime.wall() })
      this.#takenOver.resolve()
      return undefined
    }
    if (held && (await claimsIn(store)).some(({ epoch, id }) => epoch === held.epoch && id === held.id)) return held
    const claimed = await claim(store, secrets, hostTime.wall())
    keepHeld(this.dataDir, claimed)
    return claimed
  }

  /** Ships the rest at an orderly stop. */
  async finish() {
    await this.#shipper?.finish()
  }
}
