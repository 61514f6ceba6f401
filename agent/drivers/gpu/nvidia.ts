// NVIDIA's cards. The driver's report (nvidia-smi) says what a card is and how it is, the kernel's log what went wrong,
// NVIDIA's libraries how much it does and that its memory is clear. A card that is broken can hold each of them up, so
// every question has a time limit.
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { find, lines, run } from '../../host/exec.ts'
import { log } from '../../log.ts'
import type { Card, CardCheck, CardSample } from '../../protocol/gpu.ts'
import { sleep } from '../../sleep.ts'
import { CardErrors } from './card-errors.ts'
import { CARD_TOOL } from './card-tool.ts'
import { type CdiSpec, ownSpec, writeCdi } from './cdi.ts'
import type { Gpus } from './gpus.ts'
import { type Cleared, type Proved, problemsCleared, problemsOf, problemsProved } from './health.ts'
import { hostFindings, nvidiaHost } from './nvidia-host.ts'
import { busOf, cardsIn, nvlinksIn, type SmiCard, sampleIn } from './smi-xml.ts'

const REPORT_SECONDS = 30
/** An 80 GB card takes a few seconds; one with slow memory and a slow slot some more. */
const CLEAR_SECONDS = 90
/** All its memory comes through its slot: 141 GB at 6 GB/s, a quarter of what a slot of today gives, take 24 s. */
const PROVE_SECONDS = 180
/** A process that hangs in the kernel outlives its time limit. */
const GRACE_SECONDS = 5
const WATCH_MS = 5000
const SAMPLE_MS = 10_000
const FRESH_MS = 30_000
/** Between two tries to read samples where there is no such library. */
const LONGEST_PAUSE_MS = 600_000
/** The programs of an instance that was just stopped are gone from a card a moment later. */
const SETTLE_TRIES = 5
const SETTLE_MS = 2000
const MOST_PROGRAMS_NAMED = 3

/** Places and programs of the host; tests put others there. */
export type NvidiaHost = {
  dataDir: string
  bootId: string
  cdiDir?: string
  kernelLog?: string
  /** The driver's own folder in /proc, where it is loaded. */
  driverDir?: string
  nvml?: string
  cuda?: string
  /** Limit of each part of a check, and the pause between two looks at programs that should be gone. */
  clearSeconds?: number
  settleMs?: number
  /** True: nothing is written, for a look from beside the agent. */
  looksOnly?: boolean
  smi?: (args: string[]) => Promise<string>
  ctk?: (args: string[]) => Promise<string>
}

type Known = { report: SmiCard; problems: string[] }

export class NvidiaGpus implements Gpus {
  onChange: () => void = () => {}
  #errors: CardErrors
  #known: Known[] = []
  #looking: Promise<Known[]> | undefined
  #nvlinks = new Map<string, number>()
  #samples: { list: CardSample[]; at: number } | undefined
  #generated: { key: string; spec: CdiSpec } | undefined
  #checks = new Map<string, Promise<CardCheck>>()
  /** Why the cards cannot be given to containers; undefined where they can. */
  #cdiTrouble: string | undefined
  #reportTrouble: string | undefined

  constructor(private host: NvidiaHost) {
    const file = host.looksOnly ? undefined : join(host.dataDir, 'card-errors.json')
    this.#errors = new CardErrors(file, host.bootId, host.kernelLog)
  }

  cards = async () => (await this.#look()).map((known) => this.#card(known))

  async samples(): Promise<CardSample[]> {
    if (this.#samples && performance.now() - this.#samples.at < FRESH_MS) return this.#samples.list
    return (await this.#look()).flatMap(({ report }) => sampleIn(report) ?? [])
  }

  check = (uuids: readonly string[]) => Promise.all(uuids.map((uuid) => this.#checkOnce(uuid)))

  troublesSince = (uuids: readonly string[], at: number): string[] => {
    this.#errors.take()
    const buses = this.#known.filter(({ report }) => uuids.includes(report.uuid)).map(({ report }) => report.bus)
    return this.#errors.wordsSince(buses, at)
  }

  async findings(): Promise<string[]> {
    const known = await this.#look()
    return [
      ...hostFindings(await nvidiaHost(this.#driverDir)),
      ...(this.#reportTrouble ? [`nvidia-smi does not answer for all cards: ${this.#reportTrouble}`] : []),
      ...(this.#cdiTrouble ? [`The cards cannot be given to containers: ${this.#cdiTrouble}`] : []),
      ...(known.length && !this.#errors.areSeen
        ? ['The kernel’s log cannot be read, so errors of cards are not seen: let the agent read /dev/kmsg']
        : []),
      ...(known.some(({ report }) => report.persistent === false)
        ? ['Persistence mode is off, so cards forget their errors: run nvidia-persistenced as a service']
        : []),
    ]
  }

  async stay(signal: AbortSignal) {
    void this.#watchSamples(signal)
    let before = ''
    while (!signal.aborted) {
      await sleep(WATCH_MS, signal)
      if (signal.aborted || !this.#isDriven) continue
      const fresh = this.#errors.take()
      for (const { bus, code, text } of fresh) log('warning', 'a card reported an error', { bus, code, text })
      const seen = this.#samples?.list.map(({ uuid }) => uuid).join() ?? ''
      if (!fresh.length && seen === before) continue
      before = seen
      await this.#look()
      this.onChange()
    }
  }

  close() {
    this.#errors.close()
  }

  // -------------------------------------------------------------- what the cards are
  get #driverDir() {
    return this.host.driverDir ?? '/proc/driver/nvidia'
  }
  get #isDriven() {
    return existsSync(join(this.#driverDir, 'version'))
  }

  /** Looks at all cards. Whoever asks meanwhile gets the same answer. */
  #look(): Promise<Known[]> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookNow(): Promise<Known[]> {
    if (!this.#isDriven) return []
    const reports = await this.#reports()
    this.#errors.take()
    const silent = this.#known.filter(({ report }) => this.#isSilent(report, reports))
    if (reports.some(({ uuid }) => !this.#nvlinks.has(uuid))) await this.#countLinks(reports)
    this.#known = [
      ...reports.map((report) => ({ report, problems: problemsOf(report, this.#errors.of(report.bus)) })),
      ...silent.map(({ report }) => ({
        report,
        problems: [
          `The driver gets no answer from it${this.#reportTrouble ? `: ${this.#reportTrouble}` : ''}`,
          ...problemsOf(report, this.#errors.of(report.bus)),
        ],
      })),
    ].toSorted((a, b) => a.report.bus.localeCompare(b.report.bus))
    await this.#giveToContainers().catch((error) => {
      this.#cdiTrouble = wordsOf(error)
      log('error', 'the cards cannot be given to containers', { error: this.#cdiTrouble })
    })
    return this.#known
  }

  /** A card that the driver still has and the report does not. One that the driver lost too has vanished. */
  #isSilent = ({ uuid, bus }: SmiCard, reports: readonly SmiCard[]) =>
    !reports.some((report) => report.uuid === uuid) && existsSync(join(this.#driverDir, 'gpus', bus))

  /** One card that is lost makes the report of all fail: then each card is asked alone. */
  async #reports(): Promise<SmiCard[]> {
    try {
      const reports = cardsIn(await this.#smi(['-q', '-x']))
      this.#reportTrouble = undefined
      return reports
    } catch (error) {
      this.#reportTrouble = wordsOf(error).slice(0, 200)
    }
    const each = this.#buses().map((bus) => this.#smi(['-q', '-x', '-i', bus]).then(cardsIn))
    return (await Promise.allSettled(each)).flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  }

  #buses(): string[] {
    const dir = join(this.#driverDir, 'gpus')
    return existsSync(dir) ? readdirSync(dir).map(busOf) : []
  }

  /** Asked when a card is new: it takes a run of nvidia-smi, and links do not come by themselves. */
  async #countLinks(reports: readonly SmiCard[]) {
    const found = await this.#smi(['nvlink', '--status']).then(nvlinksIn, () => new Map<string, number>())
    for (const { uuid } of reports) this.#nvlinks.set(uuid, found.get(uuid) ?? 0)
  }

  #card = ({ report, problems }: Known): Card => ({
    uuid: report.uuid,
    model: report.model,
    memoryMb: report.memoryMb ?? 0,
    bus: report.bus,
    driver: report.driver,
    serial: report.serial,
    nvlinks: this.#nvlinks.get(report.uuid) ?? 0,
    mig: report.mig,
    problems,
  })

  // -------------------------------------------------------------- use
  /** Reads the samples that another process takes, and begins it again when it ends or falls silent. */
  async #watchSamples(signal: AbortSignal) {
    for (let pauseMs = FRESH_MS; !signal.aborted; ) {
      const before = this.#samples?.at
      if (this.#isDriven) await this.#readSamples(signal)
      pauseMs = this.#samples?.at === before ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FRESH_MS
      await sleep(pauseMs, signal)
    }
  }

  async #readSamples(signal: AbortSignal) {
    const args = ['agent', CARD_TOOL, 'watch', this.host.nvml ?? 'libnvidia-ml.so.1', String(SAMPLE_MS)]
    const silent = new AbortController()
    const late = () => setTimeout(() => silent.abort(), FRESH_MS)
    let timer = late()
    for await (const line of lines('berth', args, AbortSignal.any([signal, silent.signal]))) {
      clearTimeout(timer)
      timer = late()
      const list = samplesIn(line)
      if (list) this.#samples = { list, at: performance.now() }
    }
    clearTimeout(timer)
  }

  // -------------------------------------------------------------- check
  /** Two checks of one card at a time would find each other on it. */
  #checkOnce(uuid: string): Promise<CardCheck> {
    const running = this.#checks.get(uuid)
    if (running) return running
    const check = this.#checkNow(uuid).finally(() => this.#checks.delete(uuid))
    this.#checks.set(uuid, check)
    return check
  }

  async #checkNow(uuid: string): Promise<CardCheck> {
    const failed = (...problems: string[]): CardCheck => ({ uuid, sellable: false, problems, clearedMb: 0 })
    const before = await this.#withoutPrograms(uuid)
    if (!before) return failed('This host does not have the card')
    const running = programsOn(before.report)
    // A card that does not work is cleared when it does again: it is checked before it is sold.
    if (running.length || before.problems.length) return failed(...running, ...before.problems)
    let cleared: Cleared
    let proved: Proved
    try {
      cleared = await this.#onCard<Cleared>('clear', before.report, CLEAR_SECONDS)
      // A program of its own, which gets the card as the next customer does.
      proved = await this.#onCard<Proved>('prove', before.report, PROVE_SECONDS)
    } catch (error) {
      return failed(`Its memory could not be cleared: ${wordsOf(error)}`)
    }
    // Errors that only the load brought out.
    const after = (await this.#look()).find(({ report }) => report.uuid === uuid)
    const problems = [
      ...problemsCleared(cleared),
      ...problemsProved(proved),
      ...(after ? [...programsOn(after.report), ...after.problems] : ['It vanished while it was checked']),
    ]
    const clearedMb = Math.floor((proved.readBytes - proved.unclearBytes) / 2 ** 20)
    return { uuid, sellable: !problems.length, problems, clearedMb, memoryGBps: cleared.memoryGBps }
  }

  async #withoutPrograms(uuid: string): Promise<Known | undefined> {
    for (let n = 1; ; n++) {
      const known = (await this.#look()).find(({ report }) => report.uuid === uuid)
      if (!known?.report.processes.length || n === SETTLE_TRIES) return known
      await Bun.sleep(this.host.settleMs ?? SETTLE_MS)
    }
  }

  async #onCard<T>(task: 'clear' | 'prove', { uuid, bus }: SmiCard, mostSeconds: number): Promise<T> {
    const { cuda: library = 'libcuda.so.1', clearSeconds: limitSeconds = mostSeconds } = this.host
    const { out } = await within(
      limitSeconds + GRACE_SECONDS,
      run('berth', ['agent', CARD_TOOL, task, library, bus], {
        limitSeconds,
        // The process sees no other card, so that one that hangs does not hold up the check of this one.
        env: { CUDA_VISIBLE_DEVICES: uuid, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' },
      }),
    )
    return JSON.parse(out) as T
  }

  // -------------------------------------------------------------- containers
  async #giveToContainers() {
    if (this.host.looksOnly) return
    const uuids = this.#known.map(({ report }) => report.uuid)
    const drivers = this.#known.map(({ report }) => report.driver)
    const key = [...drivers, ...uuids].join()
    const isNew = this.#generated?.key !== key
    if (isNew && uuids.length) {
      const text = await this.#ctk(['cdi', 'generate', '--format=json', '--device-name-strategy=uuid'])
      this.#generated = { key, spec: JSON.parse(text) as CdiSpec }
    }
    this.#cdiTrouble = undefined
    if (!this.#generated) return
    const healthy = this.#known.filter(({ problems }) => !problems.length).map(({ report }) => report.uuid)
    if (writeCdi(ownSpec(this.#generated.spec, healthy), this.host.cdiDir))
      log('info', 'the list of cards for containers has changed', { cards: healthy })
  }

  // -------------------------------------------------------------- programs
  #smi = (args: string[]) => this.host.smi?.(args) ?? ran('nvidia-smi', args)
  #ctk = (args: string[]) => this.host.ctk?.(args) ?? ran('nvidia-ctk', args)
}

async function ran(program: 'nvidia-smi' | 'nvidia-ctk', args: string[]): Promise<string> {
  if (!find(program)) throw new Failure('tool_missing', `${program} is not installed`)
  const limitSeconds = REPORT_SECONDS
  return (await within(limitSeconds + GRACE_SECONDS, run(program, args, { quietly: true, limitSeconds }))).out
}

/** Gives up on work that does not even end when it is killed, as that of a process which hangs in the kernel. */
async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const given = new AbortController()
  try {
    const late = sleep(seconds * 1000, given.signal).then(() => {
      throw new Failure('tool_timeout', `there was no answer within ${seconds} s`)
    })
    late.catch(() => {})
    return await Promise.race([work, late])
  } finally {
    given.abort()
  }
}

function programsOn({ processes }: SmiCard): string[] {
  if (!processes.length) return []
  const named = processes.slice(0, MOST_PROGRAMS_NAMED).map(({ pid, name }) => `${basename(name) || '?'} (${pid})`)
  const more = processes.length - named.length
  return [`Programs run on it: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

function samplesIn(line: string): CardSample[] | undefined {
  try {
    return JSON.parse(line) as CardSample[]
  } catch {
    return undefined
  }
}
