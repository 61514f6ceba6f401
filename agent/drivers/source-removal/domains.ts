// The domains that libvirt holds on this host: servers of Berth, others, their bridges, and the files that they need.
import { realpath } from 'node:fs/promises'
import { Failure } from '../../failure.ts'
import { type Ran, run } from '../../host/exec.ts'
import { WORKLOAD_ID } from '../../protocol/wire.ts'
import { isThere } from './files.ts'

const URI = ['-c', 'qemu:///system']
const OURS = new RegExp(`^${WORKLOAD_ID}$`)
/** The bridges of private networks and of VLANs, which Berth makes itself. */
const OWN_BRIDGE = /^b[pv]b[0-9]+$/

/** Definitions that are read at once. */
const AT_ONCE = 8

export type DomainFound = {
  name: string
  isOurs: boolean
  isRunning: boolean
  bridges: string[]
  /** Bridges that libvirt makes for a network of its own. */
  networks: string[]
  /** Every path in its definition: disks, firmware, sockets, the emulator. */
  paths: string[]
}

/** All domains of libvirt. Throws `removal_libvirt_silent`. */
export async function domains(): Promise<DomainFound[]> {
  const all = namesOf(await virsh('list', '--all', '--name'))
  const running = new Set(namesOf(await virsh('list', '--name')))
  const found: DomainFound[] = []
  for (let n = 0; n < all.length; n += AT_ONCE) {
    const some = await Promise.all(all.slice(n, n + AT_ONCE).map((name) => domain(name, running.has(name))))
    found.push(...some.flatMap((one) => one ?? []))
  }
  return found
}

/** Undefined: it was removed meanwhile. */
async function domain(name: string, isRunning: boolean): Promise<DomainFound | undefined> {
  const { code, out: xml } = await virsh('dumpxml', '--domain', name)
  if (code !== 0) {
    if (namesOf(await virsh('list', '--all', '--name')).includes(name)) throw silent(name)
    return undefined
  }
  const cards = [...xml.matchAll(/<interface\b[^>]*>.*?<\/interface>/gs)].map(([card]) => card)
  const networks = new Set(cards.flatMap((card) => attribute(card, 'source', 'network') ?? []))
  const own = cards.filter((card) => attribute(card, 'source', 'network') === undefined)
  const bridges = new Set(own.flatMap((card) => attribute(card, 'source', 'bridge') ?? []))
  const paths = [...xml.matchAll(/(?:=\s*["']|>)(\/[^"'<>]+)/g)].map((hit) => unescaped(hit[1]!))
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)))
  return {
    ...{ name, isOurs: OURS.test(name), isRunning },
    bridges: [...bridges].filter((bridge) => !OWN_BRIDGE.test(bridge)),
    networks: [...networks],
    paths: [...new Set([...paths, ...real])],
  }
}

/** The bridge of a network of libvirt, and whether libvirt makes it. */
export async function bridgeOfNetwork(name: string): Promise<{ bridge: string; isOwn: boolean } | undefined> {
  const { code, out } = await virsh('net-dumpxml', '--network', name)
  const bridge = attribute(out, 'bridge', 'name')
  if (code !== 0 || !bridge) return undefined
  const forward = attribute(out, 'forward', 'mode')
  return { bridge, isOwn: forward !== 'bridge' }
}

/** The names of the domains that run. */
export const runningDomains = async () => namesOf(await virsh('list', '--name'))
export const bridgeExists = (name: string) => isThere(`/sys/class/net/${name}/bridge`)

async function virsh(...args: string[]): Promise<Ran> {
  const ran = await run('virsh', ['-r', ...URI, ...args], { mayFail: true, quietly: true, limitSeconds: 30 }).catch(
    (error) => {
      if (error instanceof Failure) throw silent(error.message)
      throw error
    },
  )
  if (ran.code !== 0 && args[0] === 'list') throw silent(ran.err.trim())
  return ran
}
const silent = (words: string) =>
  new Failure('removal_libvirt_silent', `libvirt does not say which servers it holds${words ? `: ${words}` : ''}`)
const namesOf = ({ out }: Ran) => out.split('\n').flatMap((row) => row.trim() || [])

function attribute(xml: string, element: string, name: string): string | undefined {
  const tag = new RegExp(`<${element}\\b[^>]*>`).exec(xml)?.[0]
  const value = tag && new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag)
  const text = value && (value[1] ?? value[2])
  return text === undefined || text === null ? undefined : unescaped(text)
}
const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
