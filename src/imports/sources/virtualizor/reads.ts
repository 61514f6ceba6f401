// Everything that may be asked of Virtualizor. It acts upon GET requests too, so the acts and each of their parameters
// are listed; an act that could change something with other parameters has none of these here.
import { type AllowedReads, PAGE, SIZE } from '../client/allowed-reads.ts'

const path = '/index.php'
const paging = { page: PAGE, reslen: SIZE }
const act = <Name extends string>(name: Name) => ({ act: name, api: 'json' }) as const

export const reads = {
  hypervisors: {
    path,
    always: act('servers'),
    parameters: paging,
    keys: ['servs', 'servers'],
    things: 'hypervisors',
  },
  packages: { path, always: act('plans'), parameters: paging, keys: ['plans'], things: 'packages' },
  pools: { path, always: act('ippool'), parameters: paging, keys: ['ippools'], things: 'ranges' },
  addresses: { path, always: act('ips'), parameters: paging, keys: ['ips'], things: 'addresses' },
  prefixes: { path, always: act('ipranges'), parameters: paging, keys: ['ips', 'ipranges'], things: 'IPv6 prefixes' },
  owners: { path, always: act('users'), parameters: paging, keys: ['users'], things: 'owners' },
  servers: { path, always: act('vs'), parameters: paging, keys: ['vs'], things: 'servers' },
  states: {
    path,
    always: act('vs'),
    parameters: { vs_status: /^[A-Za-z0-9_.-]{1,64}(,[A-Za-z0-9_.-]{1,64}){0,499}$/ },
    keys: ['status'],
    things: 'states of servers',
  },
} as const satisfies AllowedReads
