import { feature } from '../../kernel/feature.ts'
import { exportAddressHistory, stateAddress } from './files.ts'
import { endedHoldings, historyDays, keepAddressHistory } from './keep.ts'
import { addressSearch } from './search.ts'
import { getAddress, listAddressHistory, listPoolHistory } from './show.ts'
import { addressHistory, addressHistoryDue } from './tables.ts'

/** The history of addresses: who had each, and when. */
export const addressHistoryFeature = feature({
  name: 'address-history',
  tables: [addressHistory, addressHistoryDue],
  expiring: [endedHoldings],
  settings: [historyDays],
  services({ db, clock }) {
    keepAddressHistory(db, clock)
    return {}
  },
  operations: [getAddress, listAddressHistory, exportAddressHistory, stateAddress, listPoolHistory],
  search: [addressSearch],
})
