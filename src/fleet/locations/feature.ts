import { feature } from '../../kernel/feature.ts'
import { allowMoves, changeLocation, createLocation, getLocation, listLocations } from './locations.ts'
import { isAnyLocation, locationById, locationChoices, locationTarget } from './queries.ts'
import { locationMoves, locations } from './tables.ts'

const errors = {
  location_not_found: { status: 404, when: 'There is no such location.', remedy: 'Check the id.' },
  location_closed: { status: 409, when: 'The location takes no new servers now.', remedy: 'Offer another location.' },
} as const

const ids = {
  location: { prefix: 'grp', sample: 'Frankfurt', also: ['nodeGroup'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    locations: { ids: typeof ids; errors: typeof errors }
  }
}

export const locationsFeature = feature({
  name: 'locations',
  ids,
  errors,
  tables: [locations, locationMoves],
  operations: [createLocation, listLocations, getLocation, changeLocation, allowMoves],
  poolUsers: { locationName: (tx, id) => locationById(tx, id)?.name },
  auditTargets: [locationTarget],
  // As in the list of packages, which names them too.
  choices: [{ type: 'location', mayRead: ({ kind }) => kind === 'staff', ...locationChoices }],
  checklist: [
    {
      kinds: ['staff'],
      position: 20,
      by: createLocation,
      title: 'First location',
      words: 'A group of nodes that customers see as one place.',
      done: ({ tx }) => isAnyLocation(tx),
      href: () => '/admin/node-groups',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 210,
      name: 'locations',
      title: 'Locations',
      href: '/admin/node-groups',
      icon: 'location',
      sees: listLocations,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 50,
      title: 'Add location',
      page: '/admin/node-groups',
      dialog: true,
      does: createLocation,
    },
  ],
})
