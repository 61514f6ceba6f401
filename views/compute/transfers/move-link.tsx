import { moveServer } from '../../../src/compute/transfers/move.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Icon } from '../../components/icon.tsx'
import { addressOf } from '../../components/link.tsx'
import { refusedBy, type Server } from '../servers/words.ts'

const LABEL = 'Move to another node'
/** Leads to the dialog of a move; off with the reason where the state of the server refuses it. */
export function MoveLink({ server: s, inMenu }: { server: Server; inMenu?: boolean }) {
  if (!useAt().may(moveServer)) return null
  const reason = s.job
    ? 'A job is working on it. Wait until it has ended.'
    : s.rescue
      ? 'It is in rescue. End that first.'
      : refusedBy(s, 'move')
  const look = inMenu ? undefined : 'btn'
  const face = (
    <>
      {inMenu && <Icon name="transfer" />}
      {LABEL}
    </>
  )
  return reason ? (
    <button type="button" class={look} aria-disabled="true" title={reason} data-why={reason}>
      {face}
    </button>
  ) : (
    <a class={look} href={addressOf('/admin/servers/{id}/move', { id: s.id })}>
      {face}
    </a>
  )
}
