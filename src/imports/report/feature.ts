import { feature } from '../../kernel/feature.ts'
import { exportReport, getReport } from './report.ts'
import { scriptOperations } from './scripts.ts'

export const importReportFeature = feature({
  name: 'import-report',
  operations: [getReport, exportReport, ...scriptOperations],
})
