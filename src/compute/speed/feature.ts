import { feature } from '../../kernel/feature.ts'
import { changeSpeed, changingSpeed } from './change.ts'
import { tellingSpeed } from './tell.ts'

export const speedFeature = feature({
  name: 'speed',
  jobs: [changingSpeed, tellingSpeed],
  operations: [changeSpeed],
})
