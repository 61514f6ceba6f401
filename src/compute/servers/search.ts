import { serverKind } from '../server-records/model.ts'
import { searchOf } from '../workloads/search.ts'

/** Servers by name, address or id, for the palette. */
export const serverSearch = searchOf(serverKind, { type: 'server', position: 10, list: (area) => `${area}/servers` })
