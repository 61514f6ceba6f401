// The state table of imports: for every status and every action the verdict, from which operations and buttons derive.
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { ImportRecord, ImportStatus } from './tables.ts'

type Verdict = 'import_busy' | 'import_started' | 'import_ended' | 'import_not_discovered'
type Row = Readonly<Record<ImportStatus, 'allowed' | Verdict>>

const ended = { finished: 'import_ended', cancelled: 'import_ended' } as const
const started = { migrating: 'import_started', verifying: 'import_started' } as const
const busy = { discovering: 'import_busy', checking: 'import_busy' } as const

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
