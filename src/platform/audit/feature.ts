import { feature } from '../../kernel/feature.ts'
import { listActivity, listServerActivity } from './activity.ts'
import { listAudit } from './audit.ts'
import { exportAuditCsv, exportAuditJson } from './export.ts'
import { verifyAudit } from './verify.ts'

export const auditFeature = feature({
  name: 'audit',
  operations: [listAudit, exportAuditJson, exportAuditCsv, verifyAudit, listActivity, listServerActivity],
})
