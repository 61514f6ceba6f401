// The form of a scenario of the crash matrix, and of a measure. Features contribute both in a file of their own,
// test/<group>/<feature>/scenarios.ts; every-scenario.ts gathers them.
import type { World } from '../world/panel.ts'

/** Values of measures, by their names. */
type Ending = Readonly<Record<string, unknown>>

/** The state before a job, the call that starts it, and the state after success and after failure. */
export type Scenario = {
  name: string
  /** The kind of job. */
  kind: string
  /** Returns the server's id. */
  before(p: World): Promise<string>
  start(p: World, serverId: string): Promise<{ jobId: string | null; serverId: string }>
  /** The state when it has ended, in the words of the measures or of the matrix's own `measure`. */
  succeeds: Ending
  /**
   * Undefined: it only goes forward, so a failure that passes ends as a success. A function where it depends on how
   * far it came.
   */
  fails?: Ending | ((end: any) => Ending)
  /**
   * Of a job of two nodes: the state after one of them was lost for good at some moment, from whether the job had
   * passed its pivot by its end, and from how it ended. With it, each of both is lost at each moment.
   */
  lost?: Readonly<Record<'nodeId' | 'otherNodeId', (isPast: boolean, end: any) => Ending>>
  /** The error with which it ends where the agent dies with what only its memory has. */
  lostWithAgent?: string
  /** Opens a panel of its own, such as one with more nodes, and measures that. Left out: those of the matrix. */
  open?(): Promise<World>
  measure?(p: World, id: string): Promise<object>
  /** Outside of the long run each tenth moment of a crash, and each failing step undisturbed, are enough. */
  sampled?: true
}

/**
 * Functions that measure what jobs change, by name. Two runs are compared by their values; each says something of the
 * panel's record, of the node, or of both. `id` is the workload that the job was about.
 */
export type Measures = Readonly<Record<string, (p: World, id: string) => unknown>>
