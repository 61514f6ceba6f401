import { mayCall } from '../../kernel/api/operation.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { emptyingPools } from './attention.ts'
import {
  attachPool,
  createPool,
  getPool,
  listPoolAddresses,
  listPoolNodes,
  listPools,
  removePool,
  reserveAddress,
} from './pools.ts'
import { endAddressRest, setQuarantine } from './quarantine/operations.ts'
import { endDueRests, RESTS_ENDED_EVERY_MS } from './quarantine/rest.ts'
import { isAnyAddressFree, poolChoices, poolTarget } from './queries.ts'
import { retireAddress, unretireAddress } from './retirement/operations.ts'
import { followScopes } from './scope.ts'
import { addressClaims, addressCounts, addresses, awaitedNodes, nodeVlans, poolNodes, pools } from './tables.ts'
import { lostVlans } from './vlan/attention.ts'
import { setPoolVlan } from './vlan/set.ts'

const errors = {
  pool_not_found: { status: 404, when: 'There is no such address pool.', remedy: 'Check the id.' },
  address_not_found: { status: 404, when: 'There is no such address.', remedy: 'Check the id.' },
  no_addresses: {
    status: 409,
    when:
      'The pools attached to the nodes lack an address of the package: IPv4, or an IPv6 prefix that it has. Or the ' +
      'database was restored, and not every node has told since which addresses are in use. Or freed ones still rest.',
    remedy: 'Treat it as out of stock; add a pool, or wait for the nodes.',
  },
  pool_overlaps: {
    status: 409,
    when:
      'The range has an address of another pool, or its gateway. A private range can be a pool of each location, ' +
      'where neither is attached to nodes of several.',
    remedy: 'Choose another range or other nodes, or remove that pool.',
  },
  vlan_not_carried: {
    status: 409,
    when: 'A node does not carry the VLAN of the pool on its uplink.',
    remedy: 'Let its switch port have the VLAN and say so on the node with berth agent uplink, or choose other nodes.',
  },
  address_retired: {
    status: 409,
    when: 'The address is never given out again.',
    remedy: 'Let it be given out again first, with pools.unretire-address.',
  },
  address_in_use: { status: 409, when: 'A server has the address.', remedy: 'Choose another, or free it.' },
} as const

const ids = {
  pool: { prefix: 'pool', sample: 'Frankfurt IPv4', also: ['addressPool'] },
  address: { prefix: 'ip', also: ['poolAddress'] },
} as const

const scopes = {
  'network:write': { words: 'Manage address pools' },
} as const

const permissions = {
  'network.write': { words: 'Manage address pools', opens: ['network:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'ip-pools': { scopes: typeof scopes; permissions: typeof permissions; ids: typeof ids; errors: typeof errors }
  }
}

export const ipPoolsFeature = feature({
  name: 'ip-pools',
  scopes,
  permissions,
  ids,
  samples: {
    prefixLength: 24,
    version: 4,
    address: '203.0.113.10',
    addresses: '203.0.113.2/24',
    network: '203.0.113.0/24',
    gateway: '203.0.113.1',
    first: '203.0.113.10',
    last: '203.0.113.250',
    resolvers: '203.0.113.53',
    reservedFor: null,
    retiredFor: null,
  },
  errors,
  tables: [pools, addresses, addressCounts, nodeVlans, poolNodes, addressClaims, awaitedNodes],
  operations: [
    createPool,
    listPools,
    getPool,
    listPoolAddresses,
    listPoolNodes,
    attachPool,
    setQuarantine,
    setPoolVlan,
    reserveAddress,
    endAddressRest,
    retireAddress,
    unretireAddress,
    removePool,
  ],
  schedule: [
    { everyMs: second, words: 'following the scopes of address pools', work: ({ db }) => followScopes(db) },
    { everyMs: RESTS_ENDED_EVERY_MS, words: 'ending the rest of freed addresses', work: endDueRests },
  ],
  attention: [emptyingPools, lostVlans],
  choices: [{ type: 'address pool', mayRead: (actor) => mayCall(listPools, actor), ...poolChoices }],
  auditTargets: [
    {
      ...poolTarget,
      page: ({ id, isGone }, { kind }) => (kind === 'staff' && !isGone ? `/admin/ip-pools/${id}` : undefined),
    },
  ],
  checklist: [
    {
      kinds: ['staff'],
      position: 40,
      by: createPool,
      title: 'Address pool',
      words: 'At least one free address on a node.',
      done: ({ tx }) => isAnyAddressFree(tx),
      href: () => '/admin/ip-pools',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 220,
      name: 'pools',
      title: 'Address pools',
      together: 'Network',
      href: '/admin/ip-pools',
      icon: 'pool',
      sees: listPools,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 60,
      title: 'Add address pool',
      page: '/admin/ip-pools',
      dialog: true,
      does: createPool,
    },
  ],
})
