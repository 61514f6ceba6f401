// The kernel's text about a bond, /proc/net/bonding/NAME, which is the same since Linux 2.6.
import type { Uplink } from '../../protocol/wire.ts'

type Bond = NonNullable<Uplink['bond']>
/** The words of the kernel for its modes, and the names that configurations have for them. */
const modes: readonly [RegExp, string][] = [
  [/\(active-backup\)/, 'active-backup'],
  [/802\.3ad/i, '802.3ad'],
  [/\(round-robin\)/, 'balance-rr'],
  [/\(xor\)/, 'balance-xor'],
  [/\(broadcast\)/, 'broadcast'],
  [/transmit load balancing/, 'balance-tlb'],
  [/adaptive load balancing/, 'balance-alb'],
]
const INTERFACE = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,14}$/

/** The mode of the bond and its ports. Undefined: the text is not about a bond. */
export function bondIn(text: string): Bond | undefined {
  const [head = '', ...parts] = text.split(/^Slave Interface:/m)
  const mode = field(head, 'Bonding Mode')
  if (mode === undefined) return undefined
  const aggregator = field(head, 'Aggregator ID')
  const ports = parts.flatMap((part) => {
    const name = part.split('\n')[0]!.trim()
    if (!INTERFACE.test(name)) return []
    const own = field(part, 'Aggregator ID')
    const isApart = aggregator !== undefined && own !== undefined && own !== aggregator
    const state: Bond['ports'][number]['state'] = field(part, 'MII Status') !== 'up' ? 'down' : isApart ? 'apart' : 'up'
    return [{ name, state }]
  })
  return { mode: modes.find(([words]) => words.test(mode))?.[1] ?? mode.slice(0, 60), ports }
}

const field = (text: string, name: string): string | undefined =>
  new RegExp(`^\\s*${name}: *(.*?) *$`, 'm').exec(text)?.[1]
