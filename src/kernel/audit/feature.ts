import { feature } from '../feature.ts'
import { audit } from './tables.ts'

export const auditLogFeature = feature({ name: 'audit-log', tables: [audit] })
