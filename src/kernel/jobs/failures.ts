/** Why a job or a step failed: a code that programs read and a sentence that people read. */
export type Failure = { code: string; message: string }

/** The failure of a command, with the code that the node or the hub gave it. */
export class CommandFailed extends Error {
  constructor(
    readonly failure: string,
    message: string,
  ) {
    super(message)
  }
}

/** The failure of an external step. `permanent`: trying again cannot help, so the step fails at once. */
export class ExternalFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly permanent = false,
  ) {
    super(message)
  }
}

/** The runner is stopping: the job goes on at the next start. */
export class Stopped extends Error {}
/** The job waits for its child jobs and goes on when all have ended. */
export class Parked extends Error {}
/** Only tests throw it: it stands for a crash of the controller. */
export class InjectedCrash extends Error {}

/** A job that an error outside its steps stopped, e.g. one of the database. It is begun again. */
export type Interrupted = {
  jobId: string
  /** The error that stopped it, as a sentence. */
  reason: string
  /** The database cannot be written: the job is begun again as soon as it can. */
  byDatabase: boolean
  since: number
  tries: number
  /** When it is begun again; in ms of `performance.now()`. */
  againAt: number
  /** It has a place in its lane. */
  place: boolean
}

/** The last lines of a failed job. */
export const lastLines = {
  undone: 'Failed; everything that was begun has been undone.',
  undoLeft: 'Failed. The node is away: what is left to undo there is undone when it is back.',
} as const

/** The codes with which the runner itself fails a job; every other code comes from the node or from a step. */
export const jobFailures = {
  cancelled: 'Somebody cancelled the job, or another job superseded it.',
  node_unreachable: 'The node stayed away for 15 minutes.',
  node_removed: 'The node was removed or declared lost.',
  child_failed: 'One of its child jobs failed.',
} as const

/** Codes whose message the controller writes for everybody: it names nothing of a node. */
const plainAlready = new Set(['cancelled', 'vm_off', 'hostname_taken', 'no_room_to_reinstall'])

const causes: Record<string, string> = {
  agent_error: 'The software on the host machine has a fault.',
  bad_answer: 'The host machine sent an answer that Berth does not understand.',
  checksum_mismatch: 'The downloaded image is damaged or was replaced.',
  child_failed: 'One of the jobs that it started failed.',
  disk_too_small: 'The disk is too small for the image.',
  does_not_stop: 'The server did not switch off.',
  download_failed: 'The image could not be downloaded.',
  firewall_failed: 'The network rules could not be loaded on the host machine.',
  hypervisor_silent: 'The virtualisation service of the host machine does not respond.',
  image_refused: 'The image cannot be used as a disk.',
  image_too_large: 'The image is larger than the host machine accepts.',
  insecure_download: 'The address of the image is not secure enough to download from.',
  internal_error: 'Berth itself has a fault.',
  invalid_address: 'The host machine cannot use the address that it was sent.',
  invalid_command: 'The host machine refused the command.',
  no_bridge: 'The network of the host machine is not set up.',
  no_image: 'The image is missing on the host machine.',
  no_pool: 'The storage of the host machine is not available.',
  no_port_rules: 'The network rules of the server are missing on the host machine.',
  no_seed: 'The data for the first boot is missing on the host machine.',
  no_virtualisation: 'The host machine cannot run virtual machines.',
  no_vm: 'The virtual machine is missing on the host machine.',
  no_volume: 'The disk is not on the host machine.',
  node_removed: 'The host machine was removed.',
  node_unreachable: 'The host machine could not be reached for 15 minutes.',
  pool_full: 'The storage of the host machine is full.',
  tool_failed: 'A command failed on the host machine.',
  volume_differs: 'The disk on the host machine is not the expected one.',
}

/**
 * One sentence about why it failed, for every reader: the message may hold paths, commands and names of a node, which
 * only staff may read. Of a code that is not known it says where it failed only.
 */
export const plainCause = ({ code, message }: Failure): string =>
  plainAlready.has(code) ? message : (causes[code] ?? 'The host machine reported an error.')
