// Reads the other panel and stages what it has, in transactions of some hundred records. Nothing staged counts before
// the last list has ended. A reading that a crash cut off begins again: staged records are replaced by their ids.
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { changeImport, type ImportRecord, noteIn, stage, unstage } from '../import-records/queries.ts'
import type { SourceReader } from '../sources/source.ts'
import type { Reading } from './reading.ts'

const AT_ONCE = 200

/** The lists of the panel, by the names under which they are staged. */
export const lists = ['hypervisors', 'packages', 'ranges', 'addresses', 'owners', 'servers'] as const
export type List = (typeof lists)[number]

/** Stages every list. Throws `SourceFailure`, and `Superseded` where the import was cancelled or is read otherwise. */
export async function readPanel(reading: Reading, reader: SourceReader): Promise<void> {
  const { db } = reading
  await forget(reading)
  const account = await reader.account()
  reading.write((tx, row) => {
    changeImport(tx, row.id, {
      warnings: account.warnings,
      accountName: account.name,
      trouble: null,
      askedCertificate: null,
    })
    for (const warning of account.warnings) noteIn(tx, row.id, reading.app.clock(), 'warning', warning)
  })
  const hypervisors = await staging(reading, 'hypervisors', reader.hypervisors(), ({ id }) => id)
  await staging(reading, 'packages', reader.packages(), ({ id }) => id)
  const ranges = await staging(reading, 'ranges', reader.ranges(), ({ id }) => id)
  // Only where the range itself does not say which addresses are in it: each is a request of its own.
  for (const range of ranges)
    if (range.isSet || (range.network === null && (range.first === null || range.last === null)))
      await staging(
        reading,
        'addresses',
        reader.addresses(range),
        ({ address }) => address,
        (one) => ({ rangeId: range.id, address: one.address }),
      )
  await staging(reading, 'owners', reader.owners(), ({ id }) => id)
  await staging(reading, 'servers', reader.servers(hypervisors), ({ id }) => id)
  write(db, (tx) => {
    const row = reading.mustBeCurrent(tx)
    const warnings = [...account.warnings, ...reader.warnings]
    for (const warning of reader.warnings) noteIn(tx, row.id, reading.app.clock(), 'warning', warning)
    changeImport(tx, row.id, { phase: 'applying', progress: reading.progress, warnings })
  })
}

/** Stages a list, and answers its records where they are few: of owners, addresses and servers only their ids count. */
async function staging<R>(
  reading: Reading,
  list: List,
  records: AsyncIterable<R>,
  idOf: (record: R) => string,
  stored: (record: R) => unknown = (record) => record,
): Promise<R[]> {
  const all: R[] = []
  let waiting: R[] = []
  let read = reading.progress[list]?.read ?? 0
  const put = () => {
    if (!waiting.length) return
    const slice = waiting
    waiting = []
    read += slice.length
    reading.note({ list, read, total: reading.progress[list]?.total ?? null })
    reading.write((tx: Tx, row: ImportRecord) => {
      for (const record of slice) stage(tx, row.id, list, idOf(record), stored(record))
      changeImport(tx, row.id, { progress: reading.progress })
    })
  }
  for await (const record of records) {
    waiting.push(record)
    if (list === 'hypervisors' || list === 'ranges') all.push(record)
    if (waiting.length < AT_ONCE) continue
    put()
    await reading.slices.rest()
  }
  put()
  return all
}

/** Deletes what an earlier reading has staged. */
export async function forget(reading: { db: Db; slices: Reading['slices']; importId: string }) {
  while (write(reading.db, (tx) => unstage(tx, reading.importId, AT_ONCE))) await reading.slices.rest()
}
