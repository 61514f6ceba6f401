import { feature } from '../feature.ts'
import { searchKinds, searchLetters, searchPlaces, searchTexts } from './tables.ts'

export const searchTextsFeature = feature({
  name: 'search-texts',
  tables: [searchLetters, searchPlaces, searchKinds, searchTexts],
})
