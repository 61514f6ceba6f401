import { troubledVolumes } from '../../fleet/volume-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { count, exactGb } from '../../kernel/words.ts'
import { listVolumes } from './list.ts'
import { visibleTo } from './model.ts'

/** Volumes that are lost with their node, and those that stayed when their server was terminated. */
export const troubledVolumesShown: Source = ({ tx, actor }) => {
  if (!mayCall(listVolumes, actor)) return []
  const { lost, leftBehind } = troubledVolumes(tx, visibleTo(actor))
  const shared = { since: null, action: 'Open volumes', href: `${areas[actor.kind]}/volumes` }
  return [
    ...(lost.n
      ? [
          {
            ...shared,
            level: 'bad' as const,
            what: `${count(lost.n, 'extra volume was', 'extra volumes were')} lost with the machine.`,
            effect: 'Nothing of what was on them can be read. They are billed no more, and stay listed until deleted.',
          },
        ]
      : []),
    ...(leftBehind.n
      ? [
          {
            ...shared,
            level: 'warn' as const,
            what: `${count(leftBehind.n, 'extra volume has', 'extra volumes have')} no server since theirs ended.`,
            effect: `Together ${exactGb(leftBehind.gb)}: kept and billed until somebody attaches or deletes them.`,
          },
        ]
      : []),
  ]
}
