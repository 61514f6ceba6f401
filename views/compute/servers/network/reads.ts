// The reads of the network page, which its sections share.

import { type Answers, ifAllowed, ifNamed } from '../../../../src/kernel/web/page.ts'
import { getServerFirewall } from '../../../../src/network/firewalls/server-firewall.ts'
import { listFirewalls } from '../../../../src/network/firewalls/shared.ts'
import { listFloatingIps } from '../../../../src/network/floating-ips/list.ts'
import { listNetworks } from '../../../../src/network/private-networks/networks.ts'
import { listReverseNames } from '../../../../src/network/reverse-dns/set.ts'
import { primaryAddressOptions } from '../../../../src/network/server-addresses/exchange/options.ts'
import { listServerAddresses } from '../../../../src/network/server-addresses/list.ts'
import { getBandwidth } from '../../../../src/network/traffic/top-up.ts'
import type { Area } from '../../../components/area.ts'

import { serverReads } from '../frame.tsx'

export const reads = {
  ...serverReads,
  addresses: listServerAddresses,
  floating: ifNamed(listFloatingIps, (_, { server }: { server: { owner: { id: string } } }) => ({
    query: { ownerId: server.owner.id },
  })),
  reverse: listReverseNames,
  primary: ifAllowed(primaryAddressOptions, ({ params }) => ({ params })),
  networks: ifNamed(listNetworks, (_, { server }: { server: { owner: { id: string } } }) => ({
    query: { ownerId: server.owner.id },
  })),
  bandwidth: getBandwidth,
  firewall: getServerFirewall,
  sharedFirewalls: ifNamed(listFirewalls, (_, { server }: { server: { owner: { id: string } } }) => ({
    params: { id: server.owner.id },
  })),
}
export type NetworkData = Answers<typeof reads> & { area: Area }
