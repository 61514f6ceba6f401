// A client of Berth's API. It needs nothing but `fetch` and WebCrypto: Node.js 20, Bun, Deno or a worker.
import { API_ROOT, type ListId, type Operations, routes } from './api.ts'

export type * from './api.ts'
export * from './webhooks.ts'

export type Options = {
  /** Address of the panel, such as https://panel.example.com. */
  url: string
  /** API token, `pnl_…`. */
  token: string
  /** Tries after the first one; 4 where it is not given. */
  retries?: number
  /** Milliseconds that one try may take; 30,000 where it is not given. */
  timeoutMs?: number
  fetch?: (request: Request) => Promise<Response>
}

type Id = keyof Operations
type Result<I extends Id> = Operations[I]['result']
/** What an operation takes: what it requires is required here. */
export type Input<I extends Id> = Omit<Operations[I], 'result'> & {
  /** Your own key, such as the number of an order; a random one where it is not given. Retries repeat it. */
  idempotencyKey?: string
  signal?: AbortSignal
}
type Arguments<I extends Id> = {} extends Input<I> ? [input?: Input<I>] : [input: Input<I>]
type Row<I extends ListId> = Result<I> extends { data: (infer R)[] } ? R : never

/** A refusal by the controller: `code` is one of its documented codes. */
export class BerthError extends Error {
  override name = 'BerthError'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: unknown,
    /** To quote to whoever runs the panel. */
    readonly requestId: string | null,
  ) {
    super(message)
  }
}

/** Statuses of a controller or proxy that is busy or away, whose call was not carried out or can be repeated. */
const PASSING = [429, 502, 503, 504]
const LONGEST_WAIT_MS = 60_000

export class Berth {
  constructor(private options: Options) {}

  /**
   * Calls one operation by its id. Retries what passes: no answer, 429, 502, 503, 504. Changes are retried only with
   * their Idempotency-Key, so that none is done twice. Throws `BerthError`, or what `fetch` throws after the last try.
   */
  async call<I extends Id>(id: I, ...[input]: Arguments<I>): Promise<Result<I>> {
    const [method, , isKeyed] = routes[id]
    const { idempotencyKey, signal, path, query, body } = (input ?? {}) as Given
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.options.token}`,
      Accept: 'application/json',
    }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    if (isKeyed) headers['Idempotency-Key'] = idempotencyKey ?? crypto.randomUUID()
    const mayRepeat = isKeyed || method === 'GET'
    const url = this.options.url.replace(/\/+$/, '') + API_ROOT + addressOf(id, path, query)
    const { retries = 4, timeoutMs = 30_000, fetch: send = (request: Request) => fetch(request) } = this.options
    for (let tried = 0; ; tried++) {
      const isLast = tried >= retries
      const ends = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
      const request = new Request(url, {
        method,
        headers,
        signal: ends,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const answer = await send(request).catch((error: unknown) => {
        if (isLast || !mayRepeat || signal?.aborted) throw error
        return undefined
      })
      if (answer?.ok) return (await resultOf(answer)) as Result<I>
      // A refusal with Retry-After was not carried out, whatever the method.
      const after = answer?.headers.get('Retry-After')
      const passes = !answer || (PASSING.includes(answer.status) && (mayRepeat || after !== null))
      if (answer && (isLast || !passes)) throw await refusalOf(answer)
      await answer?.body?.cancel()
      await pause(waitMs(after, tried), signal)
    }
  }

  /** Each row of a list, page after page as they are read. */
  async *list<I extends ListId>(id: I, ...[input]: Arguments<I>): AsyncGenerator<Row<I>> {
    const given = (input ?? {}) as Given
    for (let cursor: string | null = null; ; ) {
      const query: Record<string, unknown> = { ...given.query, ...(cursor !== null && { cursor }) }
      const next = { ...given, query } as unknown as Input<I>
      const page = (await this.call<Id>(id, next as never)) as { data: Row<I>[]; nextCursor: string | null }
      yield* page.data
      cursor = page.nextCursor
      if (cursor === null) return
    }
  }

  /** The job once it has ended, whether it succeeded or not. Throws `BerthError`, and what `signal` says. */
  async ended(jobId: string, { signal, everyMs = 1000 }: { signal?: AbortSignal; everyMs?: number } = {}) {
    for (;;) {
      const job = await this.call('jobs.get', { path: { jobId }, ...(signal && { signal }) })
      if (job.state !== 'queued' && job.state !== 'running') return job
      await pause(everyMs, signal)
    }
  }
}

type Given = {
  idempotencyKey?: string
  signal?: AbortSignal
  path?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

function addressOf(id: Id, path: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const filled = routes[id][1].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name]
    // An empty part would be another operation's path.
    if (!value) throw new TypeError(`${id} needs path.${name}`)
    return encodeURIComponent(value)
  })
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return pairs.length ? `${filled}?${new URLSearchParams(pairs as [string, string][])}` : filled
}

const isJson = (answer: Response) => /^application\/json\b/.test(answer.headers.get('Content-Type') ?? '')

/** JSON as its value, no content as undefined, anything else as the response. */
async function resultOf(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined
  return isJson(answer) ? await answer.json() : answer
}

async function refusalOf(answer: Response): Promise<BerthError> {
  const text = await answer.text().catch(() => '')
  let error: { code?: string; message?: string; details?: unknown } = {}
  // A proxy answers in its own way.
  if (isJson(answer)) error = (JSON.parse(text) as { error?: typeof error }).error ?? {}
  const { code = `http_${answer.status}`, message = `${answer.status} ${answer.statusText}`.trim(), details } = error
  return new BerthError(answer.status, code, message, details, answer.headers.get('X-Request-Id'))
}

/** Retry-After is in seconds; else twice as long each time, each client at a time of its own. */
function waitMs(after: string | null | undefined, tried: number): number {
  const asked = after ? Number(after) * 1000 : Number.NaN
  return Math.min(Number.isFinite(asked) ? asked : 500 * 2 ** tried * (0.5 + Math.random()), LONGEST_WAIT_MS)
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
