import { feature } from '../../kernel/feature.ts'
import { findChoices } from './choices.ts'

export const choicesFeature = feature({
  name: 'choices',
  operations: [findChoices],
})
