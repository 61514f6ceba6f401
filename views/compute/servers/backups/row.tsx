// Parts of rows of backups, for the page of a server and the list of all.
import type { listAllBackups } from '../../../../src/compute/backups/list.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import type { Area } from '../../../components/area.ts'
import { Link } from '../../../components/link.tsx'
import { State } from '../../../components/state.tsx'

type Backup = Answers<{ b: typeof listAllBackups }>['b']['data'][number]

/** For those who see the backup itself: with a server its owner shares no files of backups. */
export function BrowseFiles({ of: it, area }: { of: Backup; area: Area }) {
  const { actor } = useAt()
  const isGuest = actor.kind === 'customer' && it.ownerId !== actor.accountId
  if (it.state !== 'ready' || isGuest || actor.via.type === 'support') return null
  return (
    <>
      {' '}
      · <Link href={`${area}/backups/${it.id}/files`}>browse files</Link>
    </>
  )
}

const looks = {
  running: ['work', 'work', 'In progress'],
  ready: ['ok', 'tick', 'Ready'],
  failed: ['bad', 'fail', 'Failed'],
  deleting: ['work', 'work', 'Being deleted'],
} as const

export function BackupState({ of: it }: { of: Backup }) {
  const [tone, shape, words] = looks[it.state]
  return (
    <State tone={tone} shape={shape}>
      {it.verifiedAt ? 'Verified' : words}
    </State>
  )
}
