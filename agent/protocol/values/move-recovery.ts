// Decides about a vm of a live move that broke off, by the words of both nodes' hypervisors. The caller looks at both
// nodes before, and acts afterwards.

/** How a node has the vm. `paused` on the target: its memory may have arrived, and it has not run there. */
export type Presence = 'running' | 'paused' | 'off' | 'absent' | 'unreachable'
/**
 * `migrated`: the source's vm has ended because it was handed over. `ownedByTarget`: the move is past the point from
 * which the target may resume it.
 */
export type Recovery = { source: Presence; target: Presence; migrated: boolean; ownedByTarget: boolean }
/**
 * `keep_source`: the vm is the source's, remove what the target has, if it has anything. `resume_source`: the same, and
 * then let the paused vm of the source run on. `resume_target`: the target's is the only one; let it run there.
 * `finish`: it runs on the target; tidy up the source. `wait`: a node that decides is away. `stop_target`: both run it,
 * which is a defect; stop the younger one and tell a person. `lost`: no node has it; it starts from its disk where the
 * record says it is at home.
 */
export type RecoveryAction =
  | 'keep_source'
  | 'resume_source'
  | 'resume_target'
  | 'finish'
  | 'wait'
  | 'stop_target'
  | 'lost'

export function recoveryOf({ source, target, migrated, ownedByTarget }: Recovery): RecoveryAction {
  if (source === 'running' && target === 'running') return 'stop_target'
  // The source's vm runs, so it is newer than whatever has arrived.
  if (source === 'running') return target === 'unreachable' && ownedByTarget ? 'wait' : 'keep_source'
  if (target === 'running') return source === 'unreachable' && !ownedByTarget ? 'wait' : 'finish'
  if (source === 'unreachable') return ownedByTarget && target === 'paused' ? 'resume_target' : 'wait'
  if (target === 'unreachable') {
    // Nothing of it can run on the target without the controller, unless it was given over.
    if (ownedByTarget || source === 'absent' || migrated) return 'wait'
    return source === 'paused' ? 'resume_source' : 'keep_source'
  }
  if (target === 'paused') {
    if (ownedByTarget || migrated || source === 'absent') return 'resume_target'
    return source === 'paused' ? 'resume_source' : 'keep_source'
  }
  if (source === 'paused') return 'resume_source'
  return source === 'absent' || migrated ? 'lost' : 'keep_source'
}

/** From `virsh domstate --reason`, such as `shut off (migrated)`. */
export function presenceOf(words: string): { presence: Exclude<Presence, 'unreachable'>; migrated: boolean } {
  const [, state = '', reason = ''] = /^\s*([a-z ]+?)\s*(?:\((.*)\))?\s*$/.exec(words) ?? []
  const presences: Record<string, Exclude<Presence, 'unreachable'>> = {
    running: 'running',
    idle: 'running',
    'in shutdown': 'running',
    paused: 'paused',
    pmsuspended: 'paused',
    'shut off': 'off',
    crashed: 'off',
  }
  const presence = presences[state] ?? 'absent'
  return { presence, migrated: presence === 'off' && reason === 'migrated' }
}
