import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { Card, CardCheck, CardSample } from '../../protocol/gpu.ts'
import { sleep } from '../../sleep.ts'
import type { Gpus } from './gpus.ts'
import { problemsCleared, problemsOf, problemsProved } from './health.ts'
import type { SmiCard } from './smi-xml.ts'
import { wordsOf, type Xid } from './xid.ts'

/** A card of `fake.json`; what it leaves out is usual. */
export type FakeCard = Pick<Card, 'uuid' | 'model' | 'memoryMb'> & Partial<Card>

/** How a card misbehaves, in `cards.json` by its UUID. The file is read at every look. */
export type CardFault = {
  /** It vanished from the bus. */
  gone?: boolean
  /** It reported this error now. */
  xid?: number
  /** Its temperature in °C. */
  hot?: number
  uncorrected?: number
  pendingRemap?: boolean
  mig?: boolean
  /** Its memory keeps what is written to it. */
  stuck?: boolean
  /** Its memory is much slower than it should be. */
  slow?: boolean
  /** A program does not leave it. */
  busy?: boolean
  /** Its check takes so many ms. */
  checkMs?: number
}

const SCHEMA = 'create table if not exists card_memory (uuid text primary key, content text not null) strict'
/** A container that starts leaves its data on its cards, until they are cleared. */
const MARKS_MEMORY = `
  create trigger if not exists containers_mark_memory after update of power on containers when new.power = 'running'
  begin
    insert or replace into card_memory
    select value, 'data of ' || new.workload from json_each(new.definition, '$.cards');
  end`
const DRIVER = '570.133.20'
const FIRST_BUS = 0x1b
const PEAK_GBPS = 3350

/** Cards as settings. Their memory is a table, so that a test sees what the next customer would find in it. */
export class FakeGpus implements Gpus {
  onChange: () => void = () => {}
  #xids: (Xid & { uuid: string })[] = []

  constructor(
    private db: Database,
    private dataDir: string,
    private settings: readonly FakeCard[],
    private now: () => number,
  ) {
    db.run(SCHEMA)
  }

  /** A program leaves `content` in the card's memory. */
  write(uuid: string, content: string) {
    this.db.run('insert or replace into card_memory values (?, ?)', [uuid, content])
  }
  /** The content that the next program finds in the card's memory. */
  memory = (uuid: string): string =>
    this.db.query<{ content: string }, [string]>('select content from card_memory where uuid = ?').get(uuid)?.content ??
    ''

  async cards(): Promise<Card[]> {
    return this.#reports().map(({ report, card }) => ({
      ...card,
      mig: report.mig,
      problems: problemsOf(report, this.#xidsOf(card.uuid)),
    }))
  }

  async samples(): Promise<CardSample[]> {
    return this.#reports().map(({ report, card, fault }) => {
      const isUsed = this.#userOf(card.uuid) !== undefined
      return {
        uuid: card.uuid,
        usePercent: isUsed ? 87 : 0,
        memoryUsedMb: isUsed ? Math.round(card.memoryMb * 0.6) : 0,
        temperatureC: fault.hot ?? (isUsed ? 64 : 31),
        powerW: isUsed ? 410 : 70,
        correctedErrors: 0,
        uncorrectedErrors: report.uncorrectedErrors,
      }
    })
  }

  check = (uuids: readonly string[]) => Promise.all(uuids.map((uuid) => this.#check(uuid)))

  async #check(uuid: string): Promise<CardCheck> {
    const failed = (...problems: string[]): CardCheck => ({ uuid, sellable: false, problems, clearedMb: 0 })
    const found = this.#reports().find(({ card }) => card.uuid === uuid)
    if (!found) return failed('This host does not have the card')
    const { card, fault, report } = found
    if (fault.checkMs) await Bun.sleep(fault.checkMs)
    const user = fault.busy ? 'a program' : this.#userOf(uuid)
    const problems = problemsOf(report, this.#xidsOf(uuid))
    if (user || problems.length) return failed(...(user ? [`Programs run on it: ${user}`] : []), ...problems)
    if (!fault.stuck) this.db.run('delete from card_memory where uuid = ?', [uuid])
    const totalBytes = card.memoryMb * 2 ** 20
    const memoryGBps = fault.slow ? PEAK_GBPS * 0.3 : PEAK_GBPS * 0.9
    const unclearBytes = fault.stuck ? 7 << 16 : 0
    const shown = [
      ...problemsCleared({
        totalBytes,
        clearedBytes: totalBytes,
        leftBytes: 0,
        samples: 100,
        badSamples: 0,
        memoryGBps,
        peakGBps: PEAK_GBPS,
      }),
      ...problemsProved({ totalBytes, readBytes: totalBytes, unclearBytes }),
    ]
    return { uuid, sellable: !shown.length, problems: shown, clearedMb: card.memoryMb, memoryGBps }
  }

  troublesSince = (uuids: readonly string[], at: number): string[] => {
    this.#reports()
    const found = this.#xids.filter((xid) => uuids.includes(xid.uuid) && xid.at >= at)
    return [...new Set(found.map(wordsOf))]
  }

  findings = async () => []
  async stay(signal: AbortSignal) {
    let before = JSON.stringify(await this.cards())
    while (this.settings.length) {
      await sleep(LOOK_MS, signal)
      if (signal.aborted) return
      const now = JSON.stringify(await this.cards())
      if (now !== before) this.onChange()
      before = now
    }
  }
  close() {}

  /** The fake engine keeps its containers in the same database, from its own start on. */
  #seesContainers(): boolean {
    if (!this.db.query(`select 1 from sqlite_master where name = 'containers'`).get()) return false
    this.db.run(MARKS_MEMORY)
    return true
  }

  /** The container that runs with the card. */
  #userOf(uuid: string): string | undefined {
    if (!this.#seesContainers()) return undefined
    return this.db
      .query<{ workload: string }, [string]>(
        `select workload from containers where power = 'running'
         and exists (select 1 from json_each(definition, '$.cards') where value = ?)`,
      )
      .get(uuid)?.workload
  }
  #xidsOf = (uuid: string) => this.#xids.filter((xid) => xid.uuid === uuid)

  /** The cards that are there, as a driver would report them. */
  #reports(): { card: Card; fault: CardFault; report: SmiCard }[] {
    this.#seesContainers()
    const faults = faultsIn(this.dataDir)
    return this.settings.map(usual).flatMap((card) => {
      const fault = faults[card.uuid] ?? {}
      this.#note(card, fault)
      return fault.gone ? [] : [{ card, fault, report: reportOf(card, fault) }]
    })
  }

  /** An error is noted once, and forgotten when the file does not name it any more, as after a reboot. */
  #note({ uuid, bus }: Card, { xid: code }: CardFault) {
    this.#xids = this.#xids.filter((xid) => xid.uuid !== uuid || xid.code === code)
    if (code !== undefined && !this.#xidsOf(uuid).length)
      this.#xids.push({ uuid, bus: bus.replace(/\.\d$/, ''), code, at: this.now(), text: '' })
  }
}

/** How often changes of the file are looked for. */
const LOOK_MS = 250

const usual = (card: FakeCard, i: number): Card => ({
  bus: `0000:${(FIRST_BUS + i * 0x10).toString(16).padStart(2, '0')}:00.0`,
  driver: DRIVER,
  serial: `165${String(i).padStart(10, '0')}`,
  nvlinks: 0,
  mig: 'off',
  problems: [],
  ...card,
})

const reportOf = (card: Card, fault: CardFault): SmiCard => ({
  ...card,
  mig: fault.mig ? 'on' : card.mig,
  memoryUsedMb: 0,
  persistent: true,
  computeProhibited: false,
  usePercent: 0,
  temperatureC: 31,
  powerW: 70,
  correctedErrors: 0,
  uncorrectedErrors: fault.uncorrected ?? 0,
  remapPending: fault.pendingRemap ?? false,
  remapFailed: false,
  flags: [],
  recoveryAction: null,
  link: { width: 16, mostWidth: 16 },
  processes: [],
})

function faultsIn(dataDir: string): Record<string, CardFault> {
  const file = join(dataDir, 'cards.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, CardFault>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Failure('tool_failed', `${file} cannot be read`, { cause: error })
  }
}
