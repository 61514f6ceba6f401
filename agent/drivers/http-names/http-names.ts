import type { HttpNamesOfHost, HttpScheme } from '../../protocol/gpu.ts'

/**
 * Names by which people reach HTTP ports of instances, through a proxy of the host that outlives the agent. A name
 * leads to its instance while that runs; otherwise the proxy says that it is stopped.
 */
export interface HttpNames {
  /** Sentences for the operator about what the host lacks, each with its remedy. */
  problems(): Promise<string[]>
  /** From now on these names are served, and no others. Converges. Throws `no_http_proxy`, `http_proxy_refused`. */
  set(names: HttpNamesOfHost): Promise<{ scheme: HttpScheme }>
  /** The names of this instance lead to it. */
  opened(workload: string): void
  /** The names of this instance say that it is stopped. */
  closed(workload: string): void
  /** Only the names of these instances lead to them. */
  openedOnly(running: ReadonlySet<string>): void
  /** Puts the names into force again that were set last. Answers whether another program had changed something. */
  ensure(): Promise<boolean>
}
