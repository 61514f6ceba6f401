import type { Database } from 'bun:sqlite'
import {
  type BackupCheckResult,
  type BackupFinding,
  type BackupsForgotten,
  type BackupTarget,
  type BackupTest,
  type BackupTestResult,
  backupAddress,
} from '../../protocol/backup.ts'
import { FakeLayers } from '../storage/fake-layers.ts'
import type { Disk } from '../storage/storage.ts'
import { type Backups, backupFailure, type Saved, type Source, type ToSave } from './backup.ts'

/** The first part of a host's name, or the last of a folder, by which a fake target behaves badly. */
const behaviours: Readonly<Record<string, BackupFinding>> = {
  nowhere: 'unreachable',
  expired: 'certificate',
  full: 'full',
  unmounted: 'not_prepared',
  slow: 'slow',
}
/** The name of a target whose backups are made and cannot be read again. */
const DAMAGED = 'damaged'

type Row = { id: string; workload: string; content: string | null; diskBytes: number; consistent: number }
const FIRST_BYTES = 64 << 20
const UNCHANGED_BYTES = 4096

const SCHEMA = `
  create table if not exists backup_targets (
    place text primary key, login text not null, secret text not null, password text not null,
    tests integer not null) strict;
  create table if not exists backup_snapshots (
    id text primary key, place text not null, backup text not null, workload text not null, content text,
    diskBytes integer not null, consistent integer not null) strict`

/**
 * Targets and backups as rows of tables: each target remembers the login and the password with which it was first used,
 * and each backup the text that tests wrote as the content of the disk.
 */
export class FakeBackups implements Backups {
  #disks: FakeLayers

  constructor(private db: Database) {
    db.run(SCHEMA)
    this.#disks = new FakeLayers(db)
  }

  async test(target: BackupTest): Promise<BackupTestResult> {
    const isThere = (target.holds ?? []).every((held) =>
      this.#all({ ...target, ...held }).some(({ id }) => id === held.snapshot),
    )
    const found = this.#find(target)
    const finding = found === 'works' && !isThere ? 'backups_missing' : found
    const appendOnly = finding !== 'works' ? 'unknown' : target.kind === 'rest' ? 'yes' : 'no'
    return { finding, detail: '', appendOnly, seconds: 0.1 }
  }

  #find(target: BackupTarget): BackupFinding {
    const { kind, address, login, secret, repository, password } = target
    const at = backupAddress(kind, address)
    if (!at) return 'failed'
    const bad = behaviours[nameOf(target)]
    if (bad) return bad
    const place = placeOf({ kind, address, repository })
    const first = this.db
      .query<{ login: string; secret: string; password: string }, [string]>(
        'select login, secret, password from backup_targets where place = ?',
      )
      .get(place)
    if (first && (first.login !== login || first.secret !== secret)) return 'login_refused'
    if (first && first.password !== password) return 'wrong_password'
    this.db.run(
      'insert into backup_targets values (?, ?, ?, ?, 1) on conflict (place) do update set tests = tests + 1',
      [place, login, secret, password],
    )
    return 'works'
  }

  /** Does what an administrator does who copies a target to another place. */
  copy(from: string, to: string) {
    this.db.run('update backup_snapshots set place = replace(place, ?, ?)', [` ${from} `, ` ${to} `])
  }

  async find(target: BackupTarget, backup: string): Promise<Saved | undefined> {
    this.#mustWork(target)
    const [row] = this.#all(target).filter((one) => one.backup === backup)
    return row && { snapshot: row.id, diskBytes: row.diskBytes, consistent: row.consistent === 1 }
  }

  async save(target: BackupTarget, what: ToSave, source: Source, signal: AbortSignal): Promise<Saved> {
    this.#mustWork(target)
    if (signal.aborted) throw backupFailure('interrupted', 'it was stopped')
    const content = this.#disks.read('disk' in source ? source.disk.path : source.served.socket) ?? null
    const before = this.#all(target).findLast(({ workload }) => workload === what.workload)
    const snapshot = new Bun.CryptoHasher('sha256').update(`${placeOf(target)}\n${what.backup}`).digest('hex')
    this.db.run('insert or replace into backup_snapshots values (?, ?, ?, ?, ?, ?, ?)', [
      ...[snapshot, placeOf(target), what.backup, what.workload],
      ...[content, what.sizeBytes, what.consistent ? 1 : 0],
    ])
    const isUnchanged = before?.content === content && before.diskBytes === what.sizeBytes
    const addedBytes = Math.min(what.sizeBytes, isUnchanged ? UNCHANGED_BYTES : FIRST_BYTES)
    return { snapshot, diskBytes: what.sizeBytes, addedBytes, consistent: what.consistent }
  }

  diskBytes = async (target: BackupTarget, snapshot: string) => this.#one(target, snapshot).diskBytes

  dataBytes = async (target: BackupTarget, snapshot: string) =>
    Math.min(this.#one(target, snapshot).diskBytes, FIRST_BYTES)

  /** The text that tests wrote as the content of the disk; null: none. */
  contentOf = (target: BackupTarget, snapshot: string) => this.#one(target, snapshot).content

  async load(target: BackupTarget, snapshot: string, { path }: Disk) {
    const { content } = this.#one(target, snapshot)
    if (nameOf(target) === DAMAGED) throw backupFailure('damaged', `a part of ${snapshot} cannot be read`)
    if (content !== null) this.#disks.write(path, content)
  }

  async forget(
    target: BackupTarget,
    snapshots: readonly string[],
    backups: readonly string[],
  ): Promise<BackupsForgotten> {
    this.#mustWork(target, 'full')
    const there = this.#all(target)
      .filter(({ id, backup }) => snapshots.includes(id) || backups.includes(backup))
      .map(({ id }) => id)
    const kept = target.kind === 'rest' ? there : []
    for (const id of there) if (!kept.includes(id)) this.db.run('delete from backup_snapshots where id = ?', [id])
    return { gone: [...new Set([...snapshots, ...there])].filter((id) => !kept.includes(id)), kept }
  }

  async prune(target: BackupTarget) {
    this.#mustWork(target, 'full')
    if (target.kind === 'rest') throw backupFailure('append_only', 'the target lets nobody remove anything')
    return 0
  }

  async check(target: BackupTarget): Promise<BackupCheckResult> {
    const finding = nameOf(target) === DAMAGED ? 'damaged' : this.#find(target)
    return { finding, detail: '' }
  }

  /** A full target still reads, and what is in it can be removed. */
  #mustWork(target: BackupTarget, but?: BackupFinding) {
    const finding = this.#find(target)
    if (finding !== 'works' && finding !== but) throw backupFailure(finding, `the fake target is ${finding}`)
  }

  #all = (target: Pick<BackupTarget, 'kind' | 'address' | 'repository'>) =>
    this.db
      .query<Row & { backup: string }, [string]>('select * from backup_snapshots where place = ? order by rowid')
      .all(placeOf(target))

  #one(target: BackupTarget, snapshot: string): Row {
    this.#mustWork(target, 'full')
    const row = this.#all(target).find(({ id }) => id === snapshot)
    if (!row) throw backupFailure('no_snapshot', `there is no snapshot ${snapshot}`)
    return row
  }
}

const placeOf = ({ kind, address, repository }: Pick<BackupTarget, 'kind' | 'address' | 'repository'>) =>
  `${kind} ${address} ${repository}`

/** The first part of the host's name, or the last of the folder. */
function nameOf({ kind, address }: BackupTarget): string {
  const at = backupAddress(kind, address)
  return at ? (at.host || at.path.split('/').at(-1)!).split('.')[0]! : ''
}
