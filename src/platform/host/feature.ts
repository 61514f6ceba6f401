import { feature } from '../../kernel/feature.ts'
import { fullHost } from './attention.ts'
import { HostFigures, thisHost } from './figures.ts'
import { getPanelHost } from './panel-host.ts'
import { getStatus } from './status.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    /** The machine under the controller. */
    host: HostFigures
  }
}

export const hostFeature = feature({
  name: 'host',
  operations: [getStatus, getPanelHost],
  attention: [fullHost],
  services: ({ config }) => ({ host: new HostFigures(thisHost, config.dataDir) }),
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 300,
      name: 'controller',
      title: 'Controller host',
      href: '/admin/controller',
      icon: 'host',
      sees: getPanelHost,
    },
  ],
})
