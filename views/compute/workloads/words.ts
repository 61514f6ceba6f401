// Words that every kind of workload has for a button that is off.

type Deciding = { job: object | null; allowed: readonly string[]; locked: boolean }
/**
 * The words for an action that the record does not list as allowed; undefined for one that it lists. `ofState`: the
 * words for its state.
 */
export function whyDisabled(workload: Deciding, action: string, ofState: () => string): string | undefined {
  if (workload.job) return 'A job is working on it. Wait until it has ended.'
  if (workload.allowed.includes(action)) return undefined
  return workload.locked ? 'The account is locked. Ask your provider.' : ofState()
}

/** The next step of its reader while it is suspended. */
export const whileSuspended = ({ allowed }: Pick<Deciding, 'allowed'>) =>
  allowed.includes('unsuspend') ? ' Unsuspend it first.' : ' Ask your provider.'
