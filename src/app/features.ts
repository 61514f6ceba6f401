// Every feature there is, and its pages: views import features, and no feature imports views. Whatever is not in this
// list does not exist: no route, no page, no job, no event.

import { eventsPages } from '../../views/billing/events/list.tsx'
import { reconciliationPages } from '../../views/billing/reconciliation/page.tsx'
import { adminReportsPage, resellerReportsPage } from '../../views/billing/usage/accounts.tsx'
import { addressUsagePages } from '../../views/billing/usage/addresses.tsx'
import { gpuUsagePages } from '../../views/billing/usage/gpu.tsx'
import { usageIntervalPages } from '../../views/billing/usage/intervals.tsx'
import { usagePages } from '../../views/billing/usage/servers.tsx'
import { webhooksPages } from '../../views/billing/webhooks/list.tsx'
import { webhookPages } from '../../views/billing/webhooks/show.tsx'
import { gpuImagesPage } from '../../views/catalog/gpu-images/list.tsx'
import { gpuOffersPage } from '../../views/catalog/gpu-offers/list.tsx'
import { imagesPage } from '../../views/catalog/images/list.tsx'
import { imagePage } from '../../views/catalog/images/show.tsx'
import { packagesPage } from '../../views/catalog/packages/list.tsx'
import { newPackagePage } from '../../views/catalog/packages/new.tsx'
import { backupPlansPage } from '../../views/compute/backup-plans/list.tsx'
import { backupTargetsPage } from '../../views/compute/backup-targets/list.tsx'
import { allBackupsPages } from '../../views/compute/backups/all.tsx'
import { backupFilesPages } from '../../views/compute/backups/files.tsx'
import { serverBackupsPages } from '../../views/compute/backups/page.tsx'
import { brakesPage } from '../../views/compute/brake/list.tsx'
import { planPages } from '../../views/compute/bulk-actions/plan.tsx'
import { bulkActionPage, bulkActionsPage } from '../../views/compute/bulk-actions/show.tsx'
import { consolePages } from '../../views/compute/console/page.tsx'
import { drainPlanPage } from '../../views/compute/drains/plan.tsx'
import { chooseNodesPage } from '../../views/compute/drains/rolling/choose.tsx'
import { rollingListPage } from '../../views/compute/drains/rolling/list.tsx'
import { rollingPage } from '../../views/compute/drains/rolling/show.tsx'
import { drainPage } from '../../views/compute/drains/show.tsx'
import { instanceListPages } from '../../views/compute/gpu-instances/list.tsx'
import { instanceLogsPages } from '../../views/compute/gpu-instances/logs.tsx'
import { instanceMetricsPages } from '../../views/compute/gpu-instances/metrics.tsx'
import {
  newInstancePage,
  resellerNewInstancePage,
  staffNewInstancePage,
} from '../../views/compute/gpu-instances/order.tsx'
import { instanceSettingsPages } from '../../views/compute/gpu-instances/settings.tsx'
import { instancePages } from '../../views/compute/gpu-instances/show.tsx'
import { isosPages } from '../../views/compute/isos/list.tsx'
import { ownImagesPage } from '../../views/compute/own-images/list.tsx'
import { placementGroupsPages } from '../../views/compute/placement-groups/list.tsx'
import { placementGroupPages } from '../../views/compute/placement-groups/show.tsx'
import { scriptsPage } from '../../views/compute/scripts/list.tsx'
import { scriptPage } from '../../views/compute/scripts/show.tsx'
import { resellerServersPage, serversPage } from '../../views/compute/servers/list.tsx'
import { serverNetworkPages } from '../../views/compute/servers/network/page.tsx'
import { newServerPage, resellerNewServerPage } from '../../views/compute/servers/new.tsx'
import { serverPages } from '../../views/compute/servers/overview/show.tsx'
import { ownServersPage } from '../../views/compute/servers/own.tsx'
import { serverAccessPages } from '../../views/compute/servers/settings/access-page.tsx'
import { changeOwnerPage } from '../../views/compute/servers/settings/new-owner.tsx'
import { serverSettingsPages } from '../../views/compute/servers/settings/page.tsx'
import { serverSnapshotsPages } from '../../views/compute/snapshots/of-server.tsx'
import { elsewherePage } from '../../views/compute/transfers/elsewhere.tsx'
import { transfersPage } from '../../views/compute/transfers/list.tsx'
import { moveServerPage } from '../../views/compute/transfers/move.tsx'
import { transferPage } from '../../views/compute/transfers/show.tsx'
import { volumesPages } from '../../views/compute/volumes/list.tsx'
import { serverVolumesPages } from '../../views/compute/volumes/of-server.tsx'
import { volumeUsagePages } from '../../views/compute/volumes/usage.tsx'
import { gpusPage } from '../../views/fleet/gpus/list.tsx'
import { nodeGpusPage } from '../../views/fleet/gpus/node.tsx'
import { locationsPage } from '../../views/fleet/locations/list.tsx'
import { locationPage } from '../../views/fleet/locations/show.tsx'
import { enrollmentPage, enrollPage } from '../../views/fleet/nodes/enrollment.tsx'
import { nodesPage } from '../../views/fleet/nodes/list.tsx'
import { nodePage } from '../../views/fleet/nodes/show.tsx'
import { nodeStoragePage } from '../../views/fleet/nodes/storage.tsx'
import { providerPage } from '../../views/identity/auth/identity-provider/provider.tsx'
import { firstFactorPage } from '../../views/identity/auth/second-factors/first-factor.tsx'
import { securityPage } from '../../views/identity/auth/second-factors/security.tsx'
import {
  confirmEmailPage,
  forgotPage,
  resetPage,
  signInLinkPage,
  welcomePage,
} from '../../views/identity/auth/sign-in/mailed-links.tsx'
import { confirmPage } from '../../views/identity/auth/sign-in/recent-auth.tsx'
import { secondFactorPage } from '../../views/identity/auth/sign-in/second-factor.tsx'
import { signInPage } from '../../views/identity/auth/sign-in/sign-in.tsx'
import { signOutPage } from '../../views/identity/auth/sign-in/sign-out.tsx'
import { customersPage, resellerCustomersPage } from '../../views/identity/customers/list.tsx'
import { customerPage, resellerCustomerPage } from '../../views/identity/customers/show.tsx'
import { notificationsPage } from '../../views/identity/notices/list.tsx'
import { profilePage } from '../../views/identity/own-account/profile.tsx'
import { resellersPage } from '../../views/identity/resellers/list.tsx'
import { resellerOverviewPage } from '../../views/identity/resellers/own-overview.tsx'
import { resellerPackagesPage } from '../../views/identity/resellers/own-packages.tsx'
import { resellerPage } from '../../views/identity/resellers/show.tsx'
import { setUpPage } from '../../views/identity/set-up/first-account.tsx'
import { ownKeysPage } from '../../views/identity/ssh-keys/own.tsx'
import { staffPage } from '../../views/identity/staff/list.tsx'
import { rolePage } from '../../views/identity/staff/role.tsx'
import { rolesPage } from '../../views/identity/staff/role-list.tsx'
import { joinPage } from '../../views/identity/team/join.tsx'
import { teamPage } from '../../views/identity/team/list.tsx'
import { tokensPage } from '../../views/identity/tokens/list.tsx'
import { importAccessPage } from '../../views/imports/dry-run/access.tsx'
import { dryRunPage } from '../../views/imports/dry-run/show.tsx'
import { finishPage } from '../../views/imports/finish/show.tsx'
import { changesPage } from '../../views/imports/imports/changes.tsx'
import { importsPage } from '../../views/imports/imports/list.tsx'
import { importLogPage } from '../../views/imports/imports/log.tsx'
import { newImportPage } from '../../views/imports/imports/new.tsx'
import { importPage } from '../../views/imports/imports/show.tsx'
import { importBillingPage } from '../../views/imports/mapping/billing.tsx'
import { importFilePage } from '../../views/imports/mapping/file.tsx'
import { importLocationsPage } from '../../views/imports/mapping/locations.tsx'
import { importOwnersPage } from '../../views/imports/mapping/owners.tsx'
import { importPackagesPage } from '../../views/imports/mapping/packages.tsx'
import { importRangesPage } from '../../views/imports/mapping/ranges.tsx'
import { importServersPage } from '../../views/imports/mapping/servers.tsx'
import { importServerPage } from '../../views/imports/mapping/show-server.tsx'
import { importMessagesPage } from '../../views/imports/messages/show.tsx'
import { migratePage } from '../../views/imports/migrate/show.tsx'
import { rollBackPage } from '../../views/imports/roll-back/show.tsx'
import { cleanUpPage } from '../../views/imports/source-removal/clean-up.tsx'
import { verifyPage } from '../../views/imports/verify/show.tsx'
import { addressPage } from '../../views/network/address-history/page.tsx'
import { firewallsPage } from '../../views/network/firewalls/list.tsx'
import { floatingIpsPages } from '../../views/network/floating-ips/list.tsx'
import { poolsPage } from '../../views/network/ip-pools/list.tsx'
import { poolPage } from '../../views/network/ip-pools/show.tsx'
import { networksPages } from '../../views/network/private-networks/list.tsx'
import { trafficPage } from '../../views/network/traffic/heaviest.tsx'
import { announcementsPage } from '../../views/platform/announcements/list.tsx'
import { activityPage } from '../../views/platform/audit/activity-pages.tsx'
import { auditPage } from '../../views/platform/audit/list.tsx'
import { auditVerifyPage } from '../../views/platform/audit/verification.tsx'
import { shortcutsPage } from '../../views/platform/documents/shortcuts.tsx'
import { documentPage, documentsPage } from '../../views/platform/documents/show.tsx'
import { controllerPage } from '../../views/platform/host/controller.tsx'
import { jobsPages } from '../../views/platform/jobs/list.tsx'
import { jobPages } from '../../views/platform/jobs/show.tsx'
import { messagesPage, newMessagePage } from '../../views/platform/messages/list.tsx'
import { messagePage } from '../../views/platform/messages/show.tsx'
import { unsubscribePage } from '../../views/platform/messages/unsubscribe.tsx'
import { nodeMetricsPage } from '../../views/platform/metrics/node.tsx'
import { nodeCardMetricsPage } from '../../views/platform/metrics/node-cards.tsx'
import { metricsPages } from '../../views/platform/metrics/page.tsx'
import { ownOverviewPage } from '../../views/platform/overview/customer-overview.tsx'
import { overviewPage } from '../../views/platform/overview/overview.tsx'
import { referencePages } from '../../views/platform/reference/show.tsx'
import { rollOutsPage } from '../../views/platform/roll-outs/list.tsx'
import { newRollOutPage } from '../../views/platform/roll-outs/new.tsx'
import { rollOutPage } from '../../views/platform/roll-outs/show.tsx'
import { searchPage } from '../../views/platform/search/search-page.tsx'
import { resellerBrandingPage } from '../../views/platform/settings/brand-form.tsx'
import { settingsPage } from '../../views/platform/settings/settings.tsx'
import { timelinePages } from '../../views/platform/timeline/page.tsx'
import { updatesPage } from '../../views/platform/updates/page.tsx'
import { eventsFeature } from '../billing/events/feature.ts'
import { provisioningFeature } from '../billing/provisioning/feature.ts'
import { reconciliationFeature } from '../billing/reconciliation/feature.ts'
import { usageFeature } from '../billing/usage/feature.ts'
import { webhooksFeature } from '../billing/webhooks/feature.ts'
import { gpuImagesFeature } from '../catalog/gpu-images/feature.ts'
import { gpuOffersFeature } from '../catalog/gpu-offers/feature.ts'
import { imagesFeature } from '../catalog/images/feature.ts'
import { packagesFeature } from '../catalog/packages/feature.ts'
import { backupTargetRecordsFeature } from '../compute/backup-target-records/feature.ts'
import { backupTargetsFeature } from '../compute/backup-targets/feature.ts'
import { restoreDrillsFeature } from '../compute/backups/drills/feature.ts'
import { backupsFeature } from '../compute/backups/feature.ts'
import { backupFilesFeature } from '../compute/backups/files/feature.ts'
import { backupUpkeepFeature } from '../compute/backups/maintenance/feature.ts'
import { backupPlansFeature } from '../compute/backups/plans/feature.ts'
import { balanceFeature } from '../compute/balance/feature.ts'
import { brakeFeature } from '../compute/brake/feature.ts'
import { bulkActionsFeature } from '../compute/bulk-actions/feature.ts'
import { consoleFeature } from '../compute/console/feature.ts'
import { cpuBaselineFeature } from '../compute/cpu-baseline/feature.ts'
import { drainsFeature } from '../compute/drains/feature.ts'
import { gpuInstancesFeature } from '../compute/gpu-instances/feature.ts'
import { instanceUseFeature } from '../compute/gpu-instances/use/feature.ts'
import { guestFeature } from '../compute/guest/feature.ts'
import { installationFeature } from '../compute/installation/feature.ts'
import { isosFeature } from '../compute/isos/feature.ts'
import { ownImagesFeature } from '../compute/own-images/feature.ts'
import { placementGroupsFeature } from '../compute/placement-groups/feature.ts'
import { readdressingFeature } from '../compute/readdressing/feature.ts'
import { rescueFeature } from '../compute/rescue/feature.ts'
import { scriptsFeature } from '../compute/scripts/feature.ts'
import { serverRecordsFeature } from '../compute/server-records/feature.ts'
import { serverVmFeature } from '../compute/server-vm/feature.ts'
import { serversFeature } from '../compute/servers/feature.ts'
import { snapshotRecordsFeature } from '../compute/snapshot-records/feature.ts'
import { snapshotsFeature } from '../compute/snapshots/feature.ts'
import { speedFeature } from '../compute/speed/feature.ts'
import { transfersFeature } from '../compute/transfers/feature.ts'
import { volumesFeature } from '../compute/volumes/feature.ts'
import { gpusFeature } from '../fleet/gpus/feature.ts'
import { labelsFeature } from '../fleet/labels/feature.ts'
import { locationsFeature } from '../fleet/locations/feature.ts'
import { nodeRecordsFeature } from '../fleet/node-records/feature.ts'
import { nodesFeature } from '../fleet/nodes/feature.ts'
import { placementGroupRecordsFeature } from '../fleet/placement-group-records/feature.ts'
import { releasesFeature } from '../fleet/releases/feature.ts'
import { storagePoolsFeature } from '../fleet/storage-pools/feature.ts'
import { trafficRecordsFeature } from '../fleet/traffic-records/feature.ts'
import { volumeRecordsFeature } from '../fleet/volume-records/feature.ts'
import { workloadsFeature } from '../fleet/workloads/feature.ts'
import { accountRecordsFeature } from '../identity/account-records/feature.ts'
import { identityProviderFeature } from '../identity/auth/identity-provider/feature.ts'
import { linksFeature } from '../identity/auth/links/feature.ts'
import { secondFactorsFeature } from '../identity/auth/second-factors/feature.ts'
import { sessionsFeature } from '../identity/auth/sessions/feature.ts'
import { signInFeature } from '../identity/auth/sign-in/feature.ts'
import { customersFeature } from '../identity/customers/feature.ts'
import { noticesFeature } from '../identity/notices/feature.ts'
import { ownAccountFeature } from '../identity/own-account/feature.ts'
import { resellersFeature } from '../identity/resellers/feature.ts'
import { savedFiltersFeature } from '../identity/saved-filters/feature.ts'
import { setUpFeature } from '../identity/set-up/feature.ts'
import { sshKeysFeature } from '../identity/ssh-keys/feature.ts'
import { staffFeature } from '../identity/staff/feature.ts'
import { teamFeature } from '../identity/team/feature.ts'
import { tokensFeature } from '../identity/tokens/feature.ts'
import { weakeningFeature } from '../identity/weakenings/feature.ts'
import { cleanUpFeature } from '../imports/clean-up/feature.ts'
import { discoveryFeature } from '../imports/discovery/feature.ts'
import { dryRunFeature } from '../imports/dry-run/feature.ts'
import { finishFeature } from '../imports/finish/feature.ts'
import { fleetFeature } from '../imports/fleet/feature.ts'
import { importRecordsFeature } from '../imports/import-records/feature.ts'
import { importsFeature } from '../imports/imports/feature.ts'
import { mappingFeature } from '../imports/mapping/feature.ts'
import { importMessagesFeature } from '../imports/messages/feature.ts'
import { migrateFeature } from '../imports/migrate/feature.ts'
import { importReportFeature } from '../imports/report/feature.ts'
import { rollBackFeature } from '../imports/roll-back/feature.ts'
import { sourceAccessFeature } from '../imports/source-access/feature.ts'
import { sourceRemovalFeature } from '../imports/source-removal/feature.ts'
import { verifyFeature } from '../imports/verify/feature.ts'
import { apiFeature } from '../kernel/api/feature.ts'
import { auditLogFeature } from '../kernel/audit/feature.ts'
import { settingsStoreFeature } from '../kernel/db/feature.ts'
import type { Feature } from '../kernel/feature.ts'
import { jobRunnerFeature } from '../kernel/jobs/feature.ts'
import { mailFeature } from '../kernel/mail/feature.ts'
import { deliveriesFeature } from '../kernel/queue/feature.ts'
import { assemble } from '../kernel/registry.ts'
import { searchTextsFeature } from '../kernel/search/feature.ts'
import { webFeature } from '../kernel/web/feature.ts'
import { addressHistoryFeature } from '../network/address-history/feature.ts'
import { firewallRecordsFeature } from '../network/firewall-records/feature.ts'
import { firewallsFeature } from '../network/firewalls/feature.ts'
import { floatingIpsFeature } from '../network/floating-ips/feature.ts'
import { ipPoolsFeature } from '../network/ip-pools/feature.ts'
import { privateNetworkRecordsFeature } from '../network/private-network-records/feature.ts'
import { privateNetworksFeature } from '../network/private-networks/feature.ts'
import { reverseDnsFeature } from '../network/reverse-dns/feature.ts'
import { serverAddressesFeature } from '../network/server-addresses/feature.ts'
import { trafficFeature } from '../network/traffic/feature.ts'
import { alertsFeature } from '../platform/alerts/feature.ts'
import { announcementsFeature } from '../platform/announcements/feature.ts'
import { auditFeature } from '../platform/audit/feature.ts'
import { choicesFeature } from '../platform/choices/feature.ts'
import { controllerBackupsFeature } from '../platform/controller-backups/feature.ts'
import { documentsFeature } from '../platform/documents/feature.ts'
import { hostFeature } from '../platform/host/feature.ts'
import { jobsFeature } from '../platform/jobs/feature.ts'
import { messagesFeature } from '../platform/messages/feature.ts'
import { metricsFeature } from '../platform/metrics/feature.ts'
import { monitoringFeature } from '../platform/monitoring/feature.ts'
import { outagesFeature } from '../platform/outages/feature.ts'
import { overviewFeature } from '../platform/overview/feature.ts'
import { replicaFeature } from '../platform/replica/feature.ts'
import { rollOutsFeature } from '../platform/roll-outs/feature.ts'
import { searchFeature } from '../platform/search/feature.ts'
import { settingsFeature } from '../platform/settings/feature.ts'
import { timelineFeature } from '../platform/timeline/feature.ts'
import { updatesFeature } from '../platform/updates/feature.ts'

export const features: readonly Feature[] = [
  apiFeature,
  searchTextsFeature,
  auditLogFeature,
  settingsStoreFeature,
  jobRunnerFeature,
  deliveriesFeature,
  mailFeature,
  webFeature,
  accountRecordsFeature,
  { ...setUpFeature, pages: [setUpPage] },
  { ...customersFeature, pages: [customersPage, customerPage, resellerCustomersPage, resellerCustomerPage] },
  { ...ownAccountFeature, pages: [profilePage, confirmEmailPage] },
  { ...resellersFeature, pages: [resellersPage, resellerPage, resellerOverviewPage, resellerPackagesPage] },
  { ...noticesFeature, pages: [notificationsPage] },
  savedFiltersFeature,
  { ...hostFeature, pages: [controllerPage] },
  { ...overviewFeature, pages: [overviewPage, ownOverviewPage] },
  nodeRecordsFeature,
  { ...nodesFeature, pages: [nodesPage, enrollPage, enrollmentPage, nodePage] },
  placementGroupRecordsFeature,
  { ...storagePoolsFeature, pages: [nodeStoragePage] },
  { ...gpusFeature, pages: [gpusPage, nodeGpusPage] },
  { ...locationsFeature, pages: [locationsPage, locationPage] },
  workloadsFeature,
  volumeRecordsFeature,
  labelsFeature,
  trafficRecordsFeature,
  {
    ...usageFeature,
    pages: [
      adminReportsPage,
      resellerReportsPage,
      ...usagePages,
      ...usageIntervalPages,
      ...gpuUsagePages,
      ...addressUsagePages,
    ],
  },
  serverRecordsFeature,
  serverVmFeature,
  {
    ...serversFeature,
    pages: [
      serversPage,
      newServerPage,
      ...serverPages,
      ...serverNetworkPages,
      ...serverSettingsPages,
      changeOwnerPage,
      resellerServersPage,
      resellerNewServerPage,
      ownServersPage,
    ],
  },
  installationFeature,
  guestFeature,
  readdressingFeature,
  { ...rescueFeature, pages: serverAccessPages },
  speedFeature,
  serverAddressesFeature,
  { ...trafficFeature, pages: [trafficPage] },
  gpuInstancesFeature,
  { ...metricsFeature, pages: [...metricsPages, nodeMetricsPage, nodeCardMetricsPage] },
  {
    ...instanceUseFeature,
    pages: [
      ...instanceListPages,
      newInstancePage,
      resellerNewInstancePage,
      staffNewInstancePage,
      ...instancePages,
      ...instanceMetricsPages,
      ...instanceLogsPages,
      ...instanceSettingsPages,
    ],
  },
  { ...brakeFeature, pages: [brakesPage] },
  { ...consoleFeature, pages: consolePages },
  { ...floatingIpsFeature, pages: floatingIpsPages },
  snapshotRecordsFeature,
  { ...snapshotsFeature, pages: serverSnapshotsPages },
  balanceFeature,
  cpuBaselineFeature,
  { ...placementGroupsFeature, pages: [...placementGroupsPages, ...placementGroupPages] },
  { ...transfersFeature, pages: [transfersPage, transferPage, moveServerPage, elsewherePage] },
  { ...bulkActionsFeature, pages: [...planPages, bulkActionsPage, bulkActionPage] },
  { ...drainsFeature, pages: [drainPlanPage, drainPage, rollingListPage, chooseNodesPage, rollingPage] },
  { ...volumesFeature, pages: [...volumesPages, ...serverVolumesPages, ...volumeUsagePages] },
  { ...isosFeature, pages: isosPages },
  { ...backupsFeature, pages: [...serverBackupsPages, ...allBackupsPages] },
  { ...backupFilesFeature, pages: backupFilesPages },
  backupTargetRecordsFeature,
  { ...backupTargetsFeature, pages: [backupTargetsPage] },
  { ...backupPlansFeature, pages: [backupPlansPage] },
  backupUpkeepFeature,
  restoreDrillsFeature,
  { ...scriptsFeature, pages: [scriptsPage, scriptPage] },
  alertsFeature,
  reverseDnsFeature,
  { ...ownImagesFeature, pages: [ownImagesPage] },
  privateNetworkRecordsFeature,
  { ...privateNetworksFeature, pages: networksPages },
  firewallRecordsFeature,
  { ...firewallsFeature, pages: [firewallsPage] },
  monitoringFeature,
  { ...timelineFeature, pages: timelinePages },
  { ...reconciliationFeature, pages: reconciliationPages },
  { ...jobsFeature, pages: [...jobsPages, ...jobPages] },
  { ...ipPoolsFeature, pages: [poolsPage, poolPage] },
  { ...addressHistoryFeature, pages: [addressPage] },
  { ...imagesFeature, pages: [imagesPage, imagePage] },
  { ...packagesFeature, pages: [packagesPage, newPackagePage] },
  { ...gpuImagesFeature, pages: [gpuImagesPage] },
  { ...gpuOffersFeature, pages: [gpuOffersPage] },
  { ...sshKeysFeature, pages: [ownKeysPage] },
  { ...teamFeature, pages: [teamPage, joinPage] },
  {
    ...signInFeature,
    pages: [signInPage, signOutPage, confirmPage, secondFactorPage, welcomePage, forgotPage, resetPage, signInLinkPage],
  },
  sessionsFeature,
  linksFeature,
  { ...identityProviderFeature, pages: [providerPage] },
  { ...secondFactorsFeature, pages: [securityPage, firstFactorPage] },
  { ...eventsFeature, pages: eventsPages },
  provisioningFeature,
  { ...webhooksFeature, pages: [...webhooksPages, ...webhookPages] },
  { ...tokensFeature, pages: [...referencePages, tokensPage] },
  { ...auditFeature, pages: [auditPage, auditVerifyPage, activityPage] },
  choicesFeature,
  { ...searchFeature, pages: [searchPage] },
  { ...messagesFeature, pages: [messagesPage, newMessagePage, messagePage, unsubscribePage] },
  { ...announcementsFeature, pages: [announcementsPage] },
  { ...settingsFeature, pages: [settingsPage, resellerBrandingPage] },
  weakeningFeature,
  { ...staffFeature, pages: [staffPage, rolesPage, rolePage] },
  importRecordsFeature,
  { ...importsFeature, pages: [importsPage, newImportPage, importPage, importLogPage] },
  { ...discoveryFeature, pages: [changesPage] },
  {
    ...mappingFeature,
    pages: [
      importPackagesPage,
      importRangesPage,
      importLocationsPage,
      importOwnersPage,
      importBillingPage,
      importFilePage,
      importServersPage,
      importServerPage,
    ],
  },
  { ...sourceAccessFeature, pages: [importAccessPage] },
  { ...dryRunFeature, pages: [dryRunPage] },
  { ...migrateFeature, pages: [migratePage] },
  { ...sourceRemovalFeature, pages: [cleanUpPage] },
  { ...verifyFeature, pages: [verifyPage] },
  { ...rollBackFeature, pages: [rollBackPage] },
  { ...finishFeature, pages: [finishPage] },
  cleanUpFeature,
  fleetFeature,
  importReportFeature,
  { ...importMessagesFeature, pages: [importMessagesPage] },
  controllerBackupsFeature,
  replicaFeature,
  { ...updatesFeature, pages: [updatesPage] },
  { ...documentsFeature, pages: [documentsPage, documentPage, shortcutsPage] },
  releasesFeature,
  { ...rollOutsFeature, pages: [rollOutsPage, newRollOutPage, rollOutPage] },
  outagesFeature,
]

/** The registry of the executable. Tests build controllers from other ones: `createController({ registry })`. */
export const registry = assemble(features)
export const { allOperations, operations } = registry
