// Every feature there is. Whatever no feature in this list declares does not exist: no route, no page, no job, no
// event.

import { imagesFeature } from '../catalog/images/feature.ts'
import { packagesFeature } from '../catalog/packages/feature.ts'
import { serversFeature } from '../compute/servers/feature.ts'
import { workloadsFeature } from '../compute/workloads/feature.ts'
import { locationsFeature } from '../fleet/locations/feature.ts'
import { nodesFeature } from '../fleet/nodes/feature.ts'
import { accountsFeature } from '../identity/accounts/feature.ts'
import { staffFeature } from '../identity/accounts/staff/feature.ts'
import { authFeature } from '../identity/auth/feature.ts'
import { identityProviderFeature } from '../identity/auth/identity-provider/feature.ts'
import { linksFeature } from '../identity/auth/links/feature.ts'
import { secondFactorsFeature } from '../identity/auth/second-factors/feature.ts'
import { resellersFeature } from '../identity/resellers/feature.ts'
import { sshKeysFeature } from '../identity/ssh-keys/feature.ts'
import { teamFeature } from '../identity/team/feature.ts'
import { tokensFeature } from '../identity/tokens/feature.ts'
import { apiFeature } from '../kernel/api/feature.ts'
import { auditLogFeature } from '../kernel/audit/feature.ts'
import { settingsStoreFeature } from '../kernel/db/feature.ts'
import type { Feature } from '../kernel/feature.ts'
import { jobRunnerFeature } from '../kernel/jobs/feature.ts'
import { mailFeature } from '../kernel/mail/feature.ts'
import { deliveriesFeature } from '../kernel/queue/feature.ts'
import { assemble } from '../kernel/registry.ts'
import { webFeature } from '../kernel/web/feature.ts'
import { ipPoolsFeature } from '../network/ip-pools/feature.ts'
import { announcementsFeature } from '../platform/announcements/feature.ts'
import { auditFeature } from '../platform/audit/feature.ts'
import { hostFeature } from '../platform/host/feature.ts'
import { jobsFeature } from '../platform/jobs/feature.ts'
import { overviewFeature } from '../platform/overview/feature.ts'
import { searchFeature } from '../platform/search/feature.ts'
import { settingsFeature } from '../platform/settings/feature.ts'

export const features: readonly Feature[] = [
  apiFeature,
  auditLogFeature,
  settingsStoreFeature,
  jobRunnerFeature,
  deliveriesFeature,
  mailFeature,
  webFeature,
  accountsFeature,
  resellersFeature,
  hostFeature,
  overviewFeature,
  nodesFeature,
  locationsFeature,
  workloadsFeature,
  serversFeature,
  jobsFeature,
  ipPoolsFeature,
  imagesFeature,
  packagesFeature,
  sshKeysFeature,
  teamFeature,
  authFeature,
  linksFeature,
  identityProviderFeature,
  secondFactorsFeature,
  tokensFeature,
  auditFeature,
  searchFeature,
  announcementsFeature,
  settingsFeature,
  staffFeature,
]

/** The registry of the executable. Tests build controllers from other lists: `createController({ features })`. */
export const registry = assemble(features)
export const { allOperations, operations } = registry
