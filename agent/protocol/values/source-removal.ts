// The software of another panel on a node whose servers were adopted, in the protocol.
import { type Static, Type as t } from 'typebox'
import { anyText, counter, line } from '../bounds.ts'
import { address } from './ports.ts'

/** The panels whose software is known: what it leaves on a hypervisor is a table of the agent. */
export const removalPanels = ['solusvm2', 'virtualizor'] as const
export type RemovalPanel = (typeof removalPanels)[number]

/** The id of one removal. A node keeps its journal under it. */
export const removalId = t.String({ pattern: '^[a-z0-9_-]{1,60}$' })

/** As `ssh-keygen -l` shows it. */
export const keyFingerprint = t.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$', maxLength: 50 })

/**
 * `panelAddresses`: those of the panel itself. `controlKeys`: fingerprints of the keys by which the control server
 * signs in, where a person has named them.
 */
export const RemovalScope = t.Object({
  panel: t.Enum([...removalPanels]),
  panelAddresses: t.Array(address, { maxItems: 40 }),
  controlKeys: t.Array(keyFingerprint, { maxItems: 20 }),
})
export type RemovalScope = Static<typeof RemovalScope>

const path = line(1024)
const count = t.Integer({ minimum: 0, maximum: 1_000_000_000 })

export const removalKinds = [
  'service',
  'processes',
  'container',
  'cron_file',
  'cron_lines',
  'key_line',
  'folder',
] as const
/** One thing that a removal touches. `files` and `bytes`: of what is moved; null: it is no file, or was not counted. */
export const RemovalItem = t.Object({
  kind: t.Enum([...removalKinds]),
  name: path,
  now: line(300),
  becomes: path,
  files: t.Union([count, t.Null()]),
  bytes: t.Union([counter, t.Null()]),
})
export type RemovalItem = Static<typeof RemovalItem>

/** A thing that looks like the panel's and is left as it is, and the reason. */
export const LeftAlone = t.Object({ name: path, why: line(500) })
export type LeftAlone = Static<typeof LeftAlone>

/**
 * A bridge that servers use. `definedIn`: the file of the node's own settings that makes it at boot; null: none does,
 * and `why` says what is missing. `commands`: what a person runs as root to write its definition; null: it has one.
 */
export const RemovalBridge = t.Object({
  name: line(60),
  servers: count,
  exists: t.Boolean(),
  definedIn: t.Union([path, t.Null()]),
  why: line(500),
  settings: t.Union([line(60), t.Null()]),
  commands: t.Union([anyText(16_384), t.Null()]),
})
export type RemovalBridge = Static<typeof RemovalBridge>

/** A key that lets somebody sign in as root. */
export const RootKey = t.Object({ type: line(60), comment: line(200), fingerprint: line(80), isOurs: t.Boolean() })
export type RootKey = Static<typeof RootKey>

const MOST_ITEMS = 500
const items = t.Array(RemovalItem, { maxItems: MOST_ITEMS })
const left = t.Array(LeftAlone, { maxItems: MOST_ITEMS })

export const RemovalPreview = t.Object({
  items,
  left,
  bridges: t.Array(RemovalBridge, { maxItems: 60 }),
  /** The network service and the folders of the panel stay: a bridge of servers would be gone after the next boot. */
  networkStays: t.Boolean(),
  /** Domains of libvirt that are no servers of Berth; the first of them by name. */
  foreign: t.Array(line(200), { maxItems: 100 }),
  foreignCount: count,
  runningServers: count,
  /** The panel itself runs here: its containers, or services that only the panel has. */
  panelRunsHere: t.Boolean(),
  rootKeys: t.Array(RootKey, { maxItems: 100 }),
  /** The commands by which root does the same by hand; null: there is nothing to do. */
  commands: t.Union([anyText(65_536), t.Null()]),
})
export type RemovalPreview = Static<typeof RemovalPreview>

/** `folder`: where everything is now. `verified`: the servers that ran before and run on, with their bridges. */
export const Removed = t.Object({
  folder: path,
  items,
  left,
  verified: t.Object({ servers: count, bridges: count }),
})
export type Removed = Static<typeof Removed>

/** `left`: what could not be put back, because something else has its place. */
export const Restored = t.Object({ restored: count, left })
export type Restored = Static<typeof Restored>
