import { feature } from '../feature.ts'
import { searchLetters, searchPlaces } from './tables.ts'

export const searchTextsFeature = feature({ name: 'search-texts', tables: [searchLetters, searchPlaces] })
