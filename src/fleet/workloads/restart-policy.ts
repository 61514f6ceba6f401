import type { RestartPolicy } from '../../../agent/protocol/wire.ts'

/** Each policy in words, the default first. */
export const restartPolicyWords: Readonly<Record<RestartPolicy, string>> = {
  on_failure: 'Start it again after a crash',
  always: 'Always start it again',
  never: 'Leave it off',
}
