import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { progress, say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import type { LeftAlone, RemovalScope, Removed, Restored } from '../../protocol/values/source-removal.ts'
import { serialQueue } from '../../serial-queue.ts'
import { restoreContainer, stopContainer } from './containers.ts'
import { bridgeExists, runningDomains } from './domains.ts'
import { copyFile, isThere, move, moveBack, privateFolder, replaceText, textOf } from './files.ts'
import { type Journal, Journals } from './journal.ts'
import { missingIn, without } from './lines.ts'
import { ANY_FOLDER, type Plan, placeIn, planOf, processesIn, type Work } from './plan.ts'
import { reloadUnits, startService, stopService } from './services.ts'
import type { SourceRemovals } from './source-removals.ts'

/** A process that gets the signal to end has so long for it. */
const END_LIMIT_MS = 30_000
/** A service that has stopped may take something down with it a moment later. */
const SETTLED_MS = 2000

type Options = {
  /** The journals of removals. */
  dir: string
  /** Folders that Berth needs on this host. */
  protectedPaths: () => Promise<readonly string[]>
  now?: () => number
  settledMs?: number
  /** A failpoint for tests, called between the steps. */
  crash?: (moment: string) => void
}

/** The software of another panel on a real host. One removal is at work at a time. */
export class HostSourceRemovals implements SourceRemovals {
  private journals: Journals
  private inTurn = serialQueue()

  constructor(private options: Options) {
    this.journals = new Journals(options.dir)
  }

  async look(scope: RemovalScope) {
    return (await planOf(scope, await this.options.protectedPaths())).preview
  }

  remove = (removal: string, scope: RemovalScope): Promise<Removed> => this.inTurn(() => this.removeNow(removal, scope))
  restore = (removal: string): Promise<Restored> => this.inTurn(() => this.restoreNow(removal))

  private async removeNow(removal: string, scope: RemovalScope): Promise<Removed> {
    const journal = (await this.journals.read(removal)) ?? (await this.begin(removal, scope))
    if (journal.phase === 'removed') return journal.answer!
    if (journal.phase === 'removing') {
      try {
        return await this.carryOut(journal)
      } catch (error) {
        say('error', wordsOf(error))
        await this.note(journal, { phase: 'restoring', failure: wordsOf(error) })
      }
    }
    if (journal.phase === 'restoring') await this.putBack(journal)
    throw new Failure('removal_undone', `${journal.failure ?? 'it was restored'}; everything was put back`)
  }

  /** Looks, refuses, and notes what is to be done before anything is. */
  private async begin(removal: string, scope: RemovalScope): Promise<Journal> {
    const plan = await planOf(scope, await this.options.protectedPaths())
    const { foreign, foreignCount } = plan.preview
    if (foreignCount > 0)
      throw new Failure(
        'removal_foreign_domains',
        `libvirt holds ${foreignCount} that ${foreignCount === 1 ? 'is' : 'are'} none of Berth: ` +
          `${foreign.slice(0, 5).join(', ')}. Nothing was changed.`,
      )
    const journal: Journal = {
      ...{ removal, scope, phase: 'removing', folder: await this.freshFolder() },
      before: await beforeOf(plan),
      steps: plan.steps.map((step) => ({ ...step, state: 'waiting' })),
      answer: null,
      failure: null,
    }
    const here = (text: string) => text.replaceAll(ANY_FOLDER, journal.folder)
    for (const { item } of journal.steps) item.becomes = here(item.becomes)
    journal.answer = {
      folder: journal.folder,
      items: journal.steps.map(({ item }) => item).slice(0, 500),
      left: plan.preview.left,
      verified: {
        servers: journal.before.length,
        bridges: new Set(journal.before.flatMap(({ bridges }) => bridges)).size,
      },
    }
    await this.journals.write(journal)
    return journal
  }

  private async carryOut(journal: Journal): Promise<Removed> {
    const folder = journal.folder
    await privateFolder(folder)
    for (const [n, step] of journal.steps.entries()) {
      if (step.state === 'done') continue
      this.options.crash?.(`before ${n}`)
      step.state = 'begun'
      await this.journals.write(journal)
      await doWork(step.work, folder)
      this.options.crash?.(`during ${n}`)
      await verify(journal)
      step.state = 'done'
      await this.journals.write(journal)
      progress((100 * (n + 1)) / (journal.steps.length + 1))
    }
    await Bun.sleep(this.options.settledMs ?? SETTLED_MS)
    await verify(journal)
    const { servers, bridges } = journal.answer!.verified
    say('info', `${servers} servers that ran before still run; ${bridges} bridges of theirs exist`)
    this.options.crash?.('at the end')
    await this.note(journal, { phase: 'removed' })
    return journal.answer!
  }

  private async restoreNow(removal: string): Promise<Restored> {
    const journal = await this.journals.read(removal)
    if (!journal || journal.phase === 'restored') return { restored: 0, left: [] }
    await this.note(journal, { phase: 'restoring' })
    return this.putBack(journal)
  }

  /** Backwards, each step that was begun. One that fails does not keep the others from being put back. */
  private async putBack(journal: Journal): Promise<Restored> {
    const left: LeftAlone[] = []
    let restored = 0
    for (const [n, step] of [...journal.steps.entries()].reverse()) {
      if (step.state === 'waiting' || step.state === 'undone') continue
      this.options.crash?.(`undo ${n}`)
      try {
        const why = await undoWork(step.work, journal.folder)
        if (why) left.push({ name: step.item.name, why })
        else restored++
        step.state = 'undone'
      } catch (error) {
        const words = wordsOf(error)
        say('error', `${step.item.name} could not be put back: ${words}`)
        left.push({ name: step.item.name, why: words.slice(0, 500) })
      }
      await this.journals.write(journal)
    }
    const failed = journal.steps.filter(({ state }) => state === 'begun' || state === 'done')
    if (failed.length > 0) {
      const words = left.map(({ name, why }) => `${name}: ${why}`).join('; ')
      throw new Failure('removal_half_restored', `not everything could be put back. ${words}`.slice(0, 1900))
    }
    await this.note(journal, { phase: 'restored' })
    return { restored, left }
  }

  private async note(journal: Journal, change: Partial<Journal>) {
    Object.assign(journal, change)
    await this.journals.write(journal)
  }

  /** A folder of root's alone, with the time in its name; no other removal has it. */
  private async freshFolder(): Promise<string> {
    const at = new Date((this.options.now ?? Date.now)())
    const two = (n: number) => `${n}`.padStart(2, '0')
    const day = `${at.getUTCFullYear()}${two(at.getUTCMonth() + 1)}${two(at.getUTCDate())}`
    const time = `${two(at.getUTCHours())}${two(at.getUTCMinutes())}${two(at.getUTCSeconds())}`
    for (let n = 1; ; n++) {
      const path = `/root/removed-${day}-${time}${n === 1 ? '' : `-${n}`}`
      try {
        await mkdir(path, { mode: 0o700 })
        return path
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }
}

/** The servers that run now, with those of their bridges that exist. */
async function beforeOf({ domains }: Plan): Promise<Journal['before']> {
  const before = []
  for (const { name, isRunning, bridges } of domains) {
    if (!isRunning) continue
    const there = await Promise.all(bridges.map(bridgeExists))
    before.push({ name, bridges: bridges.filter((_, n) => there[n]) })
  }
  return before
}

/** Throws when a server that ran before does not run any more, or its bridge is gone. */
async function verify({ before }: Journal) {
  const running = new Set(await runningDomains())
  const gone = before.filter(({ name }) => !running.has(name)).map(({ name }) => name)
  if (gone.length) throw new Error(`servers that ran before do not run any more: ${gone.slice(0, 5).join(', ')}`)
  for (const bridge of new Set(before.flatMap(({ bridges }) => bridges)))
    if (!(await bridgeExists(bridge))) throw new Error(`the bridge ${bridge} of running servers is gone`)
}

async function doWork(work: Work, folder: string) {
  if (work.type === 'file') return move(work.path, placeIn(folder, work.path))
  if (work.type === 'container') return stopContainer(work.container)
  if (work.type === 'processes') return endProcesses(work.folders)
  if (work.type === 'lines') return takeOut(work.path, work.lines, placeIn(folder, work.path))
  const { service } = work
  if (service.stops && service.wasActive) await stopService(service)
  for (const link of service.links) await move(link, placeIn(folder, link))
  if (service.links.length) await reloadUnits()
}

/** Answers why something stays where it was moved to; undefined: all of it is back. */
async function undoWork(work: Work, folder: string): Promise<string | undefined> {
  if (work.type === 'file') return backOr(work.path, folder)
  if (work.type === 'container') {
    await restoreContainer(work.container)
    return undefined
  }
  // They belong to services, which start them again.
  if (work.type === 'processes') return undefined
  if (work.type === 'lines') return putIn(work.path, work.lines, placeIn(folder, work.path))
  const { service } = work
  const stayed = []
  for (const link of service.links) {
    const why = await backOr(link, folder)
    if (why) stayed.push(why)
  }
  if (service.links.length) await reloadUnits()
  if (service.stops && service.wasActive) await startService(service)
  return stayed[0]
}
async function backOr(path: string, folder: string): Promise<string | undefined> {
  const place = placeIn(folder, path)
  return (await moveBack(path, place)) ? undefined : `something else is at ${path} now; it stays in ${place}`
}

async function takeOut(path: string, lines: readonly string[], copy: string) {
  const text = await textOf(path)
  if (text === undefined) return
  if (!(await isThere(copy))) await copyFile(path, copy)
  const fresh = without(text, lines)
  if (fresh === text) return
  say('info', `${path}: ${lines.length} taken out`)
  await replaceText(path, fresh)
}

/** The copy itself, unless somebody has changed the file since: then the lines are added to what it has now. */
async function putIn(path: string, lines: readonly string[], copy: string): Promise<string | undefined> {
  const before = await textOf(copy)
  if (before === undefined) return undefined
  const text = await textOf(path)
  if (text === undefined || text === before || text === without(before, lines)) {
    await privateFolder(dirname(path))
    await copyFile(copy, path)
    return undefined
  }
  const missing = missingIn(text, lines)
  if (missing.length)
    await replaceText(path, `${text}${text.endsWith('\n') || !text ? '' : '\n'}${missing.join('\n')}\n`)
  return undefined
}

/** They get the signal to end, and nothing stronger: among them is a database. Throws when one stays. */
async function endProcesses(folders: readonly string[]) {
  for (const { pid, name } of await processesIn(folders)) {
    say('command', `kill -TERM ${pid} (${name})`)
    try {
      process.kill(pid, 'SIGTERM')
    } catch {
      // It has ended.
    }
  }
  for (const end = performance.now() + END_LIMIT_MS; ; await Bun.sleep(100)) {
    const left = await processesIn(folders)
    if (!left.length) return
    if (performance.now() > end)
      throw new Error(
        `processes of the panel do not end: ${left.map(({ pid, name }) => `${name} (${pid})`).join(', ')}`,
      )
  }
}

/** The folders of Berth's own on a host: its data, and those of its pools of files. */
export async function ownFolders(dataDir: string, poolsFile: string): Promise<string[]> {
  const text = await readFile(poolsFile, 'utf8').catch(() => '{}')
  const pools = (JSON.parse(text) as { pools?: { path?: string }[] }).pools ?? []
  return [dataDir, ...pools.flatMap(({ path }) => path ?? [])]
}
