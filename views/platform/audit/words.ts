// A change in words and with an icon: one place for activity, the newest changes and the audit log.
import { CONSOLE_CLOSED, CONSOLE_OPENED } from '../../../src/compute/console/visit.ts'
import { inPast, pastOf } from '../../../src/kernel/audit/past.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { otherActions, otherLines } from '../../../src/platform/audit/line.ts'
import type { IconName } from '../../components/icon.tsx'

/** The operation in the past tense; where it does several things, the one that was done. */
export function wordsOf({ registry }: Pick<At, 'registry'>, operation: string, action: string | null): string {
  const op = registry.operation(operation)
  const deed = action ? op?.actionWords?.[action] : undefined
  return (
    (deed && inPast(deed)) ??
    (action && otherActions[operation]?.[action]) ??
    (otherLines as Readonly<Record<string, string>>)[operation] ??
    (op && pastOf(op)) ??
    operation
  )
}

/** Of features that have no entry in the navigation: by what their operations are about. */
const ofFeatures: Readonly<Record<string, IconName>> = {
  'set-up': 'checklist',
  'saved-filters': 'search',
  'storage-pools': 'disk',
  installation: 'reinstall',
  guest: 'key',
  rescue: 'anchor',
  speed: 'activity',
  'server-addresses': 'globe',
  console: 'terminal',
  snapshots: 'camera',
  balance: 'transfer',
  'cpu-baseline': 'gpu',
  'bulk-actions': 'checklist',
  drains: 'node',
  'backup-plans': 'history',
  'restore-drills': 'history',
  alerts: 'bell',
  'reverse-dns': 'globe',
  reconciliation: 'activity',
  'gpu-images': 'gpu',
  'gpu-offers': 'gpu',
  'sign-in': 'user',
  sessions: 'user',
  links: 'link',
  'identity-provider': 'fingerprint',
  weakenings: 'shield',
  discovery: 'import',
  mapping: 'import',
  'source-access': 'import',
  'dry-run': 'import',
  migrate: 'import',
  'source-removal': 'import',
  verify: 'import',
  'roll-back': 'import',
  finish: 'import',
  'clean-up': 'import',
  'import-messages': 'mail',
  'controller-backups': 'download',
  updates: 'host',
  'roll-outs': 'host',
}
/** Features of which each change has the icon of what was done: its line stands beside the thing itself. */
const byDeed: ReadonlySet<string> = new Set(['servers', 'gpu-instances'])
const ofActions: Readonly<Record<string, IconName>> = {
  start: 'play',
  stop: 'power',
  shutdown: 'power',
  off: 'square',
  restart: 'restart',
}
/** By the first word of what was done. */
const ofVerbs: Readonly<Record<string, IconName>> = {
  Brought: 'undo',
  Changed: 'settings',
  Created: 'link',
  Deleted: 'trash',
  Ordered: 'plus',
  Rebuilt: 'reinstall',
  Renamed: 'pencil',
  Suspended: 'lock',
  Terminated: 'trash',
  Unsuspended: 'undo',
}
const ofOthers: Readonly<Record<string, IconName>> = { [CONSOLE_OPENED]: 'terminal', [CONSOLE_CLOSED]: 'terminal' }

/** The icon beside the words; undefined for an operation that has none, of which there must be none. */
export function iconOf({ registry }: Pick<At, 'registry'>, operation: string, action: string | null) {
  const op = registry.operation(operation)
  if (!op) return ofOthers[operation] ?? (operation in otherLines ? 'warning' : undefined)
  if (action && op.actionWords && ofActions[action]) return ofActions[action]
  const { name, nav } = registry.featureOf(operation)!
  if (byDeed.has(name)) return ofVerbs[pastOf(op)?.split(' ')[0] ?? '']
  return ofFeatures[name] ?? (nav?.[0]?.icon as IconName | undefined)
}
