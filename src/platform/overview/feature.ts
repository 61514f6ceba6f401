import { feature } from '../../kernel/feature.ts'
import { DOCUMENTS_ROOT } from '../documents/documents.ts'
import { listNavigationMarks } from './navigation-marks.ts'
import { getOverview } from './overview.ts'
import { getOwnOverview } from './own-overview.ts'

export const overviewFeature = feature({
  name: 'overview',
  operations: [getOverview, getOwnOverview, listNavigationMarks],
  nav: [
    {
      kinds: ['staff'],
      group: 'Account',
      position: 460,
      name: 'documents',
      menu: true,
      title: 'Documentation',
      href: DOCUMENTS_ROOT,
      icon: 'book',
      sees: getOverview,
    },
    {
      kinds: ['reseller', 'customer'],
      group: 'Account',
      position: 460,
      name: 'documents',
      menu: true,
      title: 'Handbook',
      href: DOCUMENTS_ROOT,
      icon: 'book',
      sees: getOwnOverview,
    },
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
