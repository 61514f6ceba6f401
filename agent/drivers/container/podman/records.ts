// The agent's own knowledge of its containers and images, whatever their engine says: the process that it started,
// whether a command stopped it, and why it ended.
import { join } from 'node:path'
import { openDatabase } from '../../../database.ts'
import type { Container, ContainerEnd } from '../../../protocol/gpu.ts'
import type { Given } from '../container.ts'

export type ImageRecord = { id: string; reference: string; image: string; sizeBytes: number; usedAt: number }
/** A process of the host: an id is used again, and never twice with the same start. */
export type Process = { pid: number; startTicks: number; bootId: string }
export type ContainerRecord = {
  workload: string
  container: Container
  given: Given
  identity: string
  /** The engine's image. */
  image: string
  /** Its first process since the last start; null: it never ran, or its end is known. */
  process: Process | null
  startedAt: number
  /** The count of kills for want of memory when it started. */
  oomKillsBefore: number
  /** Bytes outside its workspace, because of which it was ended; 0: it was not. */
  filledBytes: number
  /** A command stops it, or has. */
  stopping: boolean
  end: ContainerEnd | null
  /** The host was restarted while it ran. */
  rebooted: boolean
}

type Row = Record<'workload' | 'container' | 'given' | 'identity' | 'image', string> &
  Record<'process' | 'ended', string | null> &
  Record<'startedAt' | 'oomKillsBefore' | 'filledBytes' | 'stopping' | 'rebooted', number>

const SCHEMA = `
  create table if not exists images (
    id text primary key, reference text not null, image text not null, sizeBytes integer not null,
    usedAt integer not null) strict;
  create table if not exists containers (
    workload text primary key, container text not null, given text not null, identity text not null,
    image text not null, process text, startedAt integer not null default 0,
    oomKillsBefore integer not null default 0, filledBytes integer not null default 0,
    stopping integer not null default 1,
    ended text, rebooted integer not null default 0) strict`

export type Records = ReturnType<typeof openRecords>

export function openRecords(dir: string) {
  const db = openDatabase(join(dir, 'containers.db'), SCHEMA)
  const parse = ({ container, given, process, ended, stopping, rebooted, ...rest }: Row): ContainerRecord => ({
    ...rest,
    container: JSON.parse(container) as Container,
    given: JSON.parse(given) as Given,
    process: process === null ? null : (JSON.parse(process) as Process),
    end: ended === null ? null : (JSON.parse(ended) as ContainerEnd),
    stopping: stopping === 1,
    rebooted: rebooted === 1,
  })
  return {
    image: (id: string) => db.query<ImageRecord, [string]>('select * from images where id = ?').get(id) ?? undefined,
    images: () => db.query<ImageRecord, []>('select * from images order by id').all(),
    keepImage: ({ id, reference, image, sizeBytes, usedAt }: ImageRecord) =>
      void db.run('insert or replace into images values (?, ?, ?, ?, ?)', [id, reference, image, sizeBytes, usedAt]),
    forgetImage: (id: string) => void db.run('delete from images where id = ?', [id]),

    container(workload: string): ContainerRecord | undefined {
      const row = db.query<Row, [string]>('select * from containers where workload = ?').get(workload)
      return row ? parse(row) : undefined
    },
    containers: () => db.query<Row, []>('select * from containers order by workload').all().map(parse),
    hasContainers: () => db.query('select 1 from containers limit 1').get() !== null,
    keepContainer: (record: Pick<ContainerRecord, 'workload' | 'container' | 'given' | 'identity' | 'image'>) =>
      void db.run(
        `insert or replace into containers (workload, container, given, identity, image) values (?, ?, ?, ?, ?)`,
        [
          record.workload,
          JSON.stringify(record.container),
          JSON.stringify(record.given),
          record.identity,
          record.image,
        ],
      ),
    forgetContainer: (workload: string) => void db.run('delete from containers where workload = ?', [workload]),
    noteStarted: (
      workload: string,
      started: { process: Process } & Pick<ContainerRecord, 'startedAt' | 'oomKillsBefore'>,
    ) =>
      void db.run(
        `update containers set process = ?, startedAt = ?, oomKillsBefore = ?, stopping = 0, ended = null, rebooted = 0,
           filledBytes = 0 where workload = ?`,
        [JSON.stringify(started.process), started.startedAt, started.oomKillsBefore, workload],
      ),
    noteFilled: (workload: string, bytes: number) =>
      void db.run('update containers set filledBytes = ? where workload = ?', [bytes, workload]),
    noteStopping: (workload: string) =>
      void db.run('update containers set stopping = 1 where workload = ?', [workload]),
    /** Its process is gone: by a command where `end` is null. */
    noteEnded: (workload: string, end: ContainerEnd | null, rebooted: boolean) =>
      void db.run('update containers set process = null, ended = ?, rebooted = ? where workload = ?', [
        end ? JSON.stringify(end) : null,
        Number(rebooted),
        workload,
      ]),
    close: () => db.close(),
  }
}
