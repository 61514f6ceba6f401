// The network of a server: a section per file.
import { inEveryArea } from '../../../components/area.ts'
import { Live } from '../../../components/live.tsx'
import { Addresses } from '../../../network/server-addresses/of-server.tsx'
import { Traffic } from '../../../network/traffic/of-server.tsx'
import { ServerFrame } from '../frame.tsx'
import { Firewall, FirewallCounters } from './firewall.tsx'
import { FloatingAddresses } from './floating.tsx'
import { PrivateNetworks } from './private-networks.tsx'
import { reads } from './reads.ts'

export const serverNetworkPages = inEveryArea({
  path: '/servers/{id}/network',
  reads,
  title: ({ server }) => `Network of ${server.name}`,
  nav: 'servers',
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <Live id="addresses" every={4}>
        <Addresses {...data} area={area} />
      </Live>
      <Live id="firewall" every={4}>
        <Firewall {...data} area={area} />
        <FirewallCounters {...data} area={area} />
      </Live>
      <Live id="floating" every={4}>
        <FloatingAddresses {...data} area={area} />
      </Live>
      <Live id="networks" every={4}>
        <PrivateNetworks {...data} area={area} />
      </Live>
      <Live id="traffic" every={60}>
        <Traffic {...data} area={area} />
      </Live>
    </ServerFrame>
  ),
})
