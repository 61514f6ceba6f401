import { Type as t } from 'typebox'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { customerData } from '../../identity/account-records/model.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { addressesOf, isOwn } from '../ip-pools/allocate.ts'
import { getFloatingIp, listFloatingIps, renameFloatingIp } from './list.ts'
import { assignFloatingIp, movingFloatingIp, unassignFloatingIp } from './move.ts'
import { locationsOfFloating } from './queries.ts'
import { releaseFloatingIp } from './release.ts'
import { reserveFloatingIp } from './reserve.ts'
import { floatingActions } from './states.ts'
import { floatingIps } from './tables.ts'

const data = t.Object({
  floatingIp: t.Object({ id: t.String(), address: t.String(), location: locationReferred }),
  customer: customerData,
})
const events = {
  'floating_ip.created': event('resellers', 'A floating address is reserved', data),
  'floating_ip.released': event('resellers', 'A floating address is released', data),
}

const errors = {
  floating_ip_not_found: {
    status: 404,
    when: 'There is no such floating address, or it is not yours.',
    remedy: 'Check the id.',
  },
  floating_ip_busy: {
    status: 409,
    when: 'A job moves the floating address.',
    remedy: 'Follow that job, then try again.',
  },
  floating_ip_assigned: { status: 409, when: 'The floating address points to a server.', remedy: 'Unassign it first.' },
  address_not_routed: {
    status: 409,
    when: 'The node of the server does not route the pool of the address.',
    remedy: 'Choose a server in the location of the address, or attach its pool to the node.',
  },
} as const

const ids = { floatingIp: { prefix: 'fip', also: ['floatingAddress'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'floating-ips': { ids: typeof ids; errors: typeof errors; events: typeof events }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  announce_failed: 'The node could not tell its network of the address.',
} as const

export const floatingIpsFeature = feature({
  name: 'floating-ips',
  workloadActions: [floatingActions],
  failures,
  ids,
  errors,
  events,
  tables: [floatingIps],
  poolUsers: { locations: locationsOfFloating },
  jobs: [movingFloatingIp],
  bindsToOwner: (tx, workloadId) =>
    addressesOf(tx, workloadId)
      .filter((held) => !isOwn(held))
      .map(({ address }) => `the floating address ${address}`),
  operations: [
    reserveFloatingIp,
    listFloatingIps,
    getFloatingIp,
    renameFloatingIp,
    assignFloatingIp,
    unassignFloatingIp,
    releaseFloatingIp,
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 225,
      name: 'floating-ips',
      title: 'Floating addresses',
      href: '/admin/floating-ips',
      icon: 'globe',
      within: 'pools',
      sees: listFloatingIps,
    },
    {
      kinds: ['reseller'],
      group: 'Network',
      position: 155,
      name: 'floating-ips',
      title: 'Floating addresses',
      href: '/reseller/floating-ips',
      icon: 'globe',
      sees: listFloatingIps,
    },
    {
      kinds: ['customer'],
      group: 'Network',
      position: 155,
      name: 'floating-ips',
      title: 'Floating addresses',
      href: '/floating-ips',
      icon: 'globe',
      sees: listFloatingIps,
    },
  ],
  async fixture({ admin, customer }) {
    const { data } = await admin('GET', `/servers?ownerId=${customer.id}`)
    const locationId = data[0].location.id
    return { 'floating address': (await admin('POST', `/customers/${customer.id}/floating-ips`, { locationId })).id }
  },
})
