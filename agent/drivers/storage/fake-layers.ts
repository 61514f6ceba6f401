// Layers of disks as rows, for the fake pool and for the fake hypervisor, which changes them under a running vm. Tests
// write a text as the content of a disk and read it again through the layers.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Volume } from '../../protocol/wire.ts'

type Layer = { path: string; base: string; sizeBytes: number }

const SCHEMA = `
  create table if not exists layers (path text primary key, base text not null, sizeBytes integer not null) strict;
  create table if not exists disk_contents (path text primary key, content text not null) strict`

/** The layers above the first of every disk, and the contents of all. */
export class FakeLayers {
  constructor(private db: Database) {
    db.run(SCHEMA)
  }

  find = (path: string) => this.db.query<Layer, [string]>('select * from layers where path = ?').get(path) ?? undefined
  all = () => this.db.query<Layer, []>('select * from layers order by path').all()
  remove = (path: string) => {
    for (const table of ['layers', 'disk_contents']) this.db.run(`delete from ${table} where path = ?`, [path])
  }

  add(path: string, base: string, sizeBytes: number) {
    this.db.run('insert or ignore into layers values (?, ?, ?)', [path, base, sizeBytes])
  }

  grow(path: string, sizeBytes: number) {
    this.db.run('update layers set sizeBytes = max(sizeBytes, ?) where path = ?', [sizeBytes, path])
  }

  /** The paths from a layer down to the first one. */
  chain(path: string): string[] {
    const base = this.find(path)?.base
    return base === undefined ? [path] : [path, ...this.chain(base)]
  }

  standingOn = (path: string) => this.all().filter(({ base }) => base === path)

  /** The content of `upper` becomes that of `lower`. */
  commit(upper: string, lower: string) {
    if (this.find(upper)?.base !== lower) throw new Failure('tool_failed', `${upper} does not stand on ${lower}`)
    const content = this.own(upper)
    if (content !== undefined) this.write(lower, content)
    const { sizeBytes } = this.find(upper)!
    this.grow(lower, sizeBytes)
    this.db.run('update volumes set sizeBytes = max(sizeBytes, ?) where path = ?', [sizeBytes, lower])
  }

  rebase(upper: string, lower: string, open: readonly string[] = []) {
    for (const { path } of this.standingOn(upper))
      if (!open.includes(path)) this.db.run('update layers set base = ? where path = ?', [lower, path])
  }

  /** The disk has another path from now on. */
  rename(from: string, to: string) {
    this.db.run('update or replace disk_contents set path = ? where path = ?', [to, from])
  }

  /** For tests: writes the disk. */
  write(path: string, content: string) {
    this.db.run('insert or replace into disk_contents values (?, ?)', [path, content])
  }
  /** For tests: the content of the disk, from the highest layer that was written. */
  read = (path: string): string | undefined =>
    this.chain(path)
      .map(this.own)
      .find((content) => content !== undefined)

  private own = (path: string) =>
    this.db.query<{ content: string }, [string]>('select content from disk_contents where path = ?').get(path)?.content
}

/** The name of a disk, or of one of its layers, without its directory. */
export const fakeName = ({ workload, generation, format, layer }: Volume) =>
  `${workload}-${generation}.${layer === undefined ? format : `${layer}.qcow2`}`
