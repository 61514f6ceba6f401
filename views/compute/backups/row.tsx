// Parts of rows of backups, for the page of a server and the list of all.
import type { listAllBackups } from '../../../src/compute/backups/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { State } from '../../components/state.tsx'
import { Delete } from '../snapshots/disk-copies.tsx'

type Backup = Answers<{ b: typeof listAllBackups }>['b']['data'][number]

/** For those who see the backup itself: with a server its owner shares no files of backups. */
export function BrowseFiles({ of: backup, area }: { of: Backup; area: Area }) {
  const { actor } = useAt()
  const isGuest = actor.kind === 'customer' && backup.ownerId !== actor.accountId
  if (backup.state !== 'ready' || isGuest || actor.via.type === 'support') return null
  return (
    <>
      {' '}
      · <Link href={`${area}/backups/${backup.id}/files`}>browse files</Link>
    </>
  )
}

const appearances = {
  running: ['work', 'work', 'In progress'],
  ready: ['ok', 'tick', 'Ready'],
  failed: ['bad', 'fail', 'Failed'],
  deleting: ['work', 'work', 'Being deleted'],
} as const

export function BackupState({ of: backup }: { of: Backup }) {
  const [tone, shape, words] = appearances[backup.state]
  return (
    <State tone={tone} shape={shape}>
      {backup.verifiedAt ? 'Verified' : words}
    </State>
  )
}

type DeleteProps = Pick<Parameters<typeof Delete>[0], 'op' | 'params' | 'title' | 'disabledReason'> & {
  of: Pick<Backup, 'state' | 'startedAt'>
  /** A sentence about what goes with one that is whole, and one about what stays. */
  loss: string
  others: string
}
export const DeleteBackup = ({ of: backup, loss, others, ...more }: DeleteProps) => (
  <Delete
    {...more}
    of={backup.startedAt}
    done={backup.state === 'failed' ? 'Deleted' : 'The backup is being deleted'}
    consequences={[
      backup.state === 'failed' ? 'There is nothing in it: only its record is deleted.' : loss,
      others,
      backup.state === 'ready' && 'A target that is append-only keeps it; it then stays in this list.',
    ]}
  />
)
