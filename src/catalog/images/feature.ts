import { feature } from '../../kernel/feature.ts'
import { addCatalogueImage, changeImage, importImage, listImages, listOfferedImages, removeImage } from './images.ts'
import { images } from './tables.ts'

const errors = {
  image_not_found: { status: 404, when: 'There is no such image.', remedy: 'Check the id.' },
} as const
type Errors = typeof errors
declare module '../../kernel/register.ts' {
  interface ErrorCodes extends Errors {}
}

export const imagesFeature = feature({
  name: 'images',
  errors,
  tables: [images],
  operations: [addCatalogueImage, importImage, listImages, listOfferedImages, changeImage, removeImage],
})
