// `berth serve --standby`: follows the replica of another controller and answers nobody's calls, until `berth takeover`
// makes it the controller.
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { hostTime } from '../../../agent/protocol/monotonic-clock.ts'
import type { ServiceManager } from '../../../agent/protocol/systemd.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { second } from '../../kernel/db/clock.ts'
import { log } from '../../kernel/log.ts'
import { claim, type Held, heldIn, higherClaim, keepHeld } from '../../kernel/replica/claims.ts'
import { Copy } from '../../kernel/replica/copy.ts'
import { claimsIn } from '../../kernel/replica/objects.ts'
import { ALIVE_EVERY_MS, LOOK_EVERY_MS } from '../../kernel/replica/shipper.ts'
import type { ObjectStore } from '../../kernel/stores/store.ts'
import { shipsEveryMs } from '../../platform/replica/service.ts'
import type { Config } from '../config.ts'
import { mustBeWhole } from './backup.ts'
import { databaseOf, socketOf } from './data-dir.ts'
import { inWords, openReplica, prepareAndPut } from './restore.ts'
import { aboutListening } from './startup-errors.ts'

const FOLLOW_EVERY_MS = second
/** A new stream of the controller is noticed after this time. */
const OUTDATED_EVERY_MS = 10 * second
/** A controller that shipped something later than this is alive. */
export const ALIVE_MS = 4 * ALIVE_EVERY_MS

/** `taken over`: this host's database is in place, and the caller serves it. Throws `CannotStart`. */
export async function standBy(config: Config, manager: ServiceManager): Promise<'taken over' | 'stopped'> {
  const { store, secrets } = openReplica(config)
  try {
    if (await isController(store, secrets, config)) return 'taken over'
    const end = await new Standby(config, store, secrets, manager).run()
    // After a takeover nobody watches: its migrations may hold up the event loop.
    if (end === 'stopped') manager.stopping()
    return end
  } catch (error) {
    throw inWords(error)
  } finally {
    store.close()
  }
}

/** This host took over before, and nobody after it; or it is the first of all. */
async function isController(store: ObjectStore, secrets: Secrets, { dataDir }: Config): Promise<boolean> {
  const held = heldIn(dataDir)
  if (!held || !existsSync(databaseOf(dataDir))) return false
  const isThere = (await claimsIn(store)).some(({ epoch, id }) => epoch === held.epoch && id === held.id)
  return isThere && !(await higherClaim(store, secrets, held))
}

export type TakeoverResponse = { done: true; seconds: number; upTo: string } | { done: false; why: string }

class Standby {
  #copy: Copy
  #ended = Promise.withResolvers<'taken over' | 'stopped'>()
  #busy: Promise<unknown> = Promise.resolve()
  #outdatedAt = hostTime.monotonic()
  #error: string | undefined

  constructor(
    private config: Config,
    private store: ObjectStore,
    private secrets: Secrets,
    private manager: ServiceManager,
  ) {
    this.#copy = new Copy(store, secrets, `${config.dataDir}/standby.db`)
  }

  async run(): Promise<'taken over' | 'stopped'> {
    const servers = [this.#listen(), this.#listenLocally()]
    const timer = setInterval(() => this.#after(() => this.#look()), FOLLOW_EVERY_MS)
    const stop = () => this.#ended.resolve('stopped')
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
    this.manager.ready()
    log.info('Berth stands by', { replica: this.store.title, dataDir: this.config.dataDir })
    void this.#after(() => this.#look())
    const end = await this.#ended.promise
    clearInterval(timer)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, stop)
    await this.#busy
    await Promise.all(servers.map((server) => server?.stop()))
    await this.#copy.close()
    return end
  }

  /** One after the other: a takeover must not meet a segment that is being applied. */
  #after<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#busy.then(work)
    this.#busy = result.catch(() => {})
    return result
  }

  async #look() {
    try {
      if (!this.#copy.state) await this.#copy.begin()
      const isDue = hostTime.monotonic() - this.#outdatedAt >= OUTDATED_EVERY_MS
      if (!(await this.#copy.follow()) && isDue) {
        this.#outdatedAt = hostTime.monotonic()
        if (await this.#copy.isOutdated()) await this.#copy.begin()
      }
      if (this.#error) log.info('the replica is followed again')
      this.#error = undefined
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#error) log.warning('the replica cannot be followed', { error: message })
      this.#error = message
    }
  }

  /** People and load balancers learn that the controller is elsewhere. */
  #listen() {
    const { listen, tls } = this.config
    try {
      return Bun.serve({
        hostname: listen.hostname,
        port: listen.port,
        ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
        fetch: () =>
          Response.json(
            { error: { code: 'restarting', message: 'This is the standby. The controller is at another address.' } },
            { status: 503, headers: { 'Retry-After': '60', 'Cache-Control': 'no-store' } },
          ),
      })
    } catch (error) {
      // It can follow and take over without; a service manager may still hold the address for it.
      log.warning('the standby answers nobody at its address', { error: aboutListening(error, this.config) })
      return undefined
    }
  }

  #listenLocally() {
    const socket = socketOf(this.config.dataDir)
    rmSync(socket, { force: true })
    const server = Bun.serve({
      unix: socket,
      fetch: async (request: Request) => {
        const { pathname, searchParams } = new URL(request.url)
        if (request.method === 'POST' && pathname === '/takeover')
          return Response.json(await this.#after(() => this.#takeOver(searchParams.get('force') === '1')))
        return Response.json({ standby: true, ...this.#copy.state, error: this.#error ?? null })
      },
      // A takeover may take its time.
      ...({ idleTimeout: 0 } as object),
    })
    chmodSync(socket, 0o600)
    return server
  }

  async #takeOver(isForced: boolean): Promise<TakeoverResponse> {
    const began = hostTime.monotonic()
    try {
      if (!this.#copy.state || (await this.#copy.isOutdated())) await this.#copy.begin()
      await this.#copy.follow()
      const quietMs = hostTime.wall() - this.#copy.state!.at
      if (!isForced && quietMs < ALIVE_MS)
        return refused(
          `The controller is alive: it shipped something ${Math.max(0, Math.round(quietMs / second))} s ago. Stop it ` +
            'first, or say --even-if-alive: it then stops by itself.',
        )
      const held = await claim(this.store, this.secrets, hostTime.wall())
      // It ships until it sees the claim.
      if (quietMs < ALIVE_MS) await Bun.sleep(LOOK_EVERY_MS + shipsEveryMs[this.config.replica!.kind])
      await this.#catchUp()
      const upTo = this.#copy.state!.at
      await this.#copy.finish()
      // Reading a large database as a whole takes minutes, and whoever was the controller has stopped.
      this.manager.suspend()
      this.#putInPlace(held, upTo)
      const seconds = (hostTime.monotonic() - began) / second
      log.info('took over', { seconds, upTo: new Date(upTo).toISOString() })
      setTimeout(() => this.#ended.resolve('taken over'))
      return { done: true, seconds: Number(seconds.toFixed(2)), upTo: new Date(upTo).toISOString() }
    } catch (error) {
      const { message } = error as Error
      log.error('the takeover failed', { error })
      this.manager.watch()
      return refused(message)
    }
  }

  /** Behind the claim: what the controller before confirmed is in the store by now. */
  async #catchUp() {
    if (await this.#copy.isOutdated()) await this.#copy.begin()
    await this.#copy.follow()
    await this.#copy.mustBeWithoutGap()
  }

  #putInPlace(held: Held, upTo: number) {
    const { dataDir, keyFile } = this.config
    mustBeWhole(this.#copy.path)
    prepareAndPut(this.#copy.path, { dataDir, keyFile, upTo })
    keepHeld(dataDir, held)
  }
}

const refused = (why: string): TakeoverResponse => ({ done: false, why })
