// Servers of source hypervisors that do not exist, as a node stops them and starts them again. Their power and their
// kept definitions are rows beside the hypervisors, so that every fake node sees the same ones.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { SourceDrive, SourceHost, SourceServer } from '../../protocol/values/source-hosts.ts'
import type { OfDomain, Saved, SourceServers } from './source-servers.ts'

/**
 * How a server goes when it is brought to a node; what is left out goes well. `startsAtPercent`: the other panel
 * starts it, once, when a copy with `off` has come so far. `startsAfterCopy`: it does so, once, when that has ended.
 * `readErrorAt`: the source cannot read its disk at this offset. `cutAtPercent`: the connection breaks there and is
 * not made again, `cuts` times, or always. `ms`: of each pass. `content`: of its disk. `writtenSince`: the content
 * that its guest gives it between the two passes. `arrivesDifferent`: what arrives is not what the source has. Of an
 * adoption: `diskIsElsewhere`: on other storage than the pool; `diskIsGone`; `startsBeforeUndefining`: the other panel
 * starts it, once, while it is adopted; `staysDefined`, `isNotDefined`: libvirt does not undefine it, or not define it
 * again.
 */
export type FakeMoving = {
  isNotKept?: boolean
  doesNotStop?: boolean
  doesNotStart?: boolean
  ignoresShutdown?: boolean
  startsAtPercent?: number
  startsAfterCopy?: boolean
  readErrorAt?: number
  cutAtPercent?: number
  cuts?: number
  ms?: number
  content?: string
  writtenSince?: string
  arrivesDifferent?: boolean
  diskIsElsewhere?: boolean
  diskIsGone?: boolean
  startsBeforeUndefining?: boolean
  staysDefined?: boolean
  isNotDefined?: boolean
}

const SCHEMA = `
  create table if not exists source_powers (
    address text not null, domain text not null, state text not null, primary key (address, domain)) strict;
  create table if not exists source_definitions (
    address text not null, domain text not null, definition text not null, primary key (address, domain)) strict;
  create table if not exists source_events (
    n integer primary key, address text not null, domain text not null, event text not null) strict`

/** `drives`: also of one that is absent by now. */
type Seen = { server: SourceServer; hostKey: string | null; moving: FakeMoving; drives: SourceDrive[] }
const addressOf = (host: SourceHost | null) => host?.address ?? 'own'

export class FakeSourceServers implements SourceServers {
  /** `look`: signs in, and finds one server; `signIn`: no more than that. */
  constructor(
    private db: Database,
    private look: (host: SourceHost | null, domain: string) => Promise<Seen>,
    private signIn: (host: SourceHost) => Promise<void>,
  ) {
    db.run(SCHEMA)
  }

  /** The server as it was described, with the power that it has by now. */
  asItIs(address: string, server: SourceServer): SourceServer {
    const row = this.db
      .query<{ state: SourceServer['state'] }, [string, string]>(
        'select state from source_powers where address = ? and domain = ?',
      )
      .get(address, server.domain)
    if (!row) return server
    if (row.state === 'absent') return { ...server, state: 'absent', isPersistent: null, definition: null }
    return { ...server, state: row.state }
  }

  /** For tests: what was done to the servers of a source, in its order: `stop v1001`. */
  eventsAt = (address: string) =>
    this.db
      .query<{ domain: string; event: string }, [string]>(
        'select domain, event from source_events where address = ? order by n',
      )
      .all(address)
      .map(({ domain, event }) => `${event} ${domain}`)

  /** For tests: the definition that is kept there. */
  keptAt = (address: string, domain: string) =>
    this.db
      .query<{ definition: string }, [string, string]>(
        'select definition from source_definitions where address = ? and domain = ?',
      )
      .get(address, domain)?.definition

  /** For tests: the other panel, or its owner, starts or stops it. */
  setPower(address: string, domain: string, state: SourceServer['state']) {
    this.db.run('insert or replace into source_powers values (?, ?, ?)', [address, domain, state])
  }

  /** Signs in, and finds it. */
  find = (of: OfDomain) => this.look(of.host, of.domain)

  async save({ host, domain }: OfDomain): Promise<Saved> {
    const { server, hostKey, moving } = await this.look(host, domain)
    const address = addressOf(host)
    const { state, isPersistent } = server
    const kept = this.keptAt(address, domain)
    if (state === 'absent' && kept === undefined)
      throw new Failure('source_no_domain', `libvirt at ${address} knows no domain ${domain}`)
    if (moving.isNotKept)
      throw new Failure('source_definition_not_kept', `the definition of ${domain} is not kept at ${address}`)
    const uuid = server.definition?.uuid ?? null
    const definition = state === 'absent' ? kept! : definitionOf(domain, uuid)
    this.db.run('insert or replace into source_definitions values (?, ?, ?)', [address, domain, definition])
    return { hostKey, state, isPersistent, definition }
  }

  async stop({ host, domain }: OfDomain, graceSeconds: number) {
    const { server, moving } = await this.look(host, domain)
    const address = addressOf(host)
    if (this.keptAt(address, domain) === undefined)
      throw new Failure('source_definition_not_kept', `no definition of ${domain} is kept at ${address}`)
    if (!isOn(server.state)) return { wasRunning: false }
    if (moving.doesNotStop) throw new Failure('source_not_stopped', `${domain} at ${address} does not end`)
    // It waits for its whole grace, though no test has so long.
    if (moving.ignoresShutdown) await Bun.sleep(Math.min(50, graceSeconds * 1000))
    this.#note(address, domain, moving.ignoresShutdown ? 'destroy' : 'stop')
    this.setPower(address, domain, server.isPersistent === false ? 'absent' : 'off')
    return { wasRunning: true }
  }

  async start({ host, domain }: OfDomain, definition: string) {
    const { server, moving } = await this.look(host, domain)
    const address = addressOf(host)
    if (isOn(server.state)) return
    if (moving.doesNotStart || !definition)
      throw new Failure('source_not_started', `libvirt at ${address} does not start ${domain}`)
    this.#note(address, domain, server.state === 'absent' ? 'create' : 'start')
    this.setPower(address, domain, 'running')
  }

  async forget({ host, domain }: OfDomain) {
    if (host) await this.signIn(host)
    this.db.run('delete from source_definitions where address = ? and domain = ?', [addressOf(host), domain])
  }

  /** Counts something that happens so many times. Answers whether it does this time. */
  strikes({ host, domain }: OfDomain, what: string, times: number): boolean {
    const address = addressOf(host)
    const before = this.eventsAt(address).filter((event) => event === `${what} ${domain}`).length
    if (before >= times) return false
    this.#note(address, domain, what)
    return true
  }

  /** A persistent one of this host is gone until it is defined again. */
  undefine(domain: string) {
    this.#note('own', domain, 'undefine')
    this.setPower('own', domain, 'absent')
  }
  define(domain: string) {
    this.#note('own', domain, 'define')
    this.setPower('own', domain, 'off')
  }

  /** The other panel starts it. */
  startsThere({ host, domain }: OfDomain) {
    this.setPower(addressOf(host), domain, 'running')
  }

  #note(address: string, domain: string, event: string) {
    this.db.run('insert into source_events (address, domain, event) values (?, ?, ?)', [address, domain, event])
  }
}

const isOn = (state: SourceServer['state']) => state === 'running' || state === 'paused'
const definitionOf = (domain: string, uuid: string | null) =>
  `<domain type='kvm'><name>${domain}</name>${uuid ? `<uuid>${uuid}</uuid>` : ''}</domain>`
