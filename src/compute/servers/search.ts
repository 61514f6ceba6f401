import { areas } from '../../identity/account-records/areas.ts'
import type { Feature } from '../../kernel/feature.ts'
import { serverKind } from '../server-records/model.ts'
import { searchOf, searchToDo } from '../workloads/search.ts'
import { actions } from './actions.ts'
import { powerServer } from './power.ts'
import { serverRow } from './queries.ts'
import { showServer } from './show.ts'

type Source = NonNullable<Feature['search']>[number]
const listIn = (area: string) => `${area}/servers`

/** The search for servers, with the actions that are open to its actor on one. */
const byName: Source = {
  ...searchOf(serverKind, { type: 'server', position: 10, list: listIn }),
  actions(call, id) {
    const { actor, tx } = call
    const server = showServer(call, serverRow(tx, id))
    const [area, { status, owner }] = [areas[actor.kind], server]
    const seesOwners = actor.scopes.has(actor.kind === 'staff' ? 'customers:read' : 'reseller:customers')
    const hasConsole = status !== 'terminated' && status !== 'pending_setup'
    return [
      ...(hasConsole ? [{ title: 'Open console', href: `${listIn(area)}/${id}/console`, operation: null }] : []),
      ...(server.nodeConnected && server.allowed.includes('restart')
        ? [{ title: 'Restart', href: null, operation: powerServer.id }]
        : []),
      ...(status === 'running' && server.sshCommand
        ? [{ title: 'Copy SSH command', href: null, operation: null, copies: server.sshCommand }]
        : []),
      ...(actor.kind === 'staff' && status !== 'terminated' && actor.scopes.has('servers:move')
        ? [{ title: 'Move', href: `${listIn(area)}/${id}/move`, operation: null }]
        : []),
      ...(seesOwners && owner.id !== actor.accountId
        ? [{ title: `Open owner ${owner.name}`, href: `${area}/customers/${owner.id}`, operation: null }]
        : []),
    ]
  },
}

/** Servers by name, address or id, and what is done with one of them, for the palette. */
export const serverSearch = [
  byName,
  searchToDo(byName, { word: 'Reinstall', op: actions.reinstall, behind: '/settings#reinstall', position: 15 }),
]
