// Every migration, in order. Once released a migration is never edited, a new one is added: released.json names those,
// and test/kernel/db/released.test.ts holds to it.
import spine from './0001_spine.sql' with { type: 'text' }
import areas from './0002_areas.sql' with { type: 'text' }
import resellers from './0003_resellers.sql' with { type: 'text' }
import team from './0004_team.sql' with { type: 'text' }
import secondFactors from './0005_second_factors.sql' with { type: 'text' }
import links from './0006_links.sql' with { type: 'text' }
import identities from './0007_identities.sql' with { type: 'text' }
import recordVersions from './0008_record_versions.sql' with { type: 'text' }
import crashes from './0009_crashes.sql' with { type: 'text' }
import diskFree from './0010_disk_free.sql' with { type: 'text' }
import nodeCredential from './0011_node_credential.sql' with { type: 'text' }
import defaultImage from './0012_default_image.sql' with { type: 'text' }
import webhooks from './0013_webhooks.sql' with { type: 'text' }
import usage from './0014_usage.sql' with { type: 'text' }
import billingService from './0015_billing_service.sql' with { type: 'text' }
import pages from './0016_pages.sql' with { type: 'text' }
import usageService from './0018_usage_service.sql' with { type: 'text' }
import trafficAllowance from './0019_traffic_allowance.sql' with { type: 'text' }

export const migrations: readonly { name: string; sql: string }[] = [
  { name: '0001_spine', sql: spine },
  { name: '0002_areas', sql: areas },
  { name: '0003_resellers', sql: resellers },
  { name: '0004_team', sql: team },
  { name: '0005_second_factors', sql: secondFactors },
  { name: '0006_links', sql: links },
  { name: '0007_identities', sql: identities },
  { name: '0008_record_versions', sql: recordVersions },
  { name: '0009_crashes', sql: crashes },
  { name: '0010_disk_free', sql: diskFree },
  { name: '0011_node_credential', sql: nodeCredential },
  { name: '0012_default_image', sql: defaultImage },
  { name: '0013_webhooks', sql: webhooks },
  { name: '0014_usage', sql: usage },
  { name: '0015_billing_service', sql: billingService },
  { name: '0016_pages', sql: pages },
  { name: '0018_usage_service', sql: usageService },
  { name: '0019_traffic_allowance', sql: trafficAllowance },
]
