// The client of one panel. It can only read: each request is one of the panel's list of allowed reads, sent as GET.
// Credentials are added at the last moment and leave with the request; no failure and no record has them.
import { second } from '../../../kernel/db/clock.ts'
import { isBeforeSending, isTransient, SourceFailure } from '../failure.ts'
import type { Send } from '../send.ts'
import type { SourceOptions, SourceOutcome, SourceTrust } from '../source.ts'
import type { JsonObject } from '../values/scalars.ts'
import type { PanelAddress } from './address.ts'
import { type AllowedReads, allowed, type Given } from './allowed-reads.ts'
import { checkedAnswer, type Refusals } from './answer.ts'
import { overNetwork } from './network.ts'

/** The secrets that let a request in. */
export type Authorization = { headers?: Readonly<Record<string, string>>; query?: Readonly<Record<string, string>> }

export type PanelClient<Reads extends AllowedReads> = {
  /** Sends one read of the list, again where that is safe. Throws `SourceFailure`. */
  read<Name extends keyof Reads & string>(name: Name, given: Given<Reads[Name]>): Promise<JsonObject>
}

export type Panel<Reads extends AllowedReads> = {
  address: PanelAddress
  reads: Reads
  refusals: Refusals
  authorize: () => Authorization
}

/** After a failure that may pass: reading changes nothing, so the same request is sent again after each pause. */
const PAUSES_MS: readonly number[] = [second, 3 * second]

export function panelClient<Reads extends AllowedReads>(
  panel: Panel<Reads>,
  trust: SourceTrust,
  options: SourceOptions,
  send: Send = options.send ?? overNetwork(panel.address, trust, options),
): PanelClient<Reads> {
  const { signal, retryPausesMs = PAUSES_MS, onSend, onAnswer } = options
  const once = async (name: keyof Reads & string, given: Parameters<typeof allowed>[2]): Promise<JsonObject> => {
    if (signal?.aborted) throw new SourceFailure('stopped')
    const { path, query } = allowed(panel.reads, name, given)
    const { headers, query: secrets } = panel.authorize()
    for (const [parameter, value] of Object.entries(secrets ?? {})) query.set(parameter, value)
    const url = new URL(path, panel.address.url)
    url.search = query.toString()
    onSend?.()
    const began = performance.now()
    let outcome: SourceOutcome = 'refused'
    try {
      const raw = await send(url, { Accept: 'application/json', ...headers })
      const answer = checkedAnswer(raw, panel.reads[name]!, panel.refusals)
      outcome = 'read'
      return answer
    } catch (error) {
      if (error instanceof SourceFailure && isBeforeSending(error)) outcome = 'unsent'
      throw error
    } finally {
      onAnswer?.({ ms: Math.round(performance.now() - began), outcome })
    }
  }
  return {
    async read(name, given) {
      for (let tried = 0; ; tried++)
        try {
          return await once(name, given)
        } catch (error) {
          const pauseMs = retryPausesMs[tried]
          if (!(error instanceof SourceFailure) || !isTransient(error) || pauseMs === undefined) throw error
          await pause(pauseMs, signal)
        }
    },
  }
}

/** Ends early where the reading is stopped. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = () => resolve()
  signal?.addEventListener('abort', stop)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  })
}
