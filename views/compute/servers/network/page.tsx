// The network of a server: a section per file.
import { inEveryArea } from '../../../components/area.ts'
import { Beside } from '../../../components/live.tsx'
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
      <Beside of="server" id="network">
        <Addresses {...data} area={area} />
        <Firewall {...data} area={area} />
        <FirewallCounters {...data} area={area} />
        <FloatingAddresses {...data} area={area} />
        <PrivateNetworks {...data} area={area} />
        <Traffic {...data} area={area} />
      </Beside>
    </ServerFrame>
  ),
})
