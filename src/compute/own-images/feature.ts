import { feature } from '../../kernel/feature.ts'
import { ownImageGib } from './model.ts'
import { addOwnImage, listOwnImages, removeOwnImage, renameOwnImage } from './own-images.ts'

export const ownImagesFeature = feature({
  name: 'own-images',
  settings: [ownImageGib],
  operations: [addOwnImage, listOwnImages, renameOwnImage, removeOwnImage],
  nav: [
    {
      kinds: ['reseller', 'customer'],
      group: 'Account',
      position: 417,
      name: 'own-images',
      menu: true,
      title: 'Own images',
      href: '/images',
      icon: 'image',
      sees: listOwnImages,
    },
  ],
  async fixture({ admin, customer }) {
    const { url, checksum } = addOwnImage.example!
    return {
      'own image': (await admin('POST', `/customers/${customer.id}/images`, { name: 'fixture', url, checksum })).id,
    }
  },
  actions: [
    { kinds: ['reseller', 'customer'], position: 217, title: 'Add own image', page: '/images', does: addOwnImage },
  ],
})
