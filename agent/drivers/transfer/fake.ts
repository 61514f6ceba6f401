// Transfers between fake hosts of one machine. The host key of a fake target is the path of its database, so that the
// source writes to its disks and vms as SSH, NBD and libvirt would, and only where the target has let its key in.
import { Database } from 'bun:sqlite'
import { copyProgress } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import type { Copied, SshTarget } from '../../protocol/wire.ts'
import type { FakeHypervisor } from '../hypervisor/fake.ts'
import { FakeLayers } from '../storage/fake-layers.ts'
import type {
  Copying,
  DiskOfTransfer,
  Listening,
  Migrating,
  Migration,
  Receiving,
  ServedVolume,
  Transfers,
} from './transfer.ts'

const SCHEMA = `
  create table if not exists transfer_keys (transfer text primary key, publicKey text not null) strict;
  create table if not exists received_transfers (
    transfer text primary key, publicKey text not null, disks text not null, until integer not null) strict`

/** Of each disk, which has one text and no bytes. */
const DATA_BYTES = 64 << 20
const PARTS = 4

export class FakeTransfers implements Transfers {
  #disks: FakeLayers
  #stops = new Map<string, AbortController>()
  /** Migrations whose disks are the same, and whose memory waits. */
  #held = new Map<string, Copied>()
  /** The limit of each transfer that was told one, in megabit per second. */
  readonly limits = new Map<string, number | null>()

  /** `path`: of the database, which is the fake host. */
  constructor(
    private db: Database,
    private path: string,
    private hypervisor: FakeHypervisor,
    private now: () => number = Date.now,
  ) {
    db.run(SCHEMA)
    this.#disks = new FakeLayers(db)
  }

  async key(transfer: string) {
    const fresh = `ssh-ed25519 ${Buffer.from(crypto.getRandomValues(new Uint8Array(51))).toString('base64')}`
    this.db.run('insert or ignore into transfer_keys values (?, ?)', [transfer, fresh])
    return this.#keyOf(transfer)!
  }

  #keyOf = (transfer: string) =>
    this.db
      .query<{ publicKey: string }, [string]>('select publicKey from transfer_keys where transfer = ?')
      .get(transfer)?.publicKey

  async receive({ transfer, publicKey, disks, until }: Receiving): Promise<Listening> {
    this.db.run('insert or replace into received_transfers values (?, ?, ?, ?)', [
      ...[transfer, publicKey, JSON.stringify(disks), until],
    ])
    const hostKey = `ssh-ed25519 ${Buffer.from(this.path.padEnd(20)).toString('base64')}`
    return { port: 22, user: 'root', hostKeys: [hostKey] }
  }

  async renew(transfer: string, until: number) {
    return this.db.run('update received_transfers set until = ? where transfer = ?', [until, transfer]).changes > 0
  }

  copy = async (copying: Copying) => this.#send(copying)

  /** Tests write disks behind the back of the fake hypervisor: what they write afterwards is sent by `copy`. */
  mirror = async (copying: Copying) => this.#send(copying)

  /** In parts, between which `end` can come. */
  async #send({ transfer, to, disks, begun }: Pick<Copying, 'transfer' | 'to' | 'disks' | 'begun'>) {
    const stop = new AbortController()
    this.#stops.set(transfer, stop)
    const totalBytes = disks.length * DATA_BYTES
    let copiedBytes = 0
    for (const [i, { disk, sizeBytes }] of disks.entries()) {
      const isSame = this.#within(transfer, to, (far, theirs) => {
        mustFit(theirs[i], sizeBytes)
        return new FakeLayers(far).read(theirs[i]!.disk.path) === this.#disks.read(disk.path)
      })
      const sendsNothing = begun.has(i) && isSame
      begun.add(i)
      for (let part = 0; part < PARTS && !sendsNothing; part++) {
        await Bun.sleep(1)
        if (stop.signal.aborted) throw new Failure('transfer_ended', `the transfer ${transfer} was ended`)
        copiedBytes += DATA_BYTES / PARTS
        copyProgress({ copiedBytes, totalBytes })
      }
      this.#within(transfer, to, (far, theirs) => this.#write(far, disk.path, theirs[i]!.disk.path))
    }
    return { copiedBytes, totalBytes }
  }

  #write(far: Database, path: string, theirs: string) {
    const content = this.#disks.read(path)
    if (content === undefined) far.run('delete from disk_contents where path = ?', [theirs])
    else new FakeLayers(far).write(theirs, content)
  }

  /** Opens the target as its SSH server would let this node in. */
  #within<T>(transfer: string, to: SshTarget, work: (far: Database, theirs: ServedVolume[]) => T): T {
    const path = Buffer.from(to.hostKeys[0]!.split(' ')[1]!, 'base64').toString().trimEnd()
    let far: Database
    try {
      far = new Database(path, { readwrite: true, create: false, strict: true })
    } catch (cause) {
      throw new Failure('transfer_unreachable', `there is no fake host at ${path}`, { cause })
    }
    try {
      far.run('PRAGMA busy_timeout = 5000')
      const open = far
        .query<{ publicKey: string; disks: string; until: number }, [string]>(
          'select publicKey, disks, until from received_transfers where transfer = ?',
        )
        .get(transfer)
      if (!open || open.publicKey !== this.#keyOf(transfer) || open.until <= this.now())
        throw new Failure('transfer_refused', `the fake host at ${path} does not let this node in`)
      return work(far, JSON.parse(open.disks) as ServedVolume[])
    } finally {
      far.close()
    }
  }

  async limit(transfer: string, maxMbps: number | null) {
    this.limits.set(transfer, maxMbps)
  }

  async checksum({ disk, sizeBytes }: DiskOfTransfer, onPercent: (percent: number) => void = () => {}) {
    onPercent(100)
    const checksum = new Bun.CryptoHasher('sha256').update(this.#disks.read(disk.path) ?? '').digest('hex')
    return { sizeBytes, checksum }
  }

  /** A killed fake host leaves nothing that works on. */
  async sweep() {}

  async end(transfer: string) {
    this.#stops.get(transfer)?.abort()
    this.#stops.delete(transfer)
    this.#held.delete(transfer)
    for (const table of ['transfer_keys', 'received_transfers'])
      this.db.run(`delete from ${table} where transfer = ?`, [transfer])
  }

  /** The migrations of a fake host, which go the same way. */
  migration: Migration = {
    begin: async (migrating: Migrating) => {
      const { transfer, workload, to } = migrating
      if ((await this.hypervisor.power(workload)) === 'absent') return this.#movedBefore(transfer, workload, to)
      const copied = await this.#send({ ...migrating, begun: { has: () => false, add: () => {} } })
      this.#held.set(transfer, copied)
      return copied
    },
    migrate: async (migrating: Migrating) => {
      const { transfer, workload, to, disks } = migrating
      if ((await this.hypervisor.power(workload)) === 'absent') return this.#movedBefore(transfer, workload, to)
      if ((await this.hypervisor.power(workload)) !== 'running')
        throw new Failure('not_running', `${workload} went off while it was moved`)
      const copied = this.#held.get(transfer)
      if (!copied) throw new Failure('transfer_cut', 'this fake host has started again meanwhile')
      this.#held.delete(transfer)
      const stoppedAt = this.now()
      this.#within(transfer, to, (far, theirs) => {
        for (const [i, { disk }] of disks.entries()) this.#write(far, disk.path, theirs[i]!.disk.path)
        const { changes } = far.run(
          `update vms set power = 'paused', inUse = disk where workload = ? and power in ('stopped', 'crashed')`,
          [workload],
        )
        if (!changes) throw new Failure('migration_failed', `${workload} is not defined and off at the target`)
      })
      await this.hypervisor.remove(workload)
      return { ...copied, stoppedAt }
    },
    limit: (transfer: string, maxMbps: number | null) => void this.limits.set(transfer, maxMbps),
    resume: async (workload: string) => {
      const wasPaused = (await this.hypervisor.power(workload)) === 'paused'
      if (wasPaused) await this.hypervisor.start(workload)
      return { resumedAt: wasPaused ? this.now() : null }
    },
    find: async (workload: string) => {
      const power = await this.hypervisor.power(workload)
      return { power, reason: power === 'paused' ? 'migrating' : '' }
    },
    expect: async () => {},
    forget: async () => {},
  }

  #movedBefore(transfer: string, workload: string, to: SshTarget) {
    const isThere = this.#within(transfer, to, (far) =>
      far.query(`select 1 from vms where workload = ? and power in ('paused', 'running')`).get(workload),
    )
    if (!isThere) throw new Failure('not_running', `${workload} is not defined on this node`)
    return { copiedBytes: 0, totalBytes: 0, stoppedAt: this.now() }
  }
}

function mustFit(theirs: ServedVolume | undefined, sizeBytes: number) {
  if (theirs?.sizeBytes !== sizeBytes)
    throw new Failure('disk_differs', `the target's disk has ${theirs?.sizeBytes ?? 0} bytes, not ${sizeBytes}`)
}
