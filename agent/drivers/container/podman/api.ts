// Podman by its HTTP interface over a socket file.
import { Failure } from '../../../failure.ts'

/** The oldest form that the interface of Podman 4 and 5 has. */
const PATH = 'http://podman/v4.0.0/libpod'
const LIMIT_MS = 60_000

/** An error that Podman answered, in its words. */
export class PodmanError extends Failure {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super('tool_failed', message)
  }
}

export type Call = {
  query?: Readonly<Record<string, string | number | boolean>>
  body?: unknown
  limitMs?: number
  signal?: AbortSignal
}

export class PodmanApi {
  constructor(private socket: string) {}

  /** True when a service answers within a second. */
  answers = () =>
    this.send('GET', '/_ping', { limitMs: 1000 })
      .then(({ ok }) => ok)
      .catch(() => false)

  /** The answer's JSON; undefined for one without a body. Throws `PodmanError`, `container_engine_silent`. */
  async ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, call: Call = {}): Promise<T> {
    const response = await this.send(method, path, call)
    const text = await response.text()
    if (response.status >= 400) throw new PodmanError(response.status, wordsIn(text))
    return (text ? JSON.parse(text) : undefined) as T
  }

  /** As `ask`, and undefined where Podman knows no such thing. */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.ask<T>('GET', path)
    } catch (error) {
      if (error instanceof PodmanError && error.status === 404) return undefined
      throw error
    }
  }

  /** Answers the response itself, which may be endless. */
  async send(method: string, path: string, { query = {}, body, limitMs = LIMIT_MS, signal }: Call): Promise<Response> {
    const words = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    try {
      return await fetch(`${PATH}${path}?${words}`, {
        method,
        unix: this.socket,
        timeout: false,
        signal: AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]),
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
      } as RequestInit)
    } catch (cause) {
      throw new Failure('container_engine_silent', `the container engine does not answer to ${method} ${path}`, {
        cause,
      })
    }
  }
}

/** Podman names the cause apart from the message, which repeats it. */
function wordsIn(text: string): string {
  try {
    const { message, cause } = JSON.parse(text) as { message?: string; cause?: string }
    return (message ?? cause ?? text).slice(0, 1500)
  } catch {
    return text.slice(0, 1500)
  }
}
