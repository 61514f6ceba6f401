/** Bytes since the counters began; `sent` and `received` as seen from the vm. */
export type PortCounters = { sentBytes: number; receivedBytes: number }

/**
 * The counters of frames that were let through by tap. They go on while a vm is off, restarts or gets another disk, or
 * the agent is away; `epoch` changes when they begin at 0 again.
 */
export interface TrafficCounters {
  /** Sets the counters up where they are missing. Throws `tool_failed`. */
  read(): Promise<{ epoch: string; ports: ReadonlyMap<string, PortCounters> }>
  /** Drops the counters of a tap that is gone for good. */
  forget(tap: string): Promise<void>
}
