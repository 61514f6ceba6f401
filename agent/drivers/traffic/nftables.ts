// The kernel counts the frames of each tap in a table of its own, which no change of the rules reloads. The chain for
// the epoch has no rules: its name tells whether the table is still the one that was read before.
import { randomBytes } from 'node:crypto'
import { run } from '../../host/exec.ts'
import { TAP_PREFIX } from '../../protocol/wire.ts'
import type { PortCounters, TrafficCounters } from './traffic.ts'

const TABLE = 'berth_traffic'
const EPOCH = 'epoch_'
/** Elements of each set; a node has far fewer taps. */
const MOST_TAPS = 65_535

/**
 * Counts behind all rules of this family, where a frame passes once: in `forward` one that is flooded passes for each
 * port.
 */
const HOOK = (name: string) => `type filter hook ${name} priority 300; policy accept;`
const tableOf = (epoch: string) => `table bridge ${TABLE} {
  chain ${EPOCH}${epoch} { }
  set sent { type ifname; size ${MOST_TAPS}; flags dynamic; }
  set received { type ifname; size ${MOST_TAPS}; flags dynamic; }
  chain prerouting { ${HOOK('prerouting')}
    iifname "${TAP_PREFIX}*" update @sent { iifname counter }
  }
  chain postrouting { ${HOOK('postrouting')}
    oifname "${TAP_PREFIX}*" update @received { oifname counter }
  }
}
`

type Element = string | { elem?: { val?: string; counter?: { bytes?: number } } }
type Listed = { nftables: { chain?: { name: string }; set?: { name: string; elem?: Element[] } }[] }

export class NftCounters implements TrafficCounters {
  async read() {
    const found = (await this.listed()) ?? (await this.begin())
    const ports = new Map<string, PortCounters>()
    for (const { set } of found.nftables)
      for (const element of set?.elem ?? []) {
        const { val, counter } = (typeof element === 'object' && element.elem) || {}
        if (!val) continue
        const port = ports.get(val) ?? { sentBytes: 0, receivedBytes: 0 }
        port[set!.name === 'sent' ? 'sentBytes' : 'receivedBytes'] = counter?.bytes ?? 0
        ports.set(val, port)
      }
    return { epoch: epochOf(found)!, ports }
  }

  async forget(tap: string) {
    for (const set of ['sent', 'received'])
      await run('nft', ['delete', 'element', 'bridge', TABLE, set, `{ "${tap}" }`], { mayFail: true, quietly: true })
  }

  private async begin(): Promise<Listed> {
    // A table without its epoch was not made here, or not to its end.
    await run('nft', ['delete', 'table', 'bridge', TABLE], { mayFail: true, quietly: true })
    await run('nft', ['-f', '-'], { stdin: tableOf(randomBytes(8).toString('hex')) })
    return (await this.listed())!
  }

  private async listed(): Promise<Listed | undefined> {
    const { code, out } = await run('nft', ['-j', 'list', 'table', 'bridge', TABLE], {
      mayFail: true,
      quietly: true,
      outputCapBytes: 32 << 20,
    })
    if (code !== 0) return undefined
    const found = JSON.parse(out) as Listed
    return epochOf(found) === undefined ? undefined : found
  }
}

const epochOf = ({ nftables }: Listed) =>
  nftables
    .map(({ chain }) => chain?.name)
    .find((name) => name?.startsWith(EPOCH))
    ?.slice(EPOCH.length)
