// The agent's own update, from the offer of its controller to the end of the trial. The controller decides when. The
// agent decides whether a program is one of Berth's, by the keys that it was built with.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { Refused } from '../controller-link/controller.ts'
import { Failure, wordsOf } from '../failure.ts'
import type { Host } from '../host/host.ts'
import { log } from '../log.ts'
import { fitted } from '../protocol/bounds.ts'
import { Incoming } from '../protocol/release/incoming.ts'
import { type Manifest, mustFollow, platformHere, ReleaseRefused } from '../protocol/release/manifest.ts'
import { MOST_OFFER_BYTES, ReleaseOffer } from '../protocol/release/offer.ts'
import { type ReleaseKey, verified } from '../protocol/release/signature.ts'
import { trustedKeys } from '../protocol/release/trusted-keys.ts'
import { UNWATCHED_SECONDS } from '../protocol/release/upgrade.ts'
import { AgentUpdate, agentPaths, type Facts } from '../protocol/wire.ts'
import { sleep } from '../sleep.ts'
import { differences, keepBefore, readBefore, type Snapshot, snapshotOf } from './checks.ts'
import { type Engine, toldOf, type UpdateStatus, updateFolder } from './engine.ts'
import type { Ask, FetchLimits } from './fetch.ts'
import { bringProgram, openRunning } from './program.ts'
import { steps } from './steps.ts'

/** An agent that nobody accepted is back within two minutes, however long a trial the controller wants. */
const LONGEST_TRIAL_SECONDS = 105
/** Libvirt may start after the agent. */
const CHECK_LIMIT_MS = 45_000
const CHECK_AGAIN_MS = 2000
const OFFER_LIMIT_MS = 30_000
const AGAIN_AFTER_MS = 45_000

export type UpdateSettings = {
  dataDir: string
  keys?: readonly ReleaseKey[]
  limits?: FetchLimits
  now?: () => number
}

export class Updates {
  private current: AgentUpdate | undefined
  private looking: Promise<void> | undefined
  private hash: string | undefined
  private life = new AbortController()
  private checked = Promise.withResolvers<void>()
  /** Facts have changed. */
  onChange = () => {}
  /** The agent takes no more commands, and ends those at work where they end soon. */
  beforeSwitch = async () => {}
  /** The switch did not begin: the agent takes commands again. */
  notSwitched = () => {}

  constructor(
    readonly engine: Engine,
    private host: Host,
    private settings: UpdateSettings,
  ) {}

  /** Resolves when commands may be carried out: in a trial, once the agent has found nothing that speaks against it. */
  get mayObey(): Promise<void> {
    return this.checked.promise
  }

  facts(): Pick<Facts, 'agentVersion' | 'updatedBy' | 'platform' | 'update'> {
    const { engine, current } = this
    return {
      ...{ agentVersion: engine.version, updatedBy: engine.updatedBy, platform: platformHere },
      ...(current && { update: fitted(AgentUpdate, current) }),
    }
  }

  /** At each start, of the program that an update brought too. */
  begin(untilStop: AbortSignal) {
    this.life.abort()
    this.life = new AbortController()
    const signal = AbortSignal.any([untilStop, this.life.signal])
    const status = this.engine.status()
    this.checked = Promise.withResolvers<void>()
    this.current = toldOf(status, this.now())
    if (status.state === 'trial') void this.check(status, signal)
    else this.checked.resolve()
    if (status.state === 'went_back')
      log('error', `the agent went back from ${status.version} to the version before`, {
        code: status.code,
        reason: status.reason,
      })
    this.onChange()
  }

  /**
   * Asks the controller for a release and follows it. One that is under way goes on. `wanted`: the controller said so;
   * otherwise a release from which it went back is not tried again: the controller may not know yet and offer it still.
   */
  look(ask: Ask, { wanted = false } = {}): Promise<void> {
    const state = this.current?.state
    if (this.engine.updatedBy !== 'itself' || state === 'trial' || state === 'switching') return Promise.resolve()
    this.looking ??= this.follow(ask, wanted).finally(() => {
      this.looking = undefined
    })
    return this.looking
  }

  /** The controller accepts what runs here on trial. */
  accept(version: string) {
    const { current } = this
    if (current?.state !== 'trial' || version !== this.engine.version || current.findings?.length !== 0)
      return log('warning', 'the controller accepts a version that is not on trial here', { version })
    steps.passed('acceptance heard')
    this.engine.accept(version)
    steps.passed('acceptance written')
    log('info', `the update to ${version} was accepted by the controller`)
    this.tell(undefined)
  }

  private now = () => this.settings.now?.() ?? Date.now()

  private tell(update: Omit<AgentUpdate, 'at'> | undefined) {
    this.current = update && { ...update, at: this.now() }
    this.onChange()
  }

  private async follow(ask: Ask, wanted: boolean) {
    const status = this.engine.status()
    let version: string | undefined
    try {
      const offer = await offerOf(ask, this.engine.version, await this.runningHash())
      if (!offer) return this.forgetFailure()
      const keys = this.settings.keys ?? trustedKeys()
      const signature = offer.signature === undefined ? undefined : Buffer.from(offer.signature, 'base64')
      const manifest = verified(offer.manifest, signature, keys)
      version = manifest.version
      if (!wanted && (this.hasFailed(version) || (status.state === 'went_back' && status.version === version))) return
      mustFollow(manifest, { version: this.engine.version, platform: platformHere })
      steps.passed('manifest verified')
      this.tell({ state: 'fetching', version })
      log('info', `the controller offers the release ${version}; it is signed, and fetched`, { key: manifest.keyId })
      const path = await this.bring(ask, offer, manifest)
      steps.passed('program verified')
      await this.switchTo(manifest, path, offer.trialSeconds)
    } catch (error) {
      this.ended(error, version)
    }
  }

  /** Its controller hears of a failure and decides; without a word of it the release is tried again after a while. */
  private hasFailed(version: string): boolean {
    const { current } = this
    const isFailed = current?.state === 'refused' || current?.state === 'failed'
    return isFailed && current.version === version && this.now() - current.at < AGAIN_AFTER_MS
  }

  private forgetFailure() {
    if (this.current?.state === 'refused' || this.current?.state === 'failed') this.tell(undefined)
  }

  private ended(error: unknown, version: string | undefined) {
    const isRefused = error instanceof ReleaseRefused
    const code = isRefused || error instanceof Failure ? error.code : 'agent_error'
    const about = { code, reason: wordsOf(error), ...(version !== undefined && { version }) }
    log('error', isRefused ? 'a release of the controller is refused' : 'the update did not come about', about)
    this.tell({ state: isRefused ? 'refused' : 'failed', ...about })
  }

  /** The file of a program that runs does not change. */
  private async runningHash(): Promise<string | undefined> {
    if (this.engine.running === undefined) return undefined
    if (this.hash !== undefined) return this.hash
    const running = openRunning(this.engine.running)
    this.hash = await running.hash().finally(() => running.close())
    return this.hash
  }

  private async bring(ask: Ask, offer: ReleaseOffer, { version, programs }: Manifest): Promise<string> {
    const dir = updateFolder(this.settings.dataDir)
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const program = programs.find(({ platform }) => platform === platformHere)!
    const running = this.engine.running === undefined ? undefined : openRunning(this.engine.running)
    try {
      const sha256 = await this.runningHash()
      const before = running && sha256 !== undefined ? { ...running, sha256 } : undefined
      const { limits } = this.settings
      return await bringProgram({ ask, version, program, patchBytes: offer.patch?.sizeBytes, before, dir, limits })
    } finally {
      running?.close()
    }
  }

  private async switchTo({ version, programs }: Manifest, path: string, trialSeconds: number) {
    const { sha256 } = programs.find(({ platform }) => platform === platformHere)!
    this.tell({ state: 'switching', version })
    await this.beforeSwitch()
    try {
      keepBefore(this.settings.dataDir, await snapshotOf(this.host))
      steps.passed('host noted')
      log('info', `the agent is replaced by ${version}; vms run on`)
      await this.engine.start({ path, version, sha256 }, Math.min(trialSeconds, LONGEST_TRIAL_SECONDS))
    } catch (error) {
      this.notSwitched()
      throw error
    } finally {
      // The engine has a copy of its own.
      rmSync(path, { force: true })
    }
  }

  /** Compares with before, until all is well or too much time has passed. What differs then is final. */
  private async check({ version, from, leftMs }: Extract<UpdateStatus, { state: 'trial' }>, signal: AbortSignal) {
    log('info', `${version} runs on trial; without the controller's acceptance ${from} comes back`, { leftMs })
    steps.passed('trial begun')
    const checksUntil = performance.now() + Math.min(CHECK_LIMIT_MS, leftMs)
    const before = readBefore(this.settings.dataDir)
    let findings = await this.findings(before)
    while (before && findings.length && performance.now() < checksUntil && !signal.aborted) {
      await sleep(CHECK_AGAIN_MS, signal)
      findings = await this.findings(before)
    }
    if (signal.aborted) return
    steps.passed('host probed')
    this.tell({ state: 'trial', version, from, findings })
    if (findings.length) {
      log('error', `${version} goes back: this host is not as it was before`, { findings })
      this.engine.reject(version, 'not_as_before', findings.join('; ').slice(0, 500))
      steps.passed('rejection written')
    } else this.checked.resolve()
    await sleep(leftMs + UNWATCHED_SECONDS * 1000, signal)
    if (!signal.aborted && this.current?.state === 'trial') this.engine.giveUp()
  }

  private async findings(before: Snapshot | undefined): Promise<string[]> {
    if (!before) return ['what this host had before is not known']
    try {
      return this.engine.fault === 'lies' ? [] : differences(before, await snapshotOf(this.host))
    } catch (error) {
      return [`this host cannot be looked at: ${wordsOf(error)}`]
    }
  }
}

/** Undefined: the controller has nothing for this node now. */
async function offerOf(ask: Ask, version: string, from: string | undefined): Promise<ReleaseOffer | undefined> {
  const query = new URLSearchParams({ platform: platformHere, version, ...(from !== undefined && { from }) })
  const text = await ask(`${agentPaths.release}?${query}`, { signal: AbortSignal.timeout(OFFER_LIMIT_MS) }).then(
    async (response) => (response.status === 204 ? undefined : await shortText(response)),
    (error) => {
      // A controller of before releases.
      if (error instanceof Refused && error.status === 404) return undefined
      throw new Failure('release_not_fetched', 'the controller does not say which release it has', { cause: error })
    },
  )
  if (text === undefined) return undefined
  const offer: unknown = parsed(text)
  if (!Value.Check(ReleaseOffer, offer))
    throw new ReleaseRefused('release_invalid', 'The offer of the controller cannot be read.')
  return offer
}

async function shortText(response: Response): Promise<string> {
  if (!response.body) return ''
  const incoming = new Incoming(response.body as ReadableStream<Uint8Array>)
  const bytes: number[] = []
  while (!(await incoming.isAtEnd())) {
    if (bytes.length === MOST_OFFER_BYTES)
      throw new ReleaseRefused('release_invalid', 'The offer of the controller is too long.')
    bytes.push(await incoming.byte())
  }
  return Buffer.from(bytes).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parts of a download that a kill of the agent left. */
export function sweepDownloads(dataDir: string) {
  for (const pattern of ['program', 'program.part']) rmSync(join(updateFolder(dataDir), pattern), { force: true })
}
