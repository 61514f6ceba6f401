// The readings at work. What stands in the database decides: an import that is `discovering` and not at work here is
// begun, also after a crash; one that is at work and not `discovering` any more is broken off.
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import { Slices } from '../../kernel/slices.ts'
import { eraseInventory } from '../import-records/choices/queries.ts'
import {
  changeImport,
  deleteImport,
  encryptedCredentials,
  type ImportRecord,
  importsBeingRead,
  importsToCompare,
  noteIn,
  toErase,
  withLeftovers,
} from '../import-records/queries.ts'
import { compare } from '../mapping/compare.ts'
import { isSourceFailure } from '../sources/failure.ts'
import type { Source, SourceCredentials, SourceReader } from '../sources/source.ts'
import { applyStaged } from './apply.ts'
import { forget, readPanel } from './read.ts'
import { Reading, Superseded } from './reading.ts'

/** Each holds one list of a panel in memory. */
const AT_ONCE = 2

declare module '../../kernel/register.ts' {
  interface Services {
    importReadings: Discoveries
  }
}

/** A reader for the panel of an import. Throws `SourceFailure`. */
export function readerFor(
  app: Pick<AppContext, 'importPanels' | 'secrets' | 'config'>,
  row: ImportRecord,
  options: Parameters<Source['connect']>[3] = {},
): SourceReader {
  const panel = app.importPanels.get(row.kind)!
  const credentials: SourceCredentials = JSON.parse(
    app.secrets.open(encryptedCredentials.about(row), row.encryptedCredentials!),
  )
  return panel.connect(
    row.address,
    credentials,
    { certificateSha256: row.trustedSha256 },
    {
      localNetworks: app.config.localServices,
      ...options,
    },
  )
}

export class Discoveries {
  private atWork = new Map<string, { number: number; stop: AbortController; ended: Promise<void> }>()
  private comparing: Promise<unknown> | undefined
  private cleaning: Promise<unknown> | undefined

  /** Begins what is to be read, and breaks off what is not wanted any more. */
  turn(db: Db, app: AppContext) {
    const wanted = importsBeingRead(db)
    for (const [id, { number, stop }] of this.atWork)
      if (!wanted.some((row) => row.id === id && row.reading === number)) stop.abort()
    for (const row of wanted) {
      if (this.atWork.size >= AT_ONCE) break
      if (this.atWork.has(row.id)) continue
      const stop = new AbortController()
      const reading = new Reading(db, app, row.id, row.reading, stop.signal)
      const ended = this.read(reading, app, row).finally(() => this.atWork.delete(row.id))
      this.atWork.set(row.id, { number: row.reading, stop, ended })
    }
    this.comparing ??= this.compareNext(db, app).finally(() => (this.comparing = undefined))
    this.cleaning ??= this.clean(db).finally(() => (this.cleaning = undefined))
  }

  /** Resolves when nothing is at work: for tests and an orderly stop. */
  async settled() {
    await Promise.all([...[...this.atWork.values()].map(({ ended }) => ended), this.comparing, this.cleaning])
  }
  /** Breaks off every reading; the next start begins them again. */
  async stop() {
    for (const { stop } of this.atWork.values()) stop.abort()
    await this.settled()
  }

  private async read(reading: Reading, app: AppContext, row: ImportRecord) {
    try {
      if (row.phase !== 'applying') {
        const reader = readerFor(app, row, {
          onProgress: (progress) => reading.told(progress),
          signal: reading.signal,
          onSend: () => reading.sends(),
          onAnswer: (answer) => reading.answered(answer),
        })
        await readPanel(reading, reader)
      }
      await applyStaged(reading)
    } catch (error) {
      if (error instanceof Superseded || reading.signal.aborted) return
      try {
        await this.fail(reading, app, error)
      } catch (again) {
        // The reading is still wanted in the database: the next turn begins it anew.
        log.error('a reading of another panel could not be ended', { error: again })
      }
    }
  }

  private async fail(reading: Reading, app: AppContext, error: unknown) {
    const found = isSourceFailure(error) ? error : undefined
    if (!found) log.error('the reading of another panel failed', { error })
    const message = found?.message ?? 'The reading ended with an error of Berth itself. The journal says more.'
    reading.write((tx, row) => {
      const at = app.clock()
      changeImport(tx, row.id, {
        status: row.read > 0 ? 'mapping' : 'draft',
        phase: null,
        progress: {},
        trouble: { code: found?.code ?? 'internal', message, at },
        askedCertificate: found?.certificate ?? null,
      })
      noteIn(tx, row.id, at, 'error', message)
    })
    await forget(reading)
  }

  /** Compares imports with what is here since their last change. */
  private async compareNext(db: Db, app: AppContext) {
    for (const id of importsToCompare(db))
      await compare(db, app, id).catch((error) => log.error('comparing an import failed', { error }))
  }

  /** Deletes what readings have staged that ended, and imports that were cancelled. */
  private async clean(db: Db) {
    const slices = new Slices()
    for (let id = withLeftovers(db); id !== undefined; id = withLeftovers(db))
      await forget({ db, slices, importId: id })
    for (let id = toErase(db); id !== undefined; id = toErase(db)) {
      const importId = id
      while (write(db, (tx) => eraseInventory(tx, importId, 200))) await slices.rest()
      write(db, (tx) => deleteImport(tx, importId))
    }
  }
}
