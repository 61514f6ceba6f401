import { serverKind } from '../server-records/model.ts'
import { searchOf, searchToDo } from '../workloads/search.ts'
import { actions } from './actions.ts'

const byName = searchOf(serverKind, { type: 'server', position: 10, list: (area) => `${area}/servers` })
/** Servers by name, address or id, and what is done with one of them, for the palette. */
export const serverSearch = [
  byName,
  searchToDo(byName, { word: 'Reinstall', op: actions.reinstall, behind: '/settings#reinstall', position: 15 }),
]
