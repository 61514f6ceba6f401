import { feature } from '../../kernel/feature.ts'
import { silentGuests } from './attention.ts'
import { getAddressChange } from './show.ts'
import { switching, TRY_EVERY_MS, tellGuests } from './switch.ts'
import { guestSwitches } from './tables.ts'

/** Systems inside servers learn of other addresses: after moves, and after imports. */
export const readdressingFeature = feature({
  name: 'readdressing',
  tables: [guestSwitches],
  jobs: [switching],
  operations: [getAddressChange],
  attention: [silentGuests],
  schedule: [{ everyMs: TRY_EVERY_MS, words: 'telling systems their changed addresses', work: tellGuests }],
})
