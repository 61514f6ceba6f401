import { feature } from '../../kernel/feature.ts'
import { addCatalogueImage, changeImage, importImage, listImages, listOfferedImages, removeImage } from './images.ts'
import { images } from './tables.ts'

export const imagesFeature = feature({
  name: 'images',
  tables: [images],
  operations: [addCatalogueImage, importImage, listImages, listOfferedImages, changeImage, removeImage],
})
