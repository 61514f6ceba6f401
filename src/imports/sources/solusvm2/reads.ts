// Everything that may be asked of SolusVM 2. Its API changes nothing on GET; the list is closed all the same.
import { type AllowedReads, PAGE, SIZE } from '../client/allowed-reads.ts'
import { ID } from '../values/scalars.ts'

const paging = { page: PAGE, per_page: SIZE }

export const reads = {
  account: { path: '/api/v1/account', parameters: {}, keys: ['data'], things: 'account' },
  hypervisors: { path: '/api/v1/compute_resources', parameters: paging, keys: ['data'], things: 'hypervisors' },
  hypervisorNetworks: {
    path: '/api/v1/compute_resources/{id}/networks',
    parameters: {},
    keys: ['data'],
    things: 'networks of a hypervisor',
  },
  packages: { path: '/api/v1/plans', parameters: paging, keys: ['data'], things: 'packages' },
  ranges: { path: '/api/v1/ip_blocks', parameters: paging, keys: ['data'], things: 'ranges' },
  addresses: { path: '/api/v1/ip_blocks/{id}/ips', parameters: paging, keys: ['data'], things: 'addresses' },
  servers: {
    path: '/api/v1/servers',
    parameters: { ...paging, 'filter[compute_resource_id]': ID },
    keys: ['data'],
    things: 'servers',
  },
  server: { path: '/api/v1/servers/{id}', parameters: {}, keys: ['data'], things: 'servers' },
  serverDisks: { path: '/api/v1/servers/{id}/disks', parameters: {}, keys: ['data'], things: 'disks of a server' },
  owners: { path: '/api/v1/users', parameters: paging, keys: ['data'], things: 'owners' },
  images: { path: '/api/v1/os_images', parameters: paging, keys: ['data'], things: 'operating systems' },
} as const satisfies AllowedReads
