import { feature } from '../../kernel/feature.ts'
import { listActivity, listServerActivity } from './activity.ts'
import { listAudit } from './audit.ts'
import { exportAuditCsv, exportAuditJson } from './export.ts'
import { verifyAudit } from './verify.ts'

export const auditFeature = feature({
  name: 'audit',
  samples: {
    operation: 'servers.suspend',
    result: 'done',
    via: 'page',
    requestId: '01929f2e-6b1c-7d3a-9f00-3c5a7e1b2d4f',
    from: '198.51.100.7',
  },
  operations: [listAudit, exportAuditJson, exportAuditCsv, verifyAudit, listActivity, listServerActivity],
})
