// The protocol between controller and agent: the frames, and all that is in them. Both import this file and nothing
// else of each other. The commands stand beside it in `commands/`, a file per driver, and the values in `values/`.
import { type Static, Type as t } from 'typebox'
import { anyText, counter, line, timestamp, workloadId } from './bounds.ts'
import { backupCommands } from './commands/backup.ts'
import { containerCommands } from './commands/container.ts'
import type { everyFailure } from './commands/declare.ts'
import { firewallCommands } from './commands/firewall.ts'
import { gpuCommands } from './commands/gpu.ts'
import { guestAgentCommands } from './commands/guest-agent.ts'
import { httpNamesCommands } from './commands/http-names.ts'
import { hypervisorCommands } from './commands/hypervisor.ts'
import { imageCommands } from './commands/images.ts'
import { sourceRemovalCommands } from './commands/imports/source-removal.ts'
import { privateNetworkCommands } from './commands/private-network.ts'
import { seedCommands } from './commands/seed.ts'
import { sourceHostCommands } from './commands/source-host.ts'
import { storageCommands } from './commands/storage.ts'
import { transferCommands } from './commands/transfer.ts'
import { workspaceCommands } from './commands/workspace.ts'
import { consoleKinds } from './console.ts'
import { MOST_PINS, PIN } from './pin.ts'
import { Addresses, Crash, Facts, Heartbeat, Inventory, Metrics, PowerChange, Traffic } from './values/reports.ts'
import { Copied } from './values/transfers.ts'

export { RestartPolicy, restartPolicies, WORKLOAD_ID } from './bounds.ts'
export { ImageSource, IsoSource, serialOf, Volume } from './values/disks.ts'
export {
  ConfigDrive,
  GuestFileSystem,
  GuestLook,
  GuestSeen,
  GuestSystem,
  MOST_FILE_SYSTEMS,
  purposeOf,
  Seed,
  StartupResult,
} from './values/guests.ts'
export { PortRules, PrivateNetwork, TAP_PREFIX } from './values/ports.ts'
export * from './values/reports.ts'
export { ArrivingDisk, Copied, DiskChecksum, SshTarget } from './values/transfers.ts'
export * from './values/vlans.ts'
export * from './values/vms.ts'

/**
 * Raised when a message changes its meaning, which the rule of docs/protocol.md avoids. An agent with another number is
 * refused. Agents with the same number are told apart by their `capabilities`, never by their version.
 */
export const PROTOCOL = 1

/** Paths on the controller that agents use. */
export const agentPaths = {
  enroll: '/agent/v1/enroll',
  challenge: '/agent/v1/challenge',
  /** A node that is gone confirms that nothing runs on it. Signed as the upgrade is; the refusal has the nonce. */
  stopped: '/agent/v1/stopped',
  connect: '/agent/v1/connect',
  /** One WebSocket per viewer of a console. Signed as the upgrade of `connect` is, with `agentHeaders.console`. */
  console: '/agent/v1/console/',
  /** One WebSocket per question about files of a backup. Signed likewise, with `agentHeaders.files`. */
  files: '/agent/v1/backup-files',
  /** `/agent/v1/images/{id}`: an image that was imported into the controller. Signed as the upgrade is. */
  images: '/agent/v1/images',
  /** `/agent/v1/program/{x64|aarch64}`: the program, for a machine that joins. Needs an enrolment token. */
  program: '/agent/v1/program',
  /** The release that a node is to be brought to (`release/offer.ts`). Signed as the upgrade is, in any protocol. */
  release: '/agent/v1/release',
} as const

/** Headers of an agent's signed requests: the WebSocket upgrade and image downloads. */
export const agentHeaders = {
  node: 'X-Berth-Node',
  nonce: 'X-Berth-Nonce',
  signature: 'X-Berth-Signature',
  protocol: 'X-Berth-Protocol',
  /** The session of a console, as the frame `console` named it. Works once. */
  console: 'X-Berth-Console',
  /** The session of files of a backup, as the frame `files` named it. Works once. */
  files: 'X-Berth-Files',
} as const

/** Codes with which an agent's socket is closed, by the controller but for the last, beside those of WebSocket. */
export const closeCodes = {
  /** The controller stops or restarts: connect again soon. */
  restarting: 1012,
  /** The node was removed or its credential revoked. */
  removed: 4401,
  /** The node's key opened another connection: two agents use it, or this one was thought dead. */
  replaced: 4409,
  /** The agent sent more than a node may, or frames that the controller does not understand. */
  tooMuch: 4429,
  /** From the agent: it has obeyed a controller with a higher epoch, so this one is the one from before. */
  outdated: 4410,
} as const

/** The most bytes of a frame. A longer one closes the socket with 1009. */
export const MOST_FRAME_BYTES = 1 << 20

/** The text that a node's Ed25519 key signs: bound to the purpose, the node and one nonce of the controller's. */
export const signedText = (nodeId: string, nonce: string) => `berth-agent-v1\n${nodeId}\n${nonce}`
/** The text with which the key that a machine has gives its node's place to a new key. */
export const successorText = (token: string, publicKey: string) => `berth-successor-v1\n${token}\n${publicKey}`

// ---------------------------------------------------------------- commands
/** All that a node can be told. */
export const commands = {
  ...imageCommands,
  ...storageCommands,
  ...seedCommands,
  ...firewallCommands,
  ...guestAgentCommands,
  ...privateNetworkCommands,
  ...hypervisorCommands,
  ...backupCommands,
  ...gpuCommands,
  ...containerCommands,
  ...workspaceCommands,
  ...httpNamesCommands,
  ...transferCommands,
  ...sourceHostCommands,
  ...sourceRemovalCommands,
}

/** The names of the commands that this program knows: an agent sends them with its facts. */
export const capabilities: readonly string[] = Object.keys(commands)

type Commands = typeof commands
export type CommandName = keyof Commands
/** The commands that change nothing. */
export type LookName = { [N in CommandName]: Commands[N]['kind'] extends 'look' ? N : never }[CommandName]
export type Input<N extends CommandName> = Static<Commands[N]['input']>
export type Output<N extends CommandName> = Static<Commands[N]['output']>
/** The codes with which a command can fail on a node. */
export type CommandFailure<N extends CommandName = CommandName> =
  | Commands[N]['failures'][number]
  | (typeof everyFailure)[number]

/** The start of the key of a command that looks, beside all jobs, for somebody who waits now: it is asked once. */
export const READ_KEY = 'read/'

/** A command for a node. The runner gives it its key, `<job>/<step>` or `<job>/<step>/undo`. */
export type NodeCommand<N extends CommandName = CommandName> = { nodeId: string; name: N; input: Input<N> }
export const nodeCommand = <N extends CommandName>(nodeId: string, name: N, input: Input<N>): NodeCommand<N> => ({
  nodeId,
  name,
  input,
})

// ---------------------------------------------------------------- frames
export const LogLevel = t.Enum(['info', 'command', 'warning', 'error'])
export type LogLevel = Static<typeof LogLevel>

const key = line(120)

/** Frames from the agent, one JSON text each, at most `MOST_FRAME_BYTES`. */
export const FromAgent = t.Union([
  t.Object({
    type: t.Literal('facts'),
    facts: Facts,
    /** The commands that this agent knows, also those that the controller does not. Left out by early agents. */
    capabilities: t.Optional(t.Array(line(60), { maxItems: 1000 })),
  }),
  Heartbeat,
  Addresses,
  Inventory,
  PowerChange,
  Crash,
  Traffic,
  Metrics,
  t.Object({ type: t.Literal('log'), key, level: LogLevel, text: anyText(4096), at: timestamp }),
  t.Object({
    type: t.Literal('progress'),
    key,
    percent: t.Integer({ minimum: 0, maximum: 100 }),
    /** Of a copy between nodes, at most once a second. */
    copied: t.Optional(Copied),
  }),
  t.Object({ type: t.Literal('done'), key, output: t.Unknown() }),
  t.Object({
    type: t.Literal('failed'),
    key,
    error: t.Object({ code: t.String({ pattern: '^[a-z0-9_]{1,60}$' }), message: anyText(2000) }),
  }),
])
export type FromAgent = Static<typeof FromAgent>

const session = t.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** Frames to the agent. */
export const ToAgent = t.Union([
  /** The first frame after the upgrade. `now` lets the agent measure its clock's skew. */
  t.Object({
    type: t.Literal('welcome'),
    nodeId: line(60),
    controllerVersion: line(64),
    now: timestamp,
    /**
     * Raised when a takeover or a restore puts another database in place; left out: 0. A node that obeyed a higher one
     * closes the connection with `closeCodes.outdated`.
     */
    epoch: t.Optional(counter),
    /** The keys that the node accepts of the controller's certificate from now on. */
    pins: t.Optional(t.Array(t.String({ pattern: `^${PIN}$` }), { minItems: 1, maxItems: MOST_PINS })),
  }),
  t.Object({ type: t.Literal('command'), key, name: line(60), input: t.Unknown() }),
  /** Requests facts, a heartbeat and the inventory at once. */
  t.Object({ type: t.Literal('report') }),
  /** The days of a report of traffic are in the database, up to this number. */
  t.Object({ type: t.Literal('traffic-stored'), seq: counter }),
  /** A viewer waits: the node opens `agentPaths.console` for this session at once. */
  t.Object({
    type: t.Literal('console'),
    session,
    workload: workloadId,
    kind: t.Enum(consoleKinds),
  }),
  /** Somebody asks for files of a backup: the node opens `agentPaths.files` for this session, and is asked there. */
  t.Object({ type: t.Literal('files'), session }),
  /** The node asks at `agentPaths.release` now; `update` of its facts tells what follows. */
  t.Object({ type: t.Literal('lookForRelease') }),
  /** The node runs this version on trial, and the controller saw nothing that speaks against it: it stays. */
  t.Object({ type: t.Literal('acceptRelease'), version: line(64) }),
])
export type ToAgent = Static<typeof ToAgent>

// ---------------------------------------------------------------- enrolment (plain HTTP calls, JSON both ways)
const protocol = t.Integer({ minimum: 0, maximum: 65_535 })

export const EnrollRequest = t.Object({
  token: line(200),
  protocol,
  /** Ed25519, raw 32 bytes, base64url. */
  publicKey: t.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  facts: Facts,
  /** SHA-256 of the machine's id and host name, hex: the same machine is not made a second node. */
  machineId: t.Optional(t.String({ pattern: '^[0-9a-f]{64}$' })),
  /** `successorText`, signed by the key that this machine had until now: it agrees that the new one takes its place. */
  consent: t.Optional(t.String({ pattern: '^[A-Za-z0-9_-]{86}$' })),
})
export type EnrollRequest = Static<typeof EnrollRequest>
/** Errors have the API's form `{ error: { code, message } }`; 401 for a token that is expired or invalid. */
export const EnrollResponse = t.Object({ nodeId: line(60), name: line(253) })
export type EnrollResponse = Static<typeof EnrollResponse>

/**
 * 401 when the node is not known or its key revoked; 426 for another protocol, with what to update. With this code, and
 * the epoch of the controller in its details, the node was declared lost or removed: it stops what runs on it. With a
 * `nonce` in the details, too, the controller waits for `agentPaths.stopped`.
 */
export const DECLARED_LOST = 'node_declared_lost'
export const ChallengeRequest = t.Object({
  nodeId: line(60),
  protocol,
  /** For `agentPaths.release`, which agents of other protocols ask for too. */
  purpose: t.Optional(t.Literal('release')),
})
export const ChallengeResponse = t.Object({ nonce: line(200) })
