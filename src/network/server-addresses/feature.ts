import { feature } from '../../kernel/feature.ts'
import { addServerAddress } from './add.ts'
import { changingAddresses } from './change.ts'
import { listServerAddresses } from './list.ts'
import { removeServerAddress } from './remove.ts'
import { addressActions } from './states.ts'

const errors = {
  address_stays: {
    status: 409,
    when: 'The address is the primary one of the server, or a floating one.',
    remedy: 'A floating address is unassigned; a primary one goes with the server.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'server-addresses': { errors: typeof errors }
  }
}

/** The addresses that belong to a server itself; floating ones are a feature of their own. */
export const serverAddressesFeature = feature({
  name: 'server-addresses',
  workloadActions: [addressActions],
  errors,
  jobs: [changingAddresses],
  operations: [listServerAddresses, addServerAddress, removeServerAddress],
})
