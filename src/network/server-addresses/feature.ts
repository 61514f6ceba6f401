import { feature } from '../../kernel/feature.ts'
import { addServerAddress } from './add.ts'
import { changingAddresses } from './change.ts'
import { changePrimaryAddress } from './exchange/change.ts'
import { awaitingSwap, exchanging, takingAddress } from './exchange/exchanging.ts'
import { primaryAddressOptions } from './exchange/options.ts'
import { swapPrimaryAddresses } from './exchange/swap.ts'
import { addressNotices, tellOfChange } from './exchange/tell.ts'
import { listServerAddresses } from './list.ts'
import { removeServerAddress } from './remove.ts'
import { addressActions } from './states.ts'

const errors = {
  address_stays: {
    status: 409,
    when:
      'The address is the primary one of the server, or a floating one; or the system of the server cannot be told ' +
      'of another one.',
    remedy: 'A floating address is unassigned; staff can change a primary one, of a server that can be told of it.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'server-addresses': { errors: typeof errors; notices: typeof addressNotices }
  }
}

/** The addresses that belong to a server itself; floating ones are a feature of their own. */
export const serverAddressesFeature = feature({
  name: 'server-addresses',
  workloadActions: [addressActions],
  errors,
  notices: addressNotices,
  onEvent: tellOfChange,
  jobs: [changingAddresses, exchanging, awaitingSwap, takingAddress],
  operations: [
    listServerAddresses,
    addServerAddress,
    removeServerAddress,
    primaryAddressOptions,
    changePrimaryAddress,
    swapPrimaryAddresses,
  ],
})
