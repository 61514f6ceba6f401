import type { ConsoleKind } from '../../protocol/console.ts'

/** The places where a vm's screen and serial line can be reached on this host. */
export interface Consoles {
  /**
   * The path of the unix socket that speaks RFB (`vnc`) or is the serial line. Throws `not_running`, and
   * `no_serial_line` for a vm that was started with a definition without one.
   */
  socket(workload: string, kind: ConsoleKind): Promise<string>
  /** The last bytes that the guest wrote to its serial line, at most `mostBytes`; empty where nothing is known. */
  tail(workload: string, mostBytes: number): Promise<Uint8Array>
  /** Deletes what was kept of the serial line of a vm that is being removed. */
  forget(workload: string): Promise<void>
}
