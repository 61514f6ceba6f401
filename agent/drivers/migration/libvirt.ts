import type { Duplex } from 'node:stream'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { SshTarget } from '../../protocol/wire.ts'
import { uuidOf } from '../hypervisor/domain-xml.ts'
import type { Found, Migrating, Migration } from '../transfer/transfer.ts'
import { type ArrivalParts, Arrivals } from './arriving.ts'
import { Departures, type Leaving, type LeavingLimits } from './leaving.ts'
import type { MigrationSockets, Word } from './sockets.ts'

/** The connections of transfers to their targets, each of which joins a stream with the socket of its word there. */
export type Streams = {
  openStream(transfer: string, to: SshTarget, word: Word): Promise<Duplex>
  joinStream(transfer: string, to: SshTarget, word: Word, file: number, maxMbps: number | null): Promise<() => void>
  limitStreams(transfer: string, maxMbps: number | null): Promise<void>
  sentBytes(transfer: string): Promise<number>
}

/** Moves running vms between the libvirts of two nodes. */
export class LibvirtMigration implements Migration {
  private arrivals: Arrivals
  private departures: Departures

  constructor(
    private parts: ArrivalParts,
    private streams: Streams,
    limits?: LeavingLimits,
  ) {
    this.arrivals = new Arrivals(parts)
    this.departures = new Departures(limits)
  }

  begin = (migrating: Migrating) => this.departures.begin(this.leaving(migrating))
  migrate = (migrating: Migrating) => this.departures.migrate(this.leaving(migrating))

  private leaving = ({ transfer, workload, to, disks, maxMbps }: Migrating): Leaving => ({
    ...{ transfer, workload, maxMbps },
    disks: disks.map(({ disk }) => disk.path),
    openStream: (word) => this.streams.openStream(transfer, to, word),
    join: (word, file, limit) => this.streams.joinStream(transfer, to, word, file, limit),
    limit: (limit) => this.streams.limitStreams(transfer, limit),
    sentBytes: () => this.streams.sentBytes(transfer),
  })

  limit = (transfer: string, maxMbps: number | null) => this.departures.limit(transfer, maxMbps)

  resume = (workload: string) => this.arrivals.resume(workload)

  async find(workload: string): Promise<Found> {
    const power = await this.parts.hypervisor.power(workload)
    if (power === 'absent') return { power, reason: '' }
    const { code, out, err } = await run('virsh', ['-c', 'qemu:///system', 'domstate', '--reason', uuidOf(workload)], {
      ...{ mayFail: true, quietly: true, limitSeconds: 30 },
    })
    if (code !== 0) throw new Failure('hypervisor_silent', `libvirt does not answer: ${err.trim()}`)
    return { power, reason: out.trim() }
  }

  expect = (arrival: MigrationSockets) => this.arrivals.expect(arrival)

  async forget(transfer: string) {
    await this.departures.end(transfer)
    await this.arrivals.forget(transfer)
  }
}
