// The state table of imports: for every status and every action the verdict, from which operations and buttons derive.
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { ImportRecord, ImportStatus } from './tables.ts'

type Verdict =
  | 'import_busy'
  | 'import_started'
  | 'import_ended'
  | 'import_not_discovered'
  | 'import_not_checked'
  | 'import_not_migrating'
  | 'import_not_moved'
type Row = Readonly<Record<ImportStatus, 'allowed' | Verdict>>

const ended = { finished: 'import_ended', cancelled: 'import_ended' } as const
const started = { migrating: 'import_started', verifying: 'import_started' } as const
const busy = { discovering: 'import_busy', checking: 'import_busy' } as const
const before = <V extends Verdict>(verdict: V) =>
  ({ draft: verdict, discovering: verdict, mapping: verdict, checking: verdict, ready: verdict }) as const
/** While servers begin to move. */
const migrating = {
  ...before('import_not_migrating'),
  migrating: 'allowed',
  verifying: 'import_not_migrating',
  ...ended,
} as const
/** From the first server that moves until the import is finished. */
const moving = { ...before('import_not_migrating'), migrating: 'allowed', verifying: 'allowed', ...ended } as const

/** Renaming is not here: it is allowed in every status. */
const rows = {
  discover: { draft: 'allowed', mapping: 'allowed', ready: 'allowed', ...busy, ...started, ...ended },
  trust: {
    draft: 'allowed',
    mapping: 'allowed',
    checking: 'allowed',
    ready: 'allowed',
    migrating: 'allowed',
    verifying: 'allowed',
    discovering: 'import_busy',
    ...ended,
  },
  'set-credentials': {
    draft: 'allowed',
    mapping: 'allowed',
    checking: 'allowed',
    ready: 'allowed',
    migrating: 'allowed',
    verifying: 'allowed',
    discovering: 'import_busy',
    ...ended,
  },
  map: { draft: 'import_not_discovered', mapping: 'allowed', ready: 'allowed', ...busy, ...started, ...ended },
  'dry-run': { draft: 'import_not_discovered', mapping: 'allowed', ready: 'allowed', ...busy, ...started, ...ended },
  // A log-in changes nothing that is decided; keys may be missing at any time until the end.
  access: {
    draft: 'import_not_discovered',
    discovering: 'import_busy',
    mapping: 'allowed',
    checking: 'allowed',
    ready: 'allowed',
    migrating: 'allowed',
    verifying: 'allowed',
    ...ended,
  },
  start: {
    draft: 'import_not_discovered',
    mapping: 'import_not_checked',
    ready: 'allowed',
    ...busy,
    ...started,
    ...ended,
  },
  pause: migrating,
  continue: moving,
  'stop-after': migrating,
  limit: migrating,
  retry: moving,
  'cancel-server': moving,
  check: moving,
  accept: moving,
  'roll-back': moving,
  finish: {
    ...before('import_not_moved'),
    migrating: 'import_not_moved',
    verifying: 'allowed',
    ...ended,
  },
  // Invitations go out after its end, too.
  tell: {
    draft: 'import_not_discovered',
    discovering: 'import_busy',
    mapping: 'allowed',
    checking: 'allowed',
    ready: 'allowed',
    migrating: 'allowed',
    verifying: 'allowed',
    finished: 'allowed',
    cancelled: 'import_ended',
  },
  // Asked per node, once an import is finished.
  'remove-source': {
    ...before('import_not_moved'),
    migrating: 'import_not_moved',
    verifying: 'import_not_moved',
    finished: 'allowed',
    cancelled: 'import_ended',
  },
  cancel: {
    draft: 'allowed',
    discovering: 'allowed',
    mapping: 'allowed',
    checking: 'allowed',
    ready: 'allowed',
    // Only while nothing has moved, which the action itself looks at.
    migrating: 'allowed',
    verifying: 'import_started',
    ...ended,
  },
} as const satisfies Record<string, Row>
export type ImportAction = keyof typeof rows
export const importActions = Object.keys(rows) as ImportAction[]

const words: Readonly<Record<Verdict, string>> = {
  import_busy: 'is being read or checked. Wait for its end, or cancel it.',
  import_started: 'has begun to migrate servers.',
  import_ended: 'has ended. Start a new import.',
  import_not_discovered: 'has not read the other panel yet. Let it do so first.',
  import_not_checked: 'has no dry run of what is decided now. Run it first.',
  import_not_migrating: 'moves no servers now.',
  import_not_moved: 'has not moved all of its servers yet. Wait for their end, or stop it.',
}

/** The name of an import in sentences. */
export const titleOf = ({ name, address }: Pick<ImportRecord, 'name' | 'address'>): string =>
  name ?? address.replace(/^https?:\/\//, '')

/** Why the action is refused now; undefined: it is allowed. */
export function disabledReasonOf(
  target: Pick<ImportRecord, 'name' | 'address' | 'status'>,
  action: ImportAction,
): { code: Code; words: string } | undefined {
  const verdict = rows[action][target.status]
  return verdict === 'allowed' ? undefined : { code: verdict, words: `${titleOf(target)} ${words[verdict]}` }
}

/** Throws the refusal of the table. */
export function mustAllow(target: Pick<ImportRecord, 'name' | 'address' | 'status'>, action: ImportAction) {
  const refused = disabledReasonOf(target, action)
  if (refused) throw new ApiError(refused.code, refused.words)
}
