// Staff choose rows of a list, or all that its filters leave, and go to the plan of an action for them
// (public/panel/page/rows.js puts the choice into the address).
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { createMessage } from '../../../src/platform/messages/messages.ts'
import { Menu } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import type { Listed } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { type Many, waysFor } from './ways.ts'

/** The page on which a message to their owners is begun. */
const WRITE = '/admin/messages/new'

/** The ticks of a list of staff; undefined where the reader may do nothing with many. */
export function useManyTicks(of: Many) {
  if (!waysFor(useAt(), of).length) return undefined
  return {
    all: (
      <label class="tickbox">
        <input type="checkbox" data-tick-all="" aria-label="All on this page" autocomplete="off" />
      </label>
    ),
    one: ({ name }: { name: string }) => (
      <label class="tickbox">
        <input type="checkbox" data-tick="{}" aria-label={`Select ${name}`} autocomplete="off" />
      </label>
    ),
  }
}

/** The filters of the page's address, without where it stands in the list. */
function useFilter(): string {
  const { cursor: _, limit: __, sort: ___, ...filter } = useAt().query
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString()
}

/** The bar that is shown while a row is ticked. */
export function ChosenOfMany({ of, rows }: { of: Many; rows: Listed }) {
  const at = useAt()
  const filter = useFilter()
  return (
    <div class="picked" role="region" aria-label={`Selected ${of.many}`} data-chosen="" hidden>
      <b data-chosen-count="" />
      {rows.total > rows.data.length && (
        <button type="button" class="btn s" data-tick-matching={filter} data-total={rows.total}>
          All {rows.total.toLocaleString('en')} that match
        </button>
      )}
      {waysFor(at, of).map(([name, { label, icon }]) => (
        <button type="button" class="btn s" data-plan={`${of.path}?do=${name}`}>
          <Icon name={icon} />
          <span>{label}</span>
          <span class="sr"> selected</span>
        </button>
      ))}
      {of.writes && at.may(createMessage) && (
        <button type="button" class="btn s" data-plan={`${WRITE}?to=owners`}>
          <Icon name="mail" />
          <span>Write to owners</span>
        </button>
      )}
      <button type="button" class="btn s ico" data-tick-none="" aria-label="Clear selection">
        <Icon name="close" />
      </button>
    </div>
  )
}

/** On the page of a node: an action for everything on it. */
export function AllOfNode({ of, nodeId, total }: { of: Many; nodeId: string; total: number }) {
  const ways = waysFor(useAt(), of)
  if (!total || !ways.length) return null
  return (
    <Menu label={`Actions for all ${count(total, of.one, of.many)} of this node`} small>
      {ways.map(([name, { label, icon }]) => (
        <Link href={`${of.path}?do=${name}&nodeId=${nodeId}`}>
          <Icon name={icon} />
          {label} all
        </Link>
      ))}
      {of.writes && (
        <Link href={`${WRITE}?nodeId=${nodeId}`}>
          <Icon name="mail" />
          Write to their owners
        </Link>
      )}
    </Menu>
  )
}
