// A whole copy of the open database in a store, made while changes go on: a base without segments. It is restored as a
// replica is. The pages are read in parts from the database's file, under a read transaction of a connection of its
// own: nothing but pages that were committed before is copied into that file meanwhile, and those are read from the log
// first.
import { Database } from 'bun:sqlite'
import { fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import type { Secrets } from '../crypto/secrets.ts'
import type { Db } from '../db/open.ts'
import type { ObjectStore } from '../stores/store.ts'
import { type Base, baseName, basePoints, encode, partName, streamName } from './objects.ts'
import { WalReader } from './wal.ts'

/** Copies that are made one by one are points of one stream. */
const STREAM = streamName(0, 0)
const PART_BYTES = 4 << 20
const readAsync = promisify(read)

/** Answers how many bytes were stored. Throws `StoreError`. */
export async function storeWholeCopy(db: Db, store: ObjectStore, secrets: Secrets, now: number): Promise<number> {
  const reader = new Database(db.$client.filename, { readonly: true })
  try {
    reader.run('BEGIN')
    // The read transaction begins with the first read.
    const { page_size: pageSize } = reader.query<{ page_size: number }, []>('PRAGMA page_size').get()!
    const { page_count: pages } = reader.query<{ page_count: number }, []>('PRAGMA page_count').get()!
    reader.query('SELECT count(*) FROM sqlite_schema').get()
    const log = new WalReader(`${db.$client.filename}-wal`)
    const changed = log.read()?.pages ?? new Map<number, Buffer>()
    log.close()
    return await storeParts(db.$client.mainFile(), { pages, pageSize, changed }, { store, secrets, now })
  } finally {
    reader.run('ROLLBACK')
    reader.close()
  }
}

type Pages = { pages: number; pageSize: number; changed: ReadonlyMap<number, Buffer> }
type Into = { store: ObjectStore; secrets: Secrets; now: number }

async function storeParts(file: number, { pages, pageSize, changed }: Pages, { store, secrets, now }: Into) {
  const number = Math.floor(now / 1000)
  const size = pages * pageSize
  let stored = 0
  let parts = 0
  for (let at = 0; at < size; at += PART_BYTES) {
    const part = Buffer.alloc(Math.min(PART_BYTES, size - at))
    // A page that is only in the log so far may lie behind the end of the file.
    const inFile = Math.max(0, Math.min(part.length, fstatSync(file).size - at))
    for (let length = 0; length < inFile; ) {
      const { bytesRead } = (await readAsync(file, part, length, inFile - length, at + length)) as {
        bytesRead: number
      }
      if (!bytesRead) break
      length += bytesRead
    }
    const first = at / pageSize + 1
    for (let page = first; page < first + part.length / pageSize; page++)
      changed.get(page)?.copy(part, (page - first) * pageSize)
    const name = partName(STREAM, number, parts++)
    const bytes = await encode(secrets, name, {}, [part])
    await store.put(name, bytes)
    stored += bytes.length
  }
  const point = { stream: STREAM, number, at: now }
  const base: Base = { ...point, parts, bytes: size, pageSize }
  await store.put(baseName(point), await encode(secrets, baseName(point), base))
  return stored
}

/** Removes copies that are older, but the last; and parts of some that were never finished. */
export async function removeWholeCopies(store: ObjectStore, keptFrom: number) {
  const points = await basePoints(store, STREAM)
  const old = points.slice(0, -1).filter(({ at }) => at < keptFrom)
  for (const point of old) await store.remove(baseName(point))
  const kept = new Set(points.filter((point) => !old.includes(point)).map(({ number }) => number))
  const last = points.at(-1)?.number ?? 0
  for (const name of await store.list(`parts/${STREAM}`)) {
    const number = Number(name.split('/')[2])
    if (!kept.has(number) && number < last) await store.remove(name)
  }
}
