// The servers of a customer, own and shared ones.
import { exportServers, listServers } from '../../../src/compute/servers/list.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { inOwnArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Download, List } from '../../components/list.tsx'
import { serverStates, stateOptions } from '../../components/state.tsx'
import { SavedFilters, savedFilters } from '../../identity/saved-filters/saved.tsx'
import { Chosen, mayChoose, mayPower, tickFiles, useTicks } from './bulk.tsx'
import { lastSeenAs, NoServers } from './list.tsx'
import { PowerMenu } from './power-buttons.tsx'
import { type ListedServers, ServerTable, serverSorts } from './table.tsx'

/** Most servers on one page, and so the most that can be chosen at once. */
const MOST_CHOSEN = 50

const { owner: _, ...ownSorts } = serverSorts
const sorts = Object.values(ownSorts)
const states = stateOptions(serverStates).filter(([status]) => status !== 'terminated')

export const ownServersPage = page({
  path: '/servers',
  elsewhere: inOwnArea,
  reads: {
    servers: reading(listServers, ({ query }) => ({ query: { ...query, limit: String(MOST_CHOSEN) } })),
    saved: savedFilters,
  },
  title: 'Servers',
  nav: 'servers',
  files: tickFiles,
  view: ({ servers, saved, at }) => (
    <>
      <Head title="Servers" actions={<Download op={exportServers} label="CSV" />} />
      <SavedFilters list="servers" of={saved} />
      <List
        of={servers}
        noun="server"
        every={4}
        sorts={sorts}
        filters={[
          { name: 'q', label: 'Search servers', placeholder: 'Name or address' },
          { name: 'state', label: 'State', options: states },
          lastSeenAs(at.query['status']),
          { name: 'label', label: 'Label', value: at.query['label'] },
        ]}
        empty={<NoServers area="" />}
      >
        <OwnServerTable of={servers} choose />
      </List>
      {servers.data.some((s) => mayChoose(at, s)) && <Chosen />}
    </>
  ),
})

/** `choose`: rows can be ticked for what is done to many. */
export function OwnServerTable({ of, choose }: { of: ListedServers; choose?: boolean }) {
  const at = useAt()
  const servers = of.data
  const tick = useTicks(servers)
  return (
    <ServerTable
      servers={servers}
      area=""
      owner={false}
      node={false}
      sortable={choose}
      tick={choose ? tick : undefined}
      actions={(s) => mayPower(at, s) && <PowerMenu server={s} />}
    />
  )
}
