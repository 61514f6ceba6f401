import type { Database } from 'bun:sqlite'
import type { TrafficCounters } from './traffic.ts'

/** Counters as rows of a table, which grow when `flow` is called. */
export class FakeCounters implements TrafficCounters {
  constructor(
    private db: Database,
    private bootId: string,
  ) {
    db.run(
      `create table if not exists traffic (tap text primary key, epoch text not null, sent integer not null,
        received integer not null) strict`,
    )
  }

  /** So many bytes go through the port. */
  flow(tap: string, { sentBytes, receivedBytes }: { sentBytes: number; receivedBytes: number }) {
    this.db.run(
      `insert into traffic values (?1, ?2, ?3, ?4) on conflict (tap) do update set
        sent = iif(epoch = ?2, sent, 0) + ?3, received = iif(epoch = ?2, received, 0) + ?4, epoch = ?2`,
      [tap, this.bootId, sentBytes, receivedBytes],
    )
  }

  async read() {
    const rows = this.db
      .query<{ tap: string; sent: number; received: number }, [string]>(
        'select tap, sent, received from traffic where epoch = ?',
      )
      .all(this.bootId)
    return {
      epoch: this.bootId,
      ports: new Map(rows.map(({ tap, sent, received }) => [tap, { sentBytes: sent, receivedBytes: received }])),
    }
  }

  async forget(tap: string) {
    this.db.run('delete from traffic where tap = ?', [tap])
  }
}
