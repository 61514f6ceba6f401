import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { PortRules } from '../../protocol/wire.ts'
import type { Firewall } from './firewall.ts'
import { digestOf, elementsIn, hasElements, hasObjects, isOf, type Listing, listingOf } from './listing.ts'
import { TABLE } from './nft-text.ts'
import { filtersIncoming } from './policy.ts'
import { reportOf } from './report.ts'
import { change, elementsOf, MAPS, ruleset } from './ruleset.ts'

/** Counts up when the text of the rules changes: an agent that was updated loads its own. */
const VERSION = 2
const MOST_BYTES = 64 << 20
const LISTING = { mayFail: true, quietly: true, outputCapBytes: MOST_BYTES }

/** Where the digest of the rules in force outlives the agent. */
export type Memory = { firewallDigest(): string | undefined; keepFirewallDigest(digest: string): void }

/** The kernel's nftables, through `nft`. Reads and writes the tables `berth` of the families bridge and inet. */
export class Nftables implements Firewall {
  /** The tables as the kernel listed them after the last load; undefined before the first look. */
  private listing: Listing | undefined
  /** Taps whose rules changed since: what is listed of them is taken as it is. */
  private changed = new Set<string>()
  private memory: Memory

  /** `hostPorts`: ports of the host that vms may reach. */
  constructor(
    memory?: Memory,
    private hostPorts: readonly number[] = [],
  ) {
    let last: string | undefined
    this.memory = memory ?? { firewallDigest: () => last, keepFirewallDigest: (digest) => void (last = digest) }
  }

  async load(rules: readonly PortRules[]) {
    await this.apply(ruleset(rules, this.hostPorts), 'the old ones stay in force')
    this.changed.clear()
    this.keep((await this.list())?.listing)
  }

  async change(old: PortRules | undefined, next: PortRules | undefined) {
    for (const tap of [old?.tap, next?.tap]) if (tap) this.changed.add(tap)
    await this.apply(change(old, next), 'what was in force stays')
  }

  async intact(rules: readonly PortRules[]) {
    const found = await this.list()
    if (!found || !hasElements(found.elements, rules) || !hasObjects(found.listing, rules)) return false
    if (this.listing === undefined) {
      if (this.memory.firewallDigest() !== this.digest(found.listing)) return false
    } else if (!isSame(this.listing, found.listing, this.changed)) return false
    if (this.changed.size || this.listing === undefined) this.keep(found.listing)
    this.changed.clear()
    return true
  }

  async holds(rules: PortRules) {
    const chains = [rules.tap, `${rules.tap}_out`, ...(filtersIncoming(rules) ? [`${rules.tap}_in`] : [])]
    const list = (kind: string, name: string) =>
      run('nft', ['--stateless', 'list', kind, 'bridge', TABLE, name], LISTING)
    const [listed, maps] = await Promise.all([
      Promise.all(chains.map((name) => list('chain', name))),
      Promise.all(MAPS.map((name) => list('map', name))),
    ])
    const elements = elementsIn(maps.map(({ out }) => out).join('\n'))
    return (
      listed.every(({ code, out }) => code === 0 && out.includes('\t\t')) &&
      elementsOf([rules]).every((element) => elements.has(element))
    )
  }

  async look(rules: PortRules) {
    const { tap } = rules
    const objects = ['sent4', 'sent6', 'received4', 'received6'].map((name) => ['set', `drops_${name}`])
    const chains = rules.policy?.firewall ? [`${tap}_in`, `${tap}_out`, tap] : [`${tap}_out`, tap]
    const lists = await Promise.all(
      [...chains.map((name) => ['chain', name]), ...(rules.policy?.firewall ? objects : [])].map(([kind, name]) =>
        run('nft', ['-j', 'list', kind!, 'bridge', TABLE, name!], { quietly: true, outputCapBytes: MOST_BYTES }),
      ),
    ).catch((cause) => {
      throw new Failure('firewall_failed', 'the counters of the firewall could not be read', { cause })
    })
    return reportOf(
      tap,
      lists.map(({ out }) => JSON.parse(out)),
    )
  }

  private async apply(text: string, otherwise: string) {
    await run('nft', ['-f', '-'], { stdin: text, quietly: true, outputCapBytes: MOST_BYTES }).catch((cause) => {
      throw new Failure('firewall_failed', `the rules could not be loaded, so ${otherwise}`, { cause })
    })
  }

  private keep(listing: Listing | undefined) {
    this.listing = listing
    if (listing) this.memory.keepFirewallDigest(this.digest(listing))
  }

  private digest = (listing: Listing) => `${VERSION} ${this.hostPorts.join(',')} ${digestOf(listing)}`

  /** Undefined where a table is missing. Without counters and without what the sets remember. */
  private async list() {
    const tables = await Promise.all(
      ['bridge', 'inet'].map((family) =>
        run('nft', ['--stateless', '--terse', 'list', 'table', family, TABLE], LISTING),
      ),
    )
    const maps = await Promise.all(MAPS.map((name) => run('nft', ['list', 'map', 'bridge', TABLE, name], LISTING)))
    if ([...tables, ...maps].some(({ code }) => code !== 0)) return undefined
    return {
      listing: listingOf(tables.map(({ out }) => out).join('\n')),
      elements: elementsIn(maps.map(({ out }) => out).join('\n')),
    }
  }
}

/** Are both the same, apart from the blocks of these taps? */
function isSame(before: Listing, after: Listing, but: ReadonlySet<string>): boolean {
  const others = (listing: Listing) => [...listing.keys()].filter((name) => !isOf(name, but))
  return (
    others(before).length === others(after).length &&
    others(after).every((name) => before.get(name) === after.get(name))
  )
}
