import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { attachServer, detachServer } from './members.ts'
import { createNetwork, getNetwork, listNetworks, removeNetwork, renameNetwork } from './networks.ts'
import { spreadAll, spreading } from './reconcile.ts'

const errors = {
  network_not_found: {
    status: 404,
    when: 'There is no such private network, or it is not yours.',
    remedy: 'Check the id.',
  },
  network_overlaps: {
    status: 409,
    when: 'The server is in another private network whose range overlaps with this one.',
    remedy: 'Detach it from that network, or make a network with another range.',
  },
  network_full: {
    status: 409,
    when: 'Every address of the private network is taken.',
    remedy: 'Make a network with a larger range.',
  },
} as const

const ids = { privateNetwork: { prefix: 'net', sample: 'backend', also: ['network'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'private-networks': { ids: typeof ids; errors: typeof errors }
  }
}

const nav = (kind: 'staff' | 'reseller' | 'customer', group: string, position: number, href: string) =>
  ({
    kinds: [kind],
    group,
    position,
    name: 'networks',
    title: 'Private networks',
    href,
    icon: 'network',
    sees: listNetworks,
  }) as const

export const privateNetworksFeature = feature({
  name: 'private-networks',
  ids,
  errors,
  jobs: [spreading],
  operations: [createNetwork, listNetworks, getNetwork, renameNetwork, removeNetwork, attachServer, detachServer],
  schedule: [
    {
      everyMs: minute,
      words: 'telling nodes of private networks',
      work: ({ db, app }) => spreadAll(db, app.clock()),
    },
  ],
  nav: [
    { ...nav('staff', 'Infrastructure', 227, '/admin/networks'), within: 'pools' },
    nav('reseller', 'Network', 157, '/reseller/networks'),
    nav('customer', 'Network', 157, '/networks'),
  ],
  async fixture({ admin, customer }) {
    const { data } = await admin('GET', `/servers?ownerId=${customer.id}`)
    const body = { name: 'fixture', locationId: data[0].location.id, ipv4: '10.20.0.0/24' }
    return { 'private network': (await admin('POST', `/customers/${customer.id}/networks`, body)).id }
  },
})
