import type { Database } from 'bun:sqlite'
import type { Volume } from '../../protocol/wire.ts'
import { FakeLayers } from '../storage/fake-layers.ts'
import type { ServedVolume } from '../transfer/transfer.ts'
import type { FirmwareStates } from './firmware-state.ts'

/** The stored state of the firmware of fake vms: a text for each, which tests write and read. */
export class FakeFirmwareStates implements FirmwareStates {
  private contents: FakeLayers

  constructor(private db: Database) {
    db.run('create table if not exists firmware (workload text primary key, stored text not null) strict')
    this.contents = new FakeLayers(db)
  }

  /** For tests: what is stored. */
  read = (workload: string) =>
    this.db.query<{ stored: string }, [string]>('select stored from firmware where workload = ?').get(workload)?.stored
  /** For tests: the firmware of the vm stores this. */
  store = (workload: string, stored: string) =>
    void this.db.run('insert or replace into firmware values (?, ?)', [workload, stored])

  async save(transfer: string, { workload }: Volume) {
    this.contents.write(pathOf(transfer), this.read(workload) ?? '')
    return served(transfer)
  }

  expect = async (transfer: string) => served(transfer)

  async place(transfer: string, { workload }: Volume) {
    const stored = this.contents.read(pathOf(transfer))
    if (stored) this.store(workload, stored)
  }

  async forget(transfer: string) {
    this.contents.remove(pathOf(transfer))
  }
}

const pathOf = (transfer: string) => `/fake/firmware/${transfer}`
const served = (transfer: string): ServedVolume => ({
  disk: { kind: 'file', format: 'raw', path: pathOf(transfer) },
  sizeBytes: 4 << 20,
})
