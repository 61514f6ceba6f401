import { feature } from '../../kernel/feature.ts'
import { changeSpeed, changingSpeed } from './change.ts'
import { speedActions } from './states.ts'
import { tellingSpeed } from './tell.ts'

export const speedFeature = feature({
  name: 'speed',
  workloadActions: [speedActions],
  jobs: [changingSpeed, tellingSpeed],
  operations: [changeSpeed],
})
