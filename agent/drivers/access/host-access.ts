// Access to the instances of a real host. A directory for each instance outlives its containers: its host key, the keys
// that may log in, and the rules of its network, which are put into force again after a reboot.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { makePassage, replaceFile } from '../../host/directories.ts'
import { run } from '../../host/exec.ts'
import { log } from '../../log.ts'
import type { Container } from '../../protocol/gpu.ts'
import { serialQueue } from '../../serial-queue.ts'
import { uidBase } from '../container/ids.ts'
import { greetsAsSsh } from '../network/bridge.ts'
import type { Access, Fittings, RunInside } from './access.ts'
import { networkOf, networkOfAll } from './addresses.ts'
import { InstanceNetworks } from './instance-network.ts'
import { jupyterConfig } from './jupyter.ts'
import { fingerprintOf, keysText, writeInPlace } from './keys.ts'
import { ensureKit, KIT_PATH, missingPackages, removeOtherKits } from './kit.ts'
import { mustBeFree } from './listening-ports.ts'
import { nameServersOfHost } from './name-servers.ts'
import type { InstanceRules } from './ruleset.ts'

/** The image's own programs are in no directory of these. */
const inKit = (path: string) => join(KIT_PATH, path)
const RULES = 'rules.json'
/** The part of its directory that an instance sees. */
const INSIDE = 'inside'

type Kept = InstanceRules & { workload: string; kit: string }

export class HostAccess implements Access {
  private networks = new InstanceNetworks()
  private readonly inTurn = serialQueue()
  private kits: string
  private instances: string

  constructor(dataDir: string) {
    this.kits = join(dataDir, 'ssh-kit')
    this.instances = join(dataDir, 'instances')
  }

  async problems() {
    const lacking = missingPackages()
    const problems: string[] = []
    if (lacking.length) problems.push(`Instances cannot be reached by SSH: install ${lacking.join(' ')}.`)
    if (!nameServersOfHost().length)
      problems.push('Instances would resolve no names: /etc/resolv.conf names no server but this host’s own loopback.')
    try {
      networkOfAll()
    } catch (error) {
      problems.push(`${wordsOf(error)}.`)
    }
    return problems
  }

  fit(container: Container, jupyterToken: string | undefined): Promise<Fittings> {
    return this.inTurn(async () => {
      const { workload, number, address, ports } = container
      this.mustHavePorts(container)
      const kit = await ensureKit(this.kits)
      const inside = await this.writeInside(container, jupyterToken)
      const network = networkOf(number)
      const kept: Kept = { workload, kit, network, address, ports }
      const before = this.find(workload)
      if (before && before.address !== address) await this.networks.unlead(before)
      replaceFile(join(this.instances, workload, RULES), JSON.stringify(kept))
      await this.load()
      await this.networks.lead(kept)
      removeOtherKits(this.kits, new Set(this.all().map(({ kit }) => kit)))
      return {
        mounts: [
          { source: kit, target: KIT_PATH, readOnly: true },
          { source: inside, target: inKit('instance'), readOnly: true },
          { source: join(inside, 'authorized_keys'), target: '/root/.ssh/authorized_keys', readOnly: true },
        ],
        wrapper: [inKit('sbin/start')],
        environment: {},
        network,
        nameServers: nameServersOfHost(),
      }
    })
  }

  async open() {
    await this.ensure()
  }

  started(workload: string): Promise<void> {
    return this.inTurn(async () => {
      const kept = this.find(workload)
      if (kept) await this.networks.lead(kept)
    })
  }

  closed(workload: string): Promise<void> {
    return this.inTurn(async () => {
      const kept = this.find(workload)
      if (kept) await this.networks.unlead(kept)
    })
  }

  async setKeys(workload: string, keys: readonly string[], inside?: RunInside) {
    writeInPlace(join(this.insideOf(workload), 'authorized_keys'), keysText(keys))
    const fingerprints = keys.flatMap((key) => fingerprintOf(key) ?? [])
    const code = await inside?.([inKit('sbin/end-sessions'), ...fingerprints])
    if (code)
      throw new Failure(
        'tool_failed',
        `the sessions of removed keys could not be ended: end-sessions ended with ${code}`,
      )
  }

  async answers(workload: string) {
    const kept = this.find(workload)
    return kept !== undefined && greetsAsSsh(kept.network.address)
  }

  remove(workload: string): Promise<void> {
    return this.inTurn(async () => {
      const kept = this.find(workload)
      if (!kept) return
      await this.networks.unlead(kept)
      rmSync(join(this.instances, workload, RULES), { force: true })
      // Until it is mended the rules of before are in force: those of this instance lead to no bridge, and no new
      // instance is made. `ensure` loads them anew.
      await this.load().catch((error) => {
        if (!(error instanceof Failure && error.code === 'instance_network')) throw error
        log('warning', 'the rules of the other instances could not be loaded anew', { error: wordsOf(error) })
      })
    })
  }

  async forget(workload: string) {
    await this.remove(workload)
    rmSync(join(this.instances, workload), { recursive: true, force: true })
  }

  addresses(): Promise<{ workload: string; address: string }[]> {
    return this.inTurn(async () =>
      this.all().flatMap(({ workload, address }) => (address === null ? [] : [{ workload, address }])),
    )
  }

  ensure(): Promise<boolean> {
    return this.inTurn(async () => {
      // A host that never had an instance has no table for them.
      if (!this.all().length) return false
      const isChanged = await this.load()
      for (const kept of this.all()) await this.networks.lead(kept)
      return isChanged
    })
  }

  private load = () => this.networks.load(this.all())

  /** Throws `port_taken` for a port or an address of the host that something else has. */
  private mustHavePorts({ workload, ports, address }: Container) {
    const others = this.all().filter((kept) => kept.workload !== workload)
    for (const { host } of ports) {
      const other = others.find(({ ports }) => ports.some((port) => port.host === host))
      if (other) throw new Failure('port_taken', `port ${host} of this host leads to ${other.workload}`)
    }
    const other = others.find((kept) => address !== null && kept.address === address)
    if (other) throw new Failure('port_taken', `the address ${address} leads to ${other.workload}`)
    mustBeFree(ports.map(({ host }) => host))
  }

  /** The files that the instance sees belong to its root: nobody else can read them. Answers their directory. */
  private async writeInside(container: Container, jupyterToken: string | undefined): Promise<string> {
    const { workload, number, authorizedKeys } = container
    const owner = uidBase(number)
    const inside = this.insideOf(workload)
    makePassage(this.instances)
    makePassage(join(this.instances, workload))
    mkdirSync(inside, { recursive: true })
    chmodSync(inside, 0o700)
    const hostKey = join(inside, 'host_key')
    if (!existsSync(hostKey)) {
      rmSync(`${hostKey}.part`, { force: true })
      await run('dropbearkey', ['-t', 'ed25519', '-f', `${hostKey}.part`], { quietly: true })
      renameSync(`${hostKey}.part`, hostKey)
    }
    const keys = join(inside, 'authorized_keys')
    if (!existsSync(keys)) writeFileSync(keys, '', { mode: 0o600 })
    writeInPlace(keys, keysText(authorizedKeys))
    const config = join(inside, 'jupyter_config.py')
    if (jupyterToken === undefined) rmSync(config, { force: true })
    else replaceFile(config, jupyterConfig(jupyterToken))
    for (const path of [inside, hostKey, keys, ...(jupyterToken === undefined ? [] : [config])])
      if (process.getuid?.() === 0) chownSync(path, owner, owner)
    return inside
  }

  private insideOf = (workload: string) => join(this.instances, workload, INSIDE)

  private find(workload: string): Kept | undefined {
    const path = join(this.instances, workload, RULES)
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : undefined
  }

  private all(): Kept[] {
    if (!existsSync(this.instances)) return []
    return readdirSync(this.instances)
      .toSorted()
      .flatMap((workload) => this.find(workload) ?? [])
  }
}
