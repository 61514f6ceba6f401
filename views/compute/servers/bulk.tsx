// Actions for many servers: ticks in the list, a bar with the actions, and a question before anything happens.
import type { AssetName } from '../../../public/assets.ts'
import { suspendServer, unsuspendServer } from '../../../src/compute/servers/life/suspend.ts'
import { powerServer } from '../../../src/compute/servers/power.ts'
import { labelServer } from '../../../src/compute/servers/settings/labels.ts'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { mayCallOn, type Operation } from '../../../src/kernel/api/operation.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { pathOf } from '../../components/action.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { away, powerFaces, quickPower } from './power-buttons.tsx'
import type { ListedServer } from './table.tsx'
import { disabledReason } from './words.ts'

/**
 * Done to each server that is ticked. The `?` in `body` is typed by the person under `field`. `anywhere`: also while
 * its node is away.
 */
type Bulk = { op: Operation; label: string; icon: IconName; body: object; field?: string; anywhere?: true }
const bulk: Readonly<Record<string, Bulk>> = {
  ...Object.fromEntries(
    quickPower.map((action) => [action, { op: powerServer, ...powerFaces[action], body: { action } }]),
  ),
  suspend: {
    op: suspendServer,
    label: 'Suspend',
    icon: 'hold',
    body: { reason: '?' },
    field: 'Reason',
    anywhere: true,
  },
  unsuspend: { op: unsuspendServer, label: 'Unsuspend', icon: 'play', body: {}, anywhere: true },
  label: { op: labelServer, label: 'Add label', icon: 'plus', body: { add: ['?'] }, field: 'Label', anywhere: true },
}
/** Those that the reader may use on some server. */
const bulkFor = (at: At) => Object.entries(bulk).filter(([, { op }]) => at.may(op))

function mayUse(at: At, op: Operation, s: ListedServer): boolean {
  const rights = rightsWith(s.access)
  return at.may(op) && (!rights || mayCallOn(op, at.actor, rights))
}
export const mayPower = (at: At, s: ListedServer): boolean => mayUse(at, powerServer, s)
/** May the reader use any of the actions on it? */
export const mayChoose = (at: At, s: ListedServer): boolean => bulkFor(at).some(([, { op }]) => mayUse(at, op, s))

/** The files of pages with ticks. */
export const tickFiles = ['rows.mjs'] satisfies AssetName[]

/** The ticks of a table of servers; undefined where the reader may do nothing with any of them. */
export function useTicks(servers: readonly ListedServer[]) {
  const at = useAt()
  if (!servers.some((s) => mayChoose(at, s))) return undefined
  return { all: <TickAll />, one: (s: ListedServer) => mayChoose(at, s) && <Tick of={s} /> }
}

const TickAll = () => (
  <label class="tickbox">
    <input type="checkbox" data-tick-all="" aria-label="All on this page" autocomplete="off" />
  </label>
)

function disabledIn(at: At, s: ListedServer, action: string, { op, anywhere }: Pick<Bulk, 'op' | 'anywhere'>) {
  if (!mayUse(at, op, s)) return 'You may not do that with it.'
  if (action === 'label') return undefined
  if (!anywhere) return away(s) ?? disabledReason(s, action)
  // A suspension does not wait for the job that is open.
  return disabledReason({ ...s, job: null }, action)
}

/** Carries why an action is not possible, by action: the question names those servers. */
function Tick({ of: s }: { of: ListedServer }) {
  const at = useAt()
  const reasons = bulkFor(at).flatMap(([action, { op, anywhere }]) => {
    const reason = disabledIn(at, s, action, { op, ...(anywhere && { anywhere }) })
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
      {bulkFor(useAt()).map(([action, { op, label, icon, body, field }]) => (
        <button
          type="button"
          class="btn s"
          data-press={action}
          data-url={pathOf(op, { id: '.' })}
          data-body={JSON.stringify(body)}
          data-field={field}
          aria-haspopup="dialog"
        >
          <Icon name={icon} />
          <span>{label}</span>
          <span class="sr"> selected</span>
        </button>
      ))}
      <button type="button" class="btn s ico" data-tick-none="" aria-label="Clear selection">
        <Icon name="close" />
      </button>
    </div>
    <dialog id="bulk" aria-labelledby="bulk-t">
      <div class="stack">
        <h2 id="bulk-t" />
        <div>
          <p />
          <ul class="will" />
        </div>
        <div class="f" data-typed="">
          <label for="bulk-typed">Reason</label>
          <input id="bulk-typed" autocomplete="off" />
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
