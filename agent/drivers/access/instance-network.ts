// The network of instances on the host: the table of rules, and the way of their own addresses. A host answers for such
// an address without having it, so that no service of its own is ever reached there.
import { writeFileSync } from 'node:fs'
import { wordsOf } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import { log } from '../../log.ts'
import { announceFrom } from '../network/announce.ts'
import { networkOfAll } from './addresses.ts'
import { nameServersOfHost } from './name-servers.ts'
import { type InstanceRules, instanceRuleset, TABLE } from './ruleset.ts'

const QUIETLY = { quietly: true, mayFail: true }

export class InstanceNetworks {
  /** The rules that were loaded last, and the kernel's listing right after. */
  private loaded: { rules: string; listing: string } | undefined

  /** Puts these rules into force unless they are; without instances there are none. Answers whether it had to. */
  async load(instances: readonly InstanceRules[]): Promise<boolean> {
    if (!instances.length) {
      await run('nft', ['delete', 'table', 'inet', TABLE], QUIETLY)
      this.loaded = undefined
      return true
    }
    const rules = instanceRuleset(instances, nameServersOfHost(), networkOfAll().cidr)
    if (this.loaded?.rules === rules && this.loaded.listing === (await listing())) return false
    await run('nft', ['-f', '-'], { stdin: rules, quietly: true })
    this.loaded = { rules, listing: await listing() }
    return true
  }

  /** Leads an instance's own address to its bridge, which exists while it runs, and tells the neighbours once. */
  async lead({ network, address }: InstanceRules) {
    if (address === null || (await macOf(network.interface)) === undefined) return
    const uplink = await uplinkOf(address, network.interface)
    await run('ip', ['route', 'replace', `${address}/32`, 'dev', network.interface], { quietly: true })
    if (!uplink || (await answeredOn(address)).includes(uplink)) return
    answerAtOnce(uplink)
    await run('ip', ['neigh', 'replace', 'proxy', address, 'dev', uplink], { quietly: true })
    const mac = await macOf(uplink)
    // A device without Ethernet has no neighbours to tell.
    if (mac) tell(uplink, mac, address)
  }

  /** Answers for the address no more. */
  async unlead({ network, address }: InstanceRules) {
    if (address === null) return
    await run('ip', ['route', 'del', `${address}/32`, 'dev', network.interface], QUIETLY)
    for (const device of await answeredOn(address))
      await run('ip', ['neigh', 'del', 'proxy', address, 'dev', device], QUIETLY)
  }
}

/** Neighbours that are not told ask for the address, or find it when their caches end: the instance is reached. */
function tell(uplink: string, mac: string, address: string) {
  try {
    announceFrom([uplink], mac, [address])
  } catch (error) {
    log('warning', 'the address of an instance could not be announced', { address, uplink, error: wordsOf(error) })
  }
}

/** The devices on which the host answers for the address. */
async function answeredOn(address: string): Promise<string[]> {
  const { out } = await run('ip', ['-json', 'neigh', 'show', 'proxy'], { quietly: true })
  const all = JSON.parse(out || '[]') as { dst: string; dev: string }[]
  return all.filter(({ dst }) => dst === address).map(({ dev }) => dev)
}

/** The device on which the neighbours of the address are; undefined where the host has no way to it. */
async function uplinkOf(address: string, own: string): Promise<string | undefined> {
  const { out } = await run('ip', ['-json', 'route', 'show', 'match', address], { quietly: true })
  const routes = JSON.parse(out || '[]') as { dst: string; dev?: string }[]
  const bitsOf = (dst: string) => (dst === 'default' ? 0 : Number(dst.split('/')[1] ?? 32))
  return routes
    .filter(({ dev }) => dev !== undefined && dev !== own)
    .toSorted((a, b) => bitsOf(b.dst) - bitsOf(a.dst))[0]?.dev
}

/** The kernel answers for others after up to 0.8 s, so that a true owner comes first; there is none here. */
function answerAtOnce(device: string) {
  try {
    writeFileSync(`/proc/sys/net/ipv4/neigh/${device}/proxy_delay`, '0')
  } catch {
    // Only slower.
  }
}

/** Undefined when there is no such device; empty when it has no MAC address. */
async function macOf(device: string): Promise<string | undefined> {
  const { code, out } = await run('ip', ['-json', 'link', 'show', 'dev', device], QUIETLY)
  if (code !== 0) return undefined
  const [link] = JSON.parse(out) as { address?: string; link_type?: string }[]
  return link?.link_type === 'ether' ? link.address : ''
}

async function listing(): Promise<string> {
  const { code, out } = await run('nft', ['--stateless', 'list', 'table', 'inet', TABLE], QUIETLY)
  return code === 0 ? out : ''
}
