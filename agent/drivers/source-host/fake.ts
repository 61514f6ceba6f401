// Source hypervisors that do not exist, in a database. Several fake nodes that are given the same database see the same
// ones. One that nobody has described lets every password in but an empty one, and its servers are those of the panel
// for demonstrations, which carry their number in their name, or are usual ones.
import { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import {
  importKeyLine,
  importKeyMark,
  type SourceDefinition,
  type SourceDrive,
  type SourceHost,
  type SourceHostFacts,
  type SourceServer,
  type WantedServer,
} from '../../protocol/values/source-hosts.ts'
import { type FakeMoving, FakeSourceServers } from './fake-servers.ts'
import type { AddingKeys, SourceHosts } from './source-hosts.ts'

const SCHEMA = `
  create table if not exists source_hosts (address text primary key, described text not null) strict;
  create table if not exists source_keys (
    address text not null, line text not null, publicKey text not null, primary key (address, line)) strict;
  create table if not exists source_passwords (address text not null, result text not null) strict;
  create table if not exists own_source_keys (node text primary key, publicKey text not null) strict`

/**
 * A source hypervisor as a test describes it; what it leaves out is usual. `password`: null where the server takes
 * none; `lets`: keys that nobody added are let in too.
 */
export type FakeSourceHost = {
  hostKey?: string
  password?: string | null
  lets?: 'everyone' | 'known'
  fails?: 'source_unreachable' | 'source_ssh_too_old' | 'source_invalid' | 'source_no_libvirt'
  keysNotWritten?: boolean
  facts?: Partial<SourceHostFacts>
  /** By domain; a null one is absent. */
  servers?: Record<string, FakeSourceServer | null>
  /** Answers take so long. */
  ms?: number
}
/** `moving`: how it goes when it is brought to a node. */
export type FakeSourceServer = Partial<Omit<SourceServer, 'definition'>> & {
  definition?: Partial<SourceDefinition>
  moving?: FakeMoving
}

const GiB = 1024 ** 3
const base64 = (text: string) => Buffer.from(text.padEnd(51, '.').slice(0, 51)).toString('base64')
const DISK_GB = [20, 25, 80] as const
const DEMO = /^00000000-0000-4000-8000-([0-9a-f]{12})$/

/** The address under which tests describe this host itself. */
export const OWN = 'own'

export class FakeSourceHosts implements SourceHosts {
  #db: Database
  readonly moving: FakeSourceServers

  /** `path`: of the database of the source hypervisors. `node`: a name for this node in it. */
  constructor(
    path: string,
    private node: string,
    private now: () => number,
  ) {
    this.#db = new Database(path, { create: true, readwrite: true, strict: true })
    this.#db.run('PRAGMA busy_timeout = 5000')
    this.#db.run(SCHEMA)
    this.moving = new FakeSourceServers(
      this.#db,
      (host, domain) => this.#one(host, domain),
      async (host) => void (await this.#mustBeIn(host)),
    )
  }

  close = () => this.#db.close()

  /** From now on the hypervisor at this address is so. */
  describe(address: string, described: FakeSourceHost) {
    this.#db.run('insert or replace into source_hosts values (?, ?)', [address, JSON.stringify(described)])
  }

  /** The lines of root's `authorized_keys` there. */
  linesAt = (address: string) =>
    this.#db
      .query<{ line: string }, [string]>('select line from source_keys where address = ? order by rowid')
      .all(address)
      .map(({ line }) => line)

  /** How the sign-ins by password ended there. */
  signInsAt = (address: string) =>
    this.#db
      .query<{ result: string }, [string]>('select result from source_passwords where address = ? order by rowid')
      .all(address)
      .map(({ result }) => result)

  async key() {
    const fresh = `ssh-ed25519 ${base64(crypto.randomUUID())}`
    this.#db.run('insert or ignore into own_source_keys values (?, ?)', [this.node, fresh])
    return this.#db
      .query<{ publicKey: string }, [string]>('select publicKey from own_source_keys where node = ?')
      .get(this.node)!.publicKey
  }

  async addKeys({ host, password, keys }: AddingKeys) {
    const { address } = host
    const { described, hostKey } = await this.#contact(host)
    const wanted = described.password
    const result =
      wanted === null ? 'disabled' : !password || (wanted ?? password) !== password ? 'refused' : 'accepted'
    this.#db.run('insert into source_passwords values (?, ?)', [address, result])
    if (result === 'disabled') throw new Failure('source_password_disabled', `${address} takes no passwords`)
    if (result === 'refused') throw new Failure('source_password_refused', `${address}: Permission denied`)
    if (described.keysNotWritten)
      throw new Failure('source_keys_not_written', `${address}: authorized_keys: Read-only file system`)
    let added = 0
    this.#db.transaction(() => {
      for (const key of keys) {
        this.#db.run(`delete from source_keys where address = ? and line like '% ' || ? and line <> ?`, [
          ...[address, importKeyMark(key.nodeId), importKeyLine(key)],
        ])
        added += this.#db.run('insert or ignore into source_keys values (?, ?, ?)', [
          ...[address, importKeyLine(key), key.publicKey],
        ]).changes
      }
    })()
    return { hostKey, added, present: keys.length - added }
  }

  async removeKeys(host: SourceHost, nodeIds: readonly string[]) {
    const { isIn } = await this.#contact(host)
    let removed = 0
    if (isIn)
      for (const id of nodeIds)
        removed += this.#db.run(`delete from source_keys where address = ? and line like '% ' || ?`, [
          ...[host.address, importKeyMark(id)],
        ]).changes
    return { removed }
  }

  async look(host: SourceHost) {
    const { described, hostKey, isIn } = await this.#contact(host)
    if (!isIn) return { hostKey, login: 'refused' as const, refusal: 'Permission denied (publickey).', facts: null }
    const libvirtAnswers = described.fails !== 'source_no_libvirt'
    const facts = { ...usualFacts(host.address, this.now()), libvirtAnswers, ...described.facts }
    return { hostKey, login: 'accepted' as const, refusal: null, facts }
  }

  async servers(host: SourceHost, asked: readonly WantedServer[]) {
    const { described, hostKey } = await this.#mustBeIn(host)
    if (described.fails === 'source_no_libvirt')
      throw new Failure('source_no_libvirt', `no libvirt answers at ${host.address}`)
    return { hostKey, servers: this.#serversOf(host.address, described, asked) }
  }

  /** Those of the hypervisor that was described under the address `own`. */
  async ownServers(asked: readonly WantedServer[]) {
    const described = this.#described(OWN)
    if (described.ms) await Bun.sleep(described.ms)
    if (described.fails) throw new Failure('source_no_libvirt', 'no libvirt answers at this host')
    return this.#serversOf(OWN, described, asked)
  }

  /** One of them, as it was described and as it is by now. */
  async #one(host: SourceHost | null, domain: string) {
    const wanted = [{ domain }]
    const { servers, hostKey } =
      host === null ? { servers: await this.ownServers(wanted), hostKey: null } : await this.servers(host, wanted)
    const moving = this.#described(host?.address ?? OWN).servers?.[domain]?.moving ?? {}
    const before = serversOf(this.#described(host?.address ?? OWN), wanted)[0]!
    return { server: servers[0]!, hostKey, moving, drives: before.definition?.drives ?? [] }
  }

  #serversOf = (address: string, described: FakeSourceHost, asked: readonly WantedServer[]) =>
    serversOf(described, asked).map((server) => this.moving.asItIs(address, server))

  #described(address: string): FakeSourceHost {
    const row = this.#db
      .query<{ described: string }, [string]>('select described from source_hosts where address = ?')
      .get(address)
    return JSON.parse(row?.described ?? '{}')
  }

  async #mustBeIn(host: SourceHost) {
    const contact = await this.#contact(host)
    if (!contact.isIn) throw new Failure('source_login_refused', `${host.address}: Permission denied (publickey).`)
    return contact
  }

  async #contact({ address, hostKey }: SourceHost) {
    const described = this.#described(address)
    const shown = described.hostKey ?? `ssh-ed25519 ${base64(`host key of ${address}`)}`
    if (described.ms) await Bun.sleep(described.ms)
    const { fails } = described
    if (fails && fails !== 'source_no_libvirt') throw new Failure(fails, `${address} was told to fail`)
    if (hostKey !== null && hostKey !== shown)
      throw new Failure('source_host_key_changed', `${address} has another host key than before`)
    const own = await this.key()
    const known = this.#db
      .query<{ n: number }, [string, string]>('select count(*) n from source_keys where address = ? and publicKey = ?')
      .get(address, own)!.n
    return { described, hostKey: shown, isIn: known > 0 || described.lets === 'everyone' }
  }
}

const serversOf = (described: FakeSourceHost, asked: readonly WantedServer[]) =>
  asked.map(({ domain }): SourceServer => {
    const told = described.servers?.[domain]
    const usual = usualServer(domain)
    if (told === null) return absent(domain)
    if (!told) return usual
    const definition = usual.definition ?? usualDefinition(domain, 0)
    const { moving: _, ...seen } = told
    return { ...usual, ...seen, domain, definition: { ...definition, ...told.definition } }
  })

const absent = (domain: string): SourceServer => ({
  domain,
  state: 'absent',
  isPersistent: null,
  definition: null,
  trouble: null,
})

/** Some in each thirty of the demonstration have what the panel does not tell and an import refuses. */
function usualServer(domain: string): SourceServer {
  const number = DEMO.exec(domain)?.[1]
  const n = number === undefined ? 0 : Number.parseInt(number, 16)
  const kind = n % 30
  if (kind === 23) return absent(domain)
  const definition = usualDefinition(domain, n)
  const drive = definition.drives[0]!
  if (kind === 9) definition.firmware = 'uefi'
  if (kind === 14) definition.drives = [drive, { ...drive, target: 'vdb', path: `${drive.path}-data` }]
  if (kind === 21) definition.drives = [{ ...drive, format: 'vmdk' }]
  definition.driveCount = definition.drives.length
  return { domain, state: 'running', isPersistent: number === undefined, definition, trouble: null }
}

function usualDefinition(domain: string, n: number): SourceDefinition {
  const virtualBytes = DISK_GB[n % DISK_GB.length]! * GiB
  const drive: SourceDrive = {
    ...{ target: 'vda', device: 'disk', bus: 'virtio', holder: 'file', path: `/var/lib/libvirt/images/${domain}/0` },
    ...{ format: 'qcow2', isReadOnly: false, isSeed: false, virtualBytes, allocatedBytes: virtualBytes / 4 },
    ...{ pool: null, backing: null, snapshots: 0, trouble: null },
  }
  const octet = (bits: number) => ((n >> bits) & 255).toString(16).padStart(2, '0')
  return {
    ...{ uuid: DEMO.test(domain) ? domain : null, virtualization: 'kvm', osType: 'hvm', firmware: 'bios' },
    ...{ machine: 'pc-i440fx-2.6', arch: 'x86_64', vcpus: 2, memoryMb: 2048 },
    ...{ cpuMode: 'host-model', cpuModel: null, cpuFeatures: [], drives: [drive], driveCount: 1 },
    nics: [{ mac: `02:00:5e:${octet(16)}:${octet(8)}:${octet(0)}`, model: 'virtio', bridge: 'br0' }],
    ...{ hasGuestAgent: true, hostDevices: 0, looksLikeWindows: false, snapshots: 0 },
  }
}

const usualFacts = (address: string, now: number): SourceHostFacts => ({
  ...{
    hostname: `source-${address}`,
    os: 'CentOS Linux 7 (Core)',
    kernel: '3.10.0-327.el7.x86_64',
    arch: 'x86_64',
    now,
  },
  cpu: { model: 'Intel(R) Xeon(R) CPU E5-2620 v4 @ 2.10GHz', threads: 32 },
  memoryMb: 131_072,
  tools: {
    ...{ libvirt: '1.2.17', qemu: '1.5.3', qemuImg: '1.5.3', ssh: 'OpenSSH_6.6.1p1', dd: '8.22', sha1sum: '8.22' },
    ...{ lvm: '2.02.130', zfs: null, python: '2.7.5' },
  },
  libvirtAnswers: true,
  containers: [],
  space: [{ kind: 'file', name: '/var/lib/libvirt/images', freeBytes: 500 * GiB, totalBytes: 1000 * GiB }],
  hashMbps: 3200,
  linkMbps: 940,
})
