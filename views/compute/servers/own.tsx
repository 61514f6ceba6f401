// The servers of a customer, own and shared ones.
import { exportServers, listServers } from '../../../src/compute/servers/list.ts'
import { powerServer } from '../../../src/compute/servers/power.ts'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { recordsOf } from '../../../src/kernel/api/list.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import { type At, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import { inOwnArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Download, List } from '../../components/list.tsx'
import { serverStates } from '../../components/state.tsx'
import { NoServers } from './list.tsx'
import { PowerButton, powerFaces, quickPower } from './power-buttons.tsx'
import { type ListedServer, type ListedServers, ServerTable } from './table.tsx'

/** Most servers on one page, and so the most that can be chosen at once. */
const MOST_CHOSEN = 50

const states = Object.entries(serverStates).filter(([status]) => status !== 'terminated')

export const ownServersPage = page({
  path: '/servers',
  elsewhere: inOwnArea,
  reads: { servers: reading(listServers, ({ query }) => ({ query: { ...query, limit: String(MOST_CHOSEN) } })) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, at }) => (
    <>
      <Head title="Servers" actions={<Download op={exportServers} label="CSV" />} />
      <List
        of={servers}
        noun="server"
        every={4}
        filters={[
          { name: 'q', label: 'Search servers', placeholder: 'Name or address' },
          { name: 'status', label: 'State', options: states },
        ]}
        empty={<NoServers area="" />}
      >
        <OwnServerTable of={servers} choose />
      </List>
      {servers.data.some((s) => mayPower(at, s)) && <Chosen />}
    </>
  ),
})

function mayPower(at: At, s: ListedServer): boolean {
  const rights = rightsWith(s.access)
  return at.may(powerServer) && (!rights || mayCallOn(powerServer, at.actor, rights))
}

const TickAll = () => (
  <label class="tickbox">
    <input type="checkbox" data-tick-all="" aria-label="All on this page" autocomplete="off" />
  </label>
)
const Tick = ({ name }: { name: string }) => (
  <label class="tickbox">
    <input type="checkbox" data-tick="" aria-label={`Choose ${name}`} autocomplete="off" />
  </label>
)

/** `choose`: rows can be ticked for what is done to many. */
export function OwnServerTable({ of, choose }: { of: ListedServers; choose?: boolean }) {
  const at = useAt()
  const servers = of.data
  const tick = {
    all: <TickAll />,
    one: (s: ListedServer) => mayPower(at, s) && <Tick name={s.name} />,
  }
  return (
    <ServerTable
      servers={servers}
      area=""
      records={recordsOf(of)}
      owner={false}
      node={false}
      sortable={choose}
      tick={choose && servers.some((s) => mayPower(at, s)) ? tick : undefined}
      actions={(s) =>
        mayPower(at, s) && (
          <Menu label={`Actions for ${s.name}`} small>
            {quickPower.map((action) => (
              <PowerButton server={s} action={action} inRow />
            ))}
          </Menu>
        )
      }
    />
  )
}

/**
 * Does for every chosen row what its own button does: each server answers for itself, and one message says how it went.
 */
const Chosen = () => (
  <div class="picked" role="region" aria-label="Chosen servers" data-chosen="" hidden>
    <b data-chosen-count="" />
    {quickPower.map((action) => (
      <button type="button" class="btn s" data-press={action}>
        <Icon name={powerFaces[action].icon} />
        <span>{powerFaces[action].label}</span>
        <span class="sr"> chosen</span>
      </button>
    ))}
    <button type="button" class="btn s ico" data-tick-none="" aria-label="Choose none">
      <Icon name="close" />
    </button>
  </div>
)
