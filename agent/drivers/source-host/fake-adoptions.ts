// Adoptions of servers that do not exist. Their disks are rows beside the fake pool until they are in it.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Volume } from '../../protocol/wire.ts'
import { FakePool } from '../storage/fake.ts'
import type { FakeSourceServers } from './fake-servers.ts'
import { grown } from './own-adoptions.ts'
import type { Adopted, Adopting, Adoptions, GivingBack } from './source-servers.ts'

const SCHEMA = `create table if not exists adoptions (
  volume text primary key, domain text not null, path text not null, isPersistent integer not null) strict`
type Note = { volume: string; domain: string; path: string; isPersistent: number }

const nameOf = ({ workload, generation }: Volume) => `${workload}-${generation}`

export class FakeAdoptions implements Adoptions {
  constructor(
    private db: Database,
    private servers: FakeSourceServers,
  ) {
    db.run(SCHEMA)
  }

  async adopt({ domain, drive, volume, sizeBytes, pool }: Adopting): Promise<Adopted> {
    const { path, format } = drive
    const noted = this.#noteOf(volume)
    const isTaken = (await pool.sizeBytes(volume)) !== undefined
    if (isTaken ? !noted : noted && (noted.domain !== domain || noted.path !== path))
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} is there already, and is left as it is`)
    if (format !== volume.format)
      throw new Failure('image_refused', `the disk ${path} is ${format}, and pool ${volume.pool} has ${volume.format}`)
    const of = { host: null, domain }
    const { server, moving } = await this.servers.find(of)
    if (!isTaken) {
      if (this.servers.keptAt('own', domain) === undefined)
        throw new Failure('source_definition_not_kept', `no definition of ${domain} is kept at this host`)
      if (server.state !== 'off' && server.state !== 'absent')
        throw new Failure('source_started', `${domain} is ${server.state} on this host, and was to be off`)
      if (pool instanceof FakePool && !moving.diskIsGone) {
        const placed = { path, format, sizeBytes: drive.virtualBytes, content: moving.content ?? path }
        pool.placeDisk({ ...placed, isInReach: !moving.diskIsElsewhere })
      }
    }
    const isPersistent = server.state === 'absent' ? 0 : 1
    this.db.run('insert or ignore into adoptions values (?, ?, ?, ?)', [nameOf(volume), domain, path, isPersistent])
    try {
      await pool.takeIn(volume, path)
    } catch (error) {
      if ((await pool.sizeBytes(volume)) === undefined) this.#drop(volume)
      throw error
    }
    if (moving.startsBeforeUndefining && this.servers.strikes(of, 'start-by-panel', 1)) {
      await pool.giveBack(volume, path)
      this.#drop(volume)
      this.servers.setPower('own', domain, 'running')
      throw new Failure('source_started', `${domain} is running on this host; its disk is where it was`)
    }
    if (moving.staysDefined) throw new Failure('source_not_undefined', `libvirt keeps ${domain}`)
    if (server.state !== 'absent') this.servers.undefine(domain)
    return { format: volume.format, sizeBytes: await grown({ volume, sizeBytes, pool }) }
  }

  async giveBack({ domain, drive, volume, pool }: GivingBack) {
    const note = this.#noteOf(volume)
    if (!note) {
      if ((await pool.sizeBytes(volume)) === undefined) return
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} was not adopted, and is left as it is`)
    }
    if (note.domain !== domain || note.path !== drive.path)
      throw new Failure('volume_differs', `the volume was ${note.path} of ${note.domain} before it was adopted`)
    await pool.giveBack(volume, note.path)
    if (note.isPersistent) {
      const { moving } = await this.servers.find({ host: null, domain })
      if (moving.isNotDefined) throw new Failure('source_not_defined', `libvirt does not define ${domain}`)
      this.servers.define(domain)
    }
    this.#drop(volume)
  }

  async forget(domain: string) {
    this.db.run('delete from adoptions where domain = ?', [domain])
  }

  #noteOf = (volume: Volume) =>
    this.db.query<Note, [string]>('select * from adoptions where volume = ?').get(nameOf(volume)) ?? undefined
  #drop = (volume: Volume) => this.db.run('delete from adoptions where volume = ?', [nameOf(volume)])
}
