import { feature } from '../../kernel/feature.ts'
import { adoptBaseline, changingCpu } from './adopt.ts'
import { getBaseline, setBaseline } from './baseline.ts'
import { cpuActions } from './states.ts'

export const cpuBaselineFeature = feature({
  name: 'cpu-baseline',
  workloadActions: [cpuActions],
  samples: {
    cpu: 'Intel(R) Xeon(R) CPU E5-2680 v4',
    proposed: 'Westmere',
    common: 'Westmere',
    cpuModel: 'Westmere',
    cpuModels: 'Westmere',
  },
  jobs: [changingCpu],
  operations: [getBaseline, setBaseline, adoptBaseline],
})
