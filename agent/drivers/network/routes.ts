// Routes for the IPv6 prefixes of vms: where the node itself is the router of their link, every address of a prefix
// goes to the guest's own address, and nobody asks on the link who has it. Elsewhere the operator's router does this.
import ipaddr from 'ipaddr.js'
import { run } from '../../host/exec.ts'
import type { RoutedPrefix } from './network.ts'

/** The number by which the kernel remembers that a route is ours; `ip` has no name for it. */
const PROTOCOL = '158'
const ANSWER = { quietly: true, outputCapBytes: 32 << 20 }
type Route = { dst: string; dev?: string; gateway?: string; protocol?: string }
type Network = [ipaddr.IPv6, number]

/**
 * Sets the routes of these prefixes, and removes those of others that were ours. A prefix is routed where it lies in a
 * network that a bridge of the node reaches directly; `isBridge` says which devices are such bridges.
 */
export async function setRoutes(prefixes: readonly RoutedPrefix[], isBridge: (device: string) => boolean) {
  const { out } = await run('ip', ['-6', '-json', 'route', 'show', 'table', 'main'], ANSWER)
  const all = JSON.parse(out || '[]') as Route[]
  const ours = new Set(all.filter(({ protocol }) => protocol === PROTOCOL).map(lineOf))
  const links = all.flatMap(({ dst, dev, gateway, protocol }) => {
    const network = networkOf(dst)
    return network && dev && !gateway && protocol !== PROTOCOL && isBridge(dev) ? [{ dev, network }] : []
  })
  const wanted = prefixes.flatMap(({ prefix, nextHop }) => {
    const dev = linkOf(links, prefix)
    return dev ? [lineOf({ dst: nextHop, dev }), lineOf({ dst: prefix, gateway: nextHop, dev })] : []
  })
  const isWanted = new Set(wanted)
  // The way to a next hop is there before the route over it, and goes after it.
  const lines = [
    ...wanted.filter((line) => !ours.has(line)).map((line) => `route replace ${line} proto ${PROTOCOL}`),
    ...[...ours]
      .filter((line) => !isWanted.has(line))
      .toSorted((a, b) => Number(b.includes(' via ')) - Number(a.includes(' via ')))
      .map((line) => `route del ${line} proto ${PROTOCOL}`),
  ]
  if (lines.length) await run('ip', ['-6', '-batch', '-'], { stdin: `${lines.join('\n')}\n`, quietly: true })
}

const lineOf = ({ dst, gateway, dev }: Route) =>
  `${dst.replace(/\/128$/, '')}${gateway ? ` via ${gateway}` : ''} dev ${dev}`

function networkOf(cidr: string): Network | undefined {
  const [address = '', bits = '128'] = cidr.split('/')
  return ipaddr.IPv6.isValid(address) ? [ipaddr.IPv6.parse(address), Number(bits)] : undefined
}

/** The bridge on whose link the prefix lies, by the smallest network around it. */
function linkOf(links: readonly { dev: string; network: Network }[], prefix: string): string | undefined {
  const inner = networkOf(prefix)
  if (!inner) return undefined
  return links
    .filter(({ network }) => network[1] < inner[1] && inner[0].match(network))
    .toSorted((a, b) => b.network[1] - a.network[1])[0]?.dev
}
