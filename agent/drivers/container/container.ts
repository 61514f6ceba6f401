import type { Container, ContainerEnd, ContainerEngine, ContainerImage } from '../../protocol/gpu.ts'
import type { Power } from '../../protocol/wire.ts'
import type { Fittings } from '../access/access.ts'
import type { PowerEvent, Seen, Usage } from '../hypervisor/hypervisor.ts'

/** The login at a registry. */
export type Login = { username: string; password: string }

/** `end`: of a container that is off although no command stopped it. */
export type SeenContainer = Seen & { end?: ContainerEnd }
export type ContainerEvent = PowerEvent & { end?: ContainerEnd }

/** The parts of an instance beside its image: the file of its workspace, and the names of its cards for CDI, too. */
export type Given = Fittings & { workspace: string; devices: readonly string[] }

/**
 * Whole lines. `cursor`: the end of what was read, as `LOG_CURSOR` says.
 * `skipped`: lines between the cursor that was given and the text were left out.
 */
export type LogPart = { text: string; cursor: string; skipped: boolean }

/** The card troubles of these cards since a time, in ms since 1970, in plain words. */
export type TroublesSince = (uuids: readonly string[], at: number) => readonly string[]

/**
 * A container engine, as far as the agent needs one. A container is named by its workload's id; those without Berth's
 * mark are never changed. Every method that changes something converges. All throw `container_engine_silent` when the
 * engine does not answer, and those that need it `no_container_engine` on a host that lacks parts of it.
 */
export interface Containers {
  /** Undefined on a host without container engine. */
  engine(): Promise<ContainerEngine | undefined>
  /**
   * Brings the image unless it is here; calls for the same image share one download. Answers the sum of its compressed
   * layers. Throws `image_too_large`, `registry_refused`, `no_image`, `registry_unreachable`, `download_refused` or
   * `pool_full`, and then stores nothing.
   */
  ensureImage(image: ContainerImage, login: Login | undefined): Promise<{ sizeBytes: number }>
  /** Deletes the image; without one it does nothing. A container that was made from it goes on. */
  removeImage(id: string): Promise<void>
  hasImage(id: string): Promise<boolean>
  /**
   * Makes the container. One that differs is stopped and made anew; one that is the same stays, also when it runs.
   * Throws `no_container_image`, `slot_taken`, `no_card`, and `container_not_started` where the engine refuses it.
   */
  create(container: Container, given: Given): Promise<void>
  /** `absent` without a container. */
  power(workload: string): Promise<Power>
  /** Starts the container. Throws `no_container`, `no_card`, `container_not_started`. */
  start(workload: string): Promise<void>
  /** Asks its command to end, waits up to `graceSeconds`, then kills it; 0: at once. Throws `does_not_stop`. */
  stop(workload: string, graceSeconds: number): Promise<void>
  /** Stops and deletes the container. */
  remove(workload: string): Promise<void>
  /** Every container with Berth's mark. Where the engine is silent, from the kernel alone. */
  look(): Promise<SeenContainer[]>
  /** Disks and memory of every container that runs. */
  usage(): Promise<Usage[]>
  /**
   * The last lines of what it has written, on both outputs; with a cursor of an earlier answer the last of those that
   * came since. A cursor that says nothing here counts as none. Throws `no_container`.
   */
  logs(workload: string, lines: number, since?: string): Promise<LogPart>
  /** Runs a program in it as its root, and answers the exit code. Throws `tool_failed` where it does not run. */
  runInside(workload: string, command: readonly string[]): Promise<number>
  /** Yields changes of power as they happen. Ends when its source breaks off; the caller then subscribes again. */
  events(signal: AbortSignal): AsyncIterable<ContainerEvent>
  /** The engine may end; containers run on. */
  close(): void
}
