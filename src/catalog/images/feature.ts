import { agentPaths } from '../../../agent/protocol/wire.ts'
import { feature } from '../../kernel/feature.ts'
import { type Distributions, distributionsOver } from './distributions.ts'
import { imageFile } from './download.ts'
import { addCatalogueImage, changeImage, importImage, listImages, listOfferedImages, removeImage } from './images.ts'
import { imageTarget, isAnyImagePublished } from './queries.ts'
import { images } from './tables.ts'

const errors = {
  image_not_found: { status: 404, when: 'There is no such image.', remedy: 'Check the id.' },
} as const
type Errors = typeof errors

const ids = {
  image: { prefix: 'img', sample: 'Debian 13', also: ['ownImage'] },
} as const
type Ids = typeof ids

const scopes = {
  'images:write': { words: 'Manage images' },
} as const
type Scopes = typeof scopes

const permissions = {
  'images.write': { words: 'Manage images', opens: ['images:write'] },
} as const
type Permissions = typeof permissions
declare module '../../kernel/register.ts' {
  interface ScopeNames extends Scopes {}
  interface PermissionNames extends Permissions {}
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
  interface Services {
    distributions: Distributions
  }
}

export const imagesFeature = feature({
  name: 'images',
  scopes,
  permissions,
  ids,
  samples: {
    checksum: 'sha256:…',
  },
  errors,
  services: () => ({ distributions: distributionsOver() }),
  tables: [images],
  operations: [addCatalogueImage, importImage, listImages, listOfferedImages, changeImage, removeImage],
  routes: ({ db, app }) => [['GET', `${agentPaths.images}/*`, (request) => imageFile(db, app, request)]],
  auditTargets: [imageTarget],
  checklist: [
    {
      kinds: ['staff'],
      position: 50,
      by: addCatalogueImage,
      title: 'Image',
      words: 'A published operating system.',
      done: ({ tx }) => isAnyImagePublished(tx),
      href: () => '/admin/images',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 230,
      name: 'images',
      title: 'Images',
      href: '/admin/images',
      icon: 'image',
      sees: listImages,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 70,
      title: 'Import image from file',
      page: '/admin/images',
      dialog: true,
      does: importImage,
    },
  ],
})
