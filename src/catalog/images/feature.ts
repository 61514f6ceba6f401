import { agentPaths } from '../../../agent/protocol/wire.ts'
import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { unrenewedImages } from './attention.ts'
import { type Distributions, distributionsOver } from './distributions/servers.ts'
import { imageFile } from './download.ts'
import {
  addCatalogueImage,
  changeImage,
  importImage,
  listImageBuilds,
  listImages,
  listOfferedImages,
  removeImage,
} from './images.ts'
import { imageTarget, isAnyImagePublished } from './queries.ts'
import { refreshImage } from './refresh.ts'
import { renewImages } from './renew.ts'
import { imageBuilds, images } from './tables.ts'

const errors = {
  image_not_found: { status: 404, when: 'There is no such image.', remedy: 'Check the id.' },
  signature_refused: {
    status: 409,
    when:
      'The list of checksums of a distribution that signs it has no good signature by its key, or is older than the ' +
      'one that is known. `details.reason` says which.',
    remedy:
      'Try again in an hour. If it stays, ask the distribution, and check what lies between it and the controller.',
    details: { reason: 'changed' },
  },
  not_from_catalogue: {
    status: 409,
    when: 'The image was imported from a file, so no distribution publishes new builds of it.',
    remedy: 'Import the new file as an image of its own.',
  },
} as const

const ids = {
  image: { prefix: 'img', sample: 'Debian 13', also: ['ownImage'] },
} as const

const scopes = {
  'images:write': { words: 'Manage images' },
} as const

const permissions = {
  'images.write': { words: 'Manage images', opens: ['images:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    images: { scopes: typeof scopes; permissions: typeof permissions; ids: typeof ids; errors: typeof errors }
  }
  interface Services {
    distributions: Distributions
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  checksum_mismatch: 'The downloaded image is not the file that its publisher lists.',
  download_failed: 'The image could not be downloaded.',
  download_refused: 'The address of the image must not be downloaded from.',
  image_refused: 'The image cannot be used as a disk.',
  image_too_large: 'The image is larger than the node accepts.',
  insecure_download: 'The address of the image is not secure enough to download from.',
  no_image: 'The image is missing on the node.',
} as const

export const imagesFeature = feature({
  name: 'images',
  failures,
  scopes,
  permissions,
  ids,
  samples: {
    checksum: 'sha256:…',
  },
  errors,
  services: ({ config }) => ({ distributions: distributionsOver(config.localSources) }),
  tables: [images, imageBuilds],
  operations: [
    addCatalogueImage,
    importImage,
    listImages,
    listOfferedImages,
    changeImage,
    refreshImage,
    listImageBuilds,
    removeImage,
  ],
  schedule: [
    { everyMs: 10 * minute, words: 'looking for new builds of images', work: (context) => renewImages(context) },
  ],
  attention: [unrenewedImages],
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
