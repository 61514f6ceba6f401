import { type BackupTrouble, backupFailureCode } from '../../../agent/protocol/backup.ts'

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

/** The troubles of backups, for people who have no access to the place where they are kept. */
const backupCauses: Readonly<Record<BackupTrouble, string>> = {
  restic_missing: 'The host machine lacks the program for backups.',
  not_prepared: 'The place for backups is not mounted on the host machine.',
  unreachable: 'The place for backups does not answer.',
  certificate: 'The certificate of the place for backups is not trusted.',
  host_key: 'The place for backups is not the host that it was.',
  login_refused: 'The place for backups refuses the login.',
  not_writable: 'The place for backups cannot be written.',
  wrong_password: 'What lies in the place for backups cannot be opened with the key of this account.',
  locked: 'Another backup is being made or removed in the same place. It can be tried again later.',
  full: 'The place for backups is full.',
  slow: 'The place for backups answers too slowly.',
  unreliable: 'The place for backups gave back something else than it was given.',
  backups_missing: 'The backups are no longer in the place for backups.',
  failed: 'The backup program on the host machine failed.',
  no_snapshot: 'The backup is no longer in the place for backups.',
  damaged: 'The backup is damaged.',
  append_only: 'The place for backups lets nobody remove anything.',
  interrupted: 'The backup was stopped before it was complete.',
}

const causes: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(backupCauses).map(([trouble, words]) => [backupFailureCode(trouble as BackupTrouble), words]),
  ),
  agent_error: 'The software on the host machine has a fault.',
  announce_failed: 'The host machine could not tell its network of the address.',
  bad_answer: 'The host machine sent an answer that Berth does not understand.',
  checksum_mismatch: 'The downloaded image is not the file that its publisher lists.',
  card_broken: 'A card of the host machine is broken.',
  child_failed: 'One of the jobs that it started failed.',
  container_ended: 'The container ended as soon as it was started.',
  disk_too_small: 'The disk is too small for the image.',
  does_not_stop: 'The server did not switch off.',
  download_refused: 'The address of the image must not be downloaded from.',
  drill_no_answer: 'The restored system did not answer.',
  drill_off: 'The restored system switched itself off.',
  drill_panic: 'The restored system stopped with an error while it started.',
  download_failed: 'The image could not be downloaded.',
  firewall_failed: 'The network rules could not be loaded on the host machine.',
  guest_agent_broken: 'The guest agent inside the server sent an answer that makes no sense.',
  guest_agent_silent: 'No guest agent answers inside the server.',
  guest_frozen: 'The server’s file systems are frozen for a backup.',
  guest_refused: 'The system inside the server refused the request.',
  guest_timeout: 'The program inside the server took too long.',
  http_proxy_refused: 'The proxy for the HTTP ports of instances refuses its configuration.',
  hypervisor_silent: 'The virtualisation service of the host machine does not respond.',
  image_refused: 'The image cannot be used as a disk.',
  image_too_large: 'The image is larger than the host machine accepts.',
  insecure_download: 'The address of the image is not secure enough to download from.',
  instance_network: 'The network for container instances on the host machine has a mistake.',
  internal_error: 'Berth itself has a fault.',
  invalid_address: 'The host machine cannot use the address that it was sent.',
  invalid_command: 'The host machine refused the command.',
  container_engine_silent: 'The container engine of the host machine does not respond.',
  container_not_started: 'The container could not be started.',
  no_bridge: 'The network of the host machine is not set up.',
  no_card: 'A card is missing on the host machine.',
  no_container: 'The container is missing on the host machine.',
  no_container_engine: 'The host machine is not set up for container instances.',
  no_container_image: 'The image is missing on the host machine.',
  no_http_proxy: 'The host machine lacks the proxy for the HTTP ports of instances.',
  no_firmware: 'The host machine cannot run machines of this kind.',
  no_iso: 'The ISO is missing on the host machine.',
  no_image: 'The image is missing on the host machine.',
  no_pool: 'The storage of the host machine is not available.',
  no_port_rules: 'The network rules of the server are missing on the host machine.',
  encrypted_for_another:
    'The host machine has another key since the password was made. Start the job again for a new password.',
  no_seed: 'The data for the first boot is missing on the host machine.',
  no_virtualisation: 'The host machine cannot run virtual machines.',
  no_vm: 'The virtual machine is missing on the host machine.',
  no_serial_line: 'The server was started without a serial line.',
  layer_in_use: 'The part of the disk is still needed.',
  no_workspace: 'The workspace of the instance is missing on the host machine.',
  no_volume: 'The disk is not on the host machine.',
  node_removed: 'The host machine was removed.',
  node_unreachable: 'The host machine could not be reached for 15 minutes.',
  not_running: 'The server is not running.',
  port_taken: 'A port of the host machine is already in use.',
  pool_silent: 'The storage of the host machine does not respond.',
  pool_full: 'The storage of the host machine is full.',
  pool_unsafe: 'The storage of the host machine is not set up safely, so it is not used.',
  pools_file: 'The list of storage pools on the host machine has a mistake.',
  registry_refused: 'The registry of the image refuses the login.',
  registry_unreachable: 'The registry of the image does not answer.',
  slot_taken: 'Another instance of the host machine is in the way.',
  ssh_kit: 'The host machine lacks what instances need for SSH.',
  tool_failed: 'A command failed on the host machine.',
  tool_missing: 'A program is missing on the host machine.',
  tool_timeout: 'A command on the host machine took too long.',
  volume_held: 'The system in the server did not release the volume. Unmount it there, or shut the server down.',
  volume_in_use: 'The volume is attached to another server on the host machine.',
  volume_differs: 'The disk on the host machine is not the expected one.',
  workspace_busy: 'The workspace of the instance is in use.',
  workspace_damaged: 'The file system of the workspace is damaged.',
}

/**
 * One sentence about why it failed, for every reader: the message may hold paths, commands and names of a node, which
 * only staff may read. Of a code that is not known it says where it failed only.
 */
export const plainCause = ({ code, message }: Failure): string =>
  plainAlready.has(code) ? message : (causes[code] ?? 'The host machine reported an error.')
