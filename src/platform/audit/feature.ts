import { AuditAnchor, anchorOf } from '../../kernel/audit/anchor.ts'
import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { listActivity, listServerActivity, timelineOfLines } from './activity.ts'
import { brokenAnchor, moveAnchorOn } from './anchoring.ts'
import { listAudit } from './audit.ts'
import { exportAuditCsv, exportAuditJson } from './export.ts'
import { verifyAudit } from './verify.ts'

const scopes = {
  'audit:read': { words: 'Read the audit log' },
} as const

const permissions = {
  'audit.read': { words: 'Read the audit log', opens: ['audit:read'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    audit: { scopes: typeof scopes; permissions: typeof permissions }
  }
  interface Services {
    /** The signed head of the audit log, outside the database. */
    auditAnchor: AuditAnchor
  }
}

export const auditFeature = feature({
  name: 'audit',
  scopes,
  permissions,
  samples: {
    operation: 'servers.suspend',
    result: 'done',
    via: 'page',
    requestId: '01929f2e-6b1c-7d3a-9f00-3c5a7e1b2d4f',
    from: '198.51.100.7',
  },
  operations: [listAudit, exportAuditJson, exportAuditCsv, verifyAudit, listActivity, listServerActivity],
  timeline: [timelineOfLines],
  attention: [brokenAnchor],
  services: ({ config }) => ({ auditAnchor: new AuditAnchor(anchorOf(config.dataDir)) }),
  schedule: [
    {
      everyMs: minute,
      words: 'anchoring the audit log',
      work: ({ db, app }) => moveAnchorOn(db, app),
      atStop: true,
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 320,
      name: 'audit',
      title: 'Audit log',
      href: '/admin/audit',
      icon: 'audit',
      sees: listAudit,
    },
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 430,
      name: 'activity',
      menu: true,
      title: 'Activity',
      href: '/account/activity',
      icon: 'history',
      sees: listActivity,
    },
  ],
  actions: [
    { kinds: ['staff'], position: 120, title: 'Verify the audit log', page: '/admin/audit/verify', does: verifyAudit },
  ],
})
