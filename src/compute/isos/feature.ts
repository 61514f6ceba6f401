import { feature } from '../../kernel/feature.ts'
import { addIso, listIsos } from './library.ts'
import { isoTarget } from './queries.ts'
import { removeIso, removingIso } from './remove.ts'
import { isoCopies, isos } from './tables.ts'

const errors = {
  iso_not_found: { status: 404, when: 'There is no such ISO, or it is not yours.', remedy: 'Check the id.' },
} as const

const ids = { iso: { prefix: 'iso', sample: 'Debian 13 netinst', also: ['ISO'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    isos: { ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  no_iso: 'The ISO is missing on the node.',
} as const

export const isosFeature = feature({
  name: 'isos',
  failures,
  ids,
  errors,
  tables: [isos, isoCopies],
  jobs: [removingIso],
  operations: [listIsos, addIso, removeIso],
  auditTargets: [isoTarget],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 232,
      name: 'isos',
      title: 'ISOs',
      href: '/admin/isos',
      icon: 'disk',
      within: 'images',
      sees: listIsos,
    },
    {
      kinds: ['reseller'],
      group: 'Account',
      position: 418,
      name: 'isos',
      menu: true,
      title: 'ISOs',
      href: '/reseller/isos',
      icon: 'disk',
      sees: listIsos,
    },
    {
      kinds: ['customer'],
      group: 'Account',
      position: 418,
      name: 'isos',
      menu: true,
      title: 'ISOs',
      href: '/isos',
      icon: 'disk',
      sees: listIsos,
    },
  ],
})
