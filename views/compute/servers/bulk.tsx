// Power for many servers: ticks in the list, a bar with the actions, and a question before anything happens.
import { powerServer } from '../../../src/compute/servers/power.ts'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { pathOf } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { away, powerFaces, quickPower } from './power-buttons.tsx'
import type { ListedServer } from './table.tsx'
import { disabledReason } from './words.ts'

export function mayPower(at: At, s: ListedServer): boolean {
  const rights = rightsWith(s.access)
  return at.may(powerServer) && (!rights || mayCallOn(powerServer, at.actor, rights))
}

/** The ticks of a table of servers; undefined where the reader may switch none of them. */
export function useTicks(servers: readonly ListedServer[]) {
  const at = useAt()
  if (!servers.some((s) => mayPower(at, s))) return undefined
  return { all: <TickAll />, one: (s: ListedServer) => mayPower(at, s) && <Tick of={s} /> }
}

const TickAll = () => (
  <label class="tickbox">
    <input type="checkbox" data-tick-all="" aria-label="All on this page" autocomplete="off" />
  </label>
)

/** Carries why an action is not possible, by action: the question names those servers. */
function Tick({ of: s }: { of: ListedServer }) {
  const reasons = quickPower.flatMap((action) => {
    const reason = away(s) ?? disabledReason(s, action)
    return reason ? [[action, reason]] : []
  })
  return (
    <label class="tickbox">
      <input
        type="checkbox"
        data-tick={JSON.stringify(Object.fromEntries(reasons))}
        aria-label={`Select ${s.name}`}
        autocomplete="off"
      />
    </label>
  )
}

/** The bar that is shown while a row is ticked, and its question (public/panel/page/rows.js). */
export const Chosen = () => (
  <>
    <div class="picked" role="region" aria-label="Selected servers" data-chosen="" hidden>
      <b data-chosen-count="" />
      {quickPower.map((action) => (
        <button type="button" class="btn s" data-press={action} aria-haspopup="dialog">
          <Icon name={powerFaces[action].icon} />
          <span>{powerFaces[action].label}</span>
          <span class="sr"> selected</span>
        </button>
      ))}
      <button type="button" class="btn s ico" data-tick-none="" aria-label="Clear selection">
        <Icon name="close" />
      </button>
    </div>
    <dialog id="bulk" aria-labelledby="bulk-t" data-url={pathOf(powerServer, { id: '.' })}>
      <div class="stack">
        <h2 id="bulk-t" />
        <div>
          <p />
          <ul class="will" />
        </div>
        <div class="bar end">
          <button type="button" class="btn" data-close="">
            Cancel
          </button>
          <button type="button" class="btn pri" data-bulk="" />
        </div>
      </div>
    </dialog>
  </>
)
