// The last drain of a node, on the node's page.
import type { listDrains } from '../../../src/compute/drains/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import { Note } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { EndMaintenance } from './show.tsx'
import { titleOf } from './words.tsx'

type Drain = Answers<{ drains: typeof listDrains }>['drains']['data'][number]

export function Maintenance({ drain }: { drain: Drain | undefined }) {
  if (!drain || (drain.finishedAt !== null && (drain.kind === 'return' || drain.returnedAt !== null))) return null
  const { counts, node } = drain
  const open = (
    <Link class="btn" to="/admin/drains/{id}" params={{ id: drain.id }}>
      Show
    </Link>
  )
  if (drain.finishedAt === null)
    return (
      <Note level="info" action={open}>
        <strong>{titleOf(drain)}</strong>: {counts.moved} of {counts.servers} moved
        {drain.state === 'paused' && ', paused'}.
      </Note>
    )
  const left = counts.servers - counts.moved - counts.gone - counts.stopped
  return (
    <Note
      level={left ? 'warn' : 'info'}
      action={
        <>
          <EndMaintenance node={node} moved={counts.moved} stopped={counts.stopped} />
          {open}
        </>
      }
    >
      <strong>{left ? `${node.name} is not empty.` : `${node.name} is empty.`}</strong> Drained{' '}
      <Time iso={drain.finishedAt} /> by {drain.startedBy.name}: {counts.moved} moved, {counts.stopped} stopped with
      notice, {left} left.{' '}
      {left ? 'Stop what is left before you switch it off.' : 'Nothing runs here: it may be restarted or switched off.'}
    </Note>
  )
}
