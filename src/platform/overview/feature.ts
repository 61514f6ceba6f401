import { feature } from '../../kernel/feature.ts'
import { getOverview } from './overview.ts'
import { getOwnOverview } from './own-overview.ts'

export const overviewFeature = feature({
  name: 'overview',
  operations: [getOverview, getOwnOverview],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 100,
      name: 'overview',
      title: 'Overview',
      href: '/admin',
      icon: 'overview',
      sees: getOverview,
    },
    {
      kinds: ['customer'],
      group: '',
      position: 100,
      name: 'overview',
      title: 'Overview',
      href: '/',
      icon: 'overview',
      sees: getOwnOverview,
    },
  ],
})
