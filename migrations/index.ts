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
import notices from './0017_notices.sql' with { type: 'text' }
import usageService from './0018_usage_service.sql' with { type: 'text' }
import trafficAllowance from './0019_traffic_allowance.sql' with { type: 'text' }
import life from './0020_life.sql' with { type: 'text' }
import setup from './0021_setup.sql' with { type: 'text' }
import hardware from './0022_hardware.sql' with { type: 'text' }
import firewall from './0024_firewall.sql' with { type: 'text' }
import addresses from './0025_addresses.sql' with { type: 'text' }
import speed from './0026_speed.sql' with { type: 'text' }
import metrics from './0027_metrics.sql' with { type: 'text' }
import privateNetworks from './0028_private_networks.sql' with { type: 'text' }
import savedFilters from './0029_saved_filters.sql' with { type: 'text' }
import windows from './0030_windows.sql' with { type: 'text' }
import firewallLimits from './0031_firewall_limits.sql' with { type: 'text' }
import snapshots from './0032_snapshots.sql' with { type: 'text' }
import backupTargets from './0033_backup_targets.sql' with { type: 'text' }
import nodeMetrics from './0035_node_metrics.sql' with { type: 'text' }
import lostNode from './0036_lost_node.sql' with { type: 'text' }
import backups from './0037_backups.sql' with { type: 'text' }
import backupPlans from './0038_backup_plans.sql' with { type: 'text' }
import storagePools from './0039_storage_pools.sql' with { type: 'text' }
import restoreDrills from './0041_restore_drills.sql' with { type: 'text' }
import gpus from './0042_gpus.sql' with { type: 'text' }
import gpuInstances from './0043_gpu_instances.sql' with { type: 'text' }
import gpuUsage from './0044_gpu_usage.sql' with { type: 'text' }
import volumes from './0045_volumes.sql' with { type: 'text' }
import disks from './0047_disks.sql' with { type: 'text' }
import gpuHttp from './0048_gpu_http.sql' with { type: 'text' }
import addressClaims from './0049_address_claims.sql' with { type: 'text' }
import backupFolders from './0050_backup_folders.sql' with { type: 'text' }
import silentPools from './0051_silent_pools.sql' with { type: 'text' }
import ownedSince from './0052_owned_since.sql' with { type: 'text' }
import drillFailures from './0053_drill_failures.sql' with { type: 'text' }
import nodeLogins from './0054_node_logins.sql' with { type: 'text' }
import weakenings from './0056_weakenings.sql' with { type: 'text' }
import brakeByDeed from './0057_brake_by_deed.sql' with { type: 'text' }
import estimatedTraffic from './0058_estimated_traffic.sql' with { type: 'text' }
import usageSpells from './0059_usage_spells.sql' with { type: 'text' }
import workloadServices from './0060_workload_services.sql' with { type: 'text' }
import interruptedInstallations from './0061_interrupted_installations.sql' with { type: 'text' }
import networkConfig from './0062_network_config.sql' with { type: 'text' }
import installationChecks from './0063_installation_checks.sql' with { type: 'text' }
import imageBuilds from './0064_image_builds.sql' with { type: 'text' }
import volumeLosses from './0066_volume_losses.sql' with { type: 'text' }
import addressUsage from './0068_address_usage.sql' with { type: 'text' }
import addressScopes from './0075_address_scopes.sql' with { type: 'text' }
import search from './0079_search.sql' with { type: 'text' }
import totals from './0079_totals.sql' with { type: 'text' }
import imageSignatures from './0080_image_signatures.sql' with { type: 'text' }
import servicesOfWorkloads from './0085_workload_services.sql' with { type: 'text' }
import stays from './0090_stays.sql' with { type: 'text' }
import trafficOfStays from './0091_traffic_of_stays.sql' with { type: 'text' }
import rulesOfStays from './0092_rules_of_stays.sql' with { type: 'text' }
import pivots from './0095_pivots.sql' with { type: 'text' }
import timesOfStays from './0115_times_of_stays.sql' with { type: 'text' }
import macsThatAreFree from './0116_macs_that_are_free.sql' with { type: 'text' }
import prefixRanges from './0117_prefix_ranges.sql' with { type: 'text' }
import rescoping from './0118_rescoping.sql' with { type: 'text' }
import transfers from './0125_transfers.sql' with { type: 'text' }
import hashesOfEndedJobs from './0128_hashes_of_ended_jobs.sql' with { type: 'text' }
import listsOfStates from './0129_lists_of_states.sql' with { type: 'text' }
import copyTimes from './0130_copy_times.sql' with { type: 'text' }
import closedNodes from './0135_closed_nodes.sql' with { type: 'text' }
import drains from './0136_drains.sql' with { type: 'text' }
import rollingDrains from './0137_rolling_drains.sql' with { type: 'text' }
import placementGroups from './0140_placement_groups.sql' with { type: 'text' }
import locationReserve from './0141_location_reserve.sql' with { type: 'text' }
import cpuModels from './0142_cpu_models.sql' with { type: 'text' }
import movesAtATime from './0145_moves_at_a_time.sql' with { type: 'text' }
import locationMoves from './0146_location_moves.sql' with { type: 'text' }
import limitsOnTheWay from './0149_limits_on_the_way.sql' with { type: 'text' }
import relocations from './0152_relocations.sql' with { type: 'text' }
import guestSwitches from './0153_guest_switches.sql' with { type: 'text' }
import kernelsOfDrains from './0156_kernels_of_drains.sql' with { type: 'text' }
import pausedRollingDrains from './0157_paused_rolling_drains.sql' with { type: 'text' }
import imports from './0163_imports.sql' with { type: 'text' }
import dryRuns from './0164_dry_runs.sql' with { type: 'text' }
import addressHistory from './0165_address_history.sql' with { type: 'text' }
import addressQuarantine from './0166_address_quarantine.sql' with { type: 'text' }
import importClaims from './0170_import_claims.sql' with { type: 'text' }
import bulkActions from './0171_bulk_actions.sql' with { type: 'text' }
import messages from './0172_messages.sql' with { type: 'text' }
import trafficByHour from './0173_traffic_by_hour.sql' with { type: 'text' }
import sharedStorage from './0175_shared_storage.sql' with { type: 'text' }
import addressesOfGoneNodes from './0180_addresses_of_gone_nodes.sql' with { type: 'text' }
import drainPlans from './0181_drain_plans.sql' with { type: 'text' }
import importMoves from './0182_import_moves.sql' with { type: 'text' }
import importsToAnnounce from './0183_imports_to_announce.sql' with { type: 'text' }
import workloadsOfImportServers from './0184_workloads_of_import_servers.sql' with { type: 'text' }
import guestDevices from './0185_guest_devices.sql' with { type: 'text' }
import importChecksOfMoves from './0186_import_checks.sql' with { type: 'text' }
import importCleanUps from './0187_import_clean_ups.sql' with { type: 'text' }
import sourceRemovals from './0189_source_removals.sql' with { type: 'text' }
import controlKeys from './0190_control_keys.sql' with { type: 'text' }
import importMessages from './0191_import_messages.sql' with { type: 'text' }
import rollOuts from './0192_roll_outs.sql' with { type: 'text' }
import vlans from './0193_vlans.sql' with { type: 'text' }
import noticeChoices from './0197_notice_choices.sql' with { type: 'text' }
import outages from './0198_outages.sql' with { type: 'text' }
import truthAboutState from './0201_truth_about_state.sql' with { type: 'text' }
import searchIndex from './0204_search_index.sql' with { type: 'text' }
import consoleVisits from './0210_console_visits.sql' with { type: 'text' }
import guestFileSystems from './0211_guest_file_systems.sql' with { type: 'text' }
import failedJobs from './0213_failed_jobs.sql' with { type: 'text' }
import webhookNames from './0214_webhook_names.sql' with { type: 'text' }
import largeTotals from './0216_large_totals.sql' with { type: 'text' }
import dueWork from './0217_due_work.sql' with { type: 'text' }
import gpuSelfService from './0226_gpu_self_service.sql' with { type: 'text' }
import nodeSpaces from './0230_node_spaces.sql' with { type: 'text' }
import nodeVersions from './0231_node_versions.sql' with { type: 'text' }
import retiredAddresses from './0237_retired_addresses.sql' with { type: 'text' }
import messageWork from './0238_message_work.sql' with { type: 'text' }
import auditTimes from './0243_audit_times.sql' with { type: 'text' }
import dueBackups from './0248_due_backups.sql' with { type: 'text' }
import listOrders from './0250_list_orders.sql' with { type: 'text' }
import drainPlansTold from './0263_drain_plans_told.sql' with { type: 'text' }

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
  { name: '0017_notices', sql: notices },
  { name: '0018_usage_service', sql: usageService },
  { name: '0019_traffic_allowance', sql: trafficAllowance },
  { name: '0020_life', sql: life },
  { name: '0021_setup', sql: setup },
  { name: '0022_hardware', sql: hardware },
  { name: '0024_firewall', sql: firewall },
  { name: '0025_addresses', sql: addresses },
  { name: '0026_speed', sql: speed },
  { name: '0027_metrics', sql: metrics },
  { name: '0028_private_networks', sql: privateNetworks },
  { name: '0029_saved_filters', sql: savedFilters },
  { name: '0030_windows', sql: windows },
  { name: '0031_firewall_limits', sql: firewallLimits },
  { name: '0032_snapshots', sql: snapshots },
  { name: '0033_backup_targets', sql: backupTargets },
  { name: '0035_node_metrics', sql: nodeMetrics },
  { name: '0036_lost_node', sql: lostNode },
  { name: '0037_backups', sql: backups },
  { name: '0038_backup_plans', sql: backupPlans },
  { name: '0039_storage_pools', sql: storagePools },
  { name: '0041_restore_drills', sql: restoreDrills },
  { name: '0042_gpus', sql: gpus },
  { name: '0043_gpu_instances', sql: gpuInstances },
  { name: '0044_gpu_usage', sql: gpuUsage },
  { name: '0045_volumes', sql: volumes },
  { name: '0047_disks', sql: disks },
  { name: '0048_gpu_http', sql: gpuHttp },
  { name: '0049_address_claims', sql: addressClaims },
  { name: '0050_backup_folders', sql: backupFolders },
  { name: '0051_silent_pools', sql: silentPools },
  { name: '0052_owned_since', sql: ownedSince },
  { name: '0053_drill_failures', sql: drillFailures },
  { name: '0054_node_logins', sql: nodeLogins },
  { name: '0056_weakenings', sql: weakenings },
  { name: '0057_brake_by_deed', sql: brakeByDeed },
  { name: '0058_estimated_traffic', sql: estimatedTraffic },
  { name: '0059_usage_spells', sql: usageSpells },
  { name: '0060_workload_services', sql: workloadServices },
  { name: '0061_interrupted_installations', sql: interruptedInstallations },
  { name: '0062_network_config', sql: networkConfig },
  { name: '0063_installation_checks', sql: installationChecks },
  { name: '0064_image_builds', sql: imageBuilds },
  { name: '0066_volume_losses', sql: volumeLosses },
  { name: '0068_address_usage', sql: addressUsage },
  { name: '0075_address_scopes', sql: addressScopes },
  { name: '0079_search', sql: search },
  { name: '0079_totals', sql: totals },
  { name: '0080_image_signatures', sql: imageSignatures },
  { name: '0085_workload_services', sql: servicesOfWorkloads },
  { name: '0090_stays', sql: stays },
  { name: '0091_traffic_of_stays', sql: trafficOfStays },
  { name: '0092_rules_of_stays', sql: rulesOfStays },
  { name: '0095_pivots', sql: pivots },
  { name: '0115_times_of_stays', sql: timesOfStays },
  { name: '0116_macs_that_are_free', sql: macsThatAreFree },
  { name: '0117_prefix_ranges', sql: prefixRanges },
  { name: '0118_rescoping', sql: rescoping },
  { name: '0125_transfers', sql: transfers },
  { name: '0128_hashes_of_ended_jobs', sql: hashesOfEndedJobs },
  { name: '0129_lists_of_states', sql: listsOfStates },
  { name: '0130_copy_times', sql: copyTimes },
  { name: '0135_closed_nodes', sql: closedNodes },
  { name: '0136_drains', sql: drains },
  { name: '0137_rolling_drains', sql: rollingDrains },
  { name: '0140_placement_groups', sql: placementGroups },
  { name: '0141_location_reserve', sql: locationReserve },
  { name: '0142_cpu_models', sql: cpuModels },
  { name: '0145_moves_at_a_time', sql: movesAtATime },
  { name: '0146_location_moves', sql: locationMoves },
  { name: '0149_limits_on_the_way', sql: limitsOnTheWay },
  { name: '0152_relocations', sql: relocations },
  { name: '0153_guest_switches', sql: guestSwitches },
  { name: '0156_kernels_of_drains', sql: kernelsOfDrains },
  { name: '0157_paused_rolling_drains', sql: pausedRollingDrains },
  { name: '0163_imports', sql: imports },
  { name: '0164_dry_runs', sql: dryRuns },
  { name: '0165_address_history', sql: addressHistory },
  { name: '0166_address_quarantine', sql: addressQuarantine },
  { name: '0170_import_claims', sql: importClaims },
  { name: '0171_bulk_actions', sql: bulkActions },
  { name: '0172_messages', sql: messages },
  { name: '0173_traffic_by_hour', sql: trafficByHour },
  { name: '0175_shared_storage', sql: sharedStorage },
  { name: '0180_addresses_of_gone_nodes', sql: addressesOfGoneNodes },
  { name: '0181_drain_plans', sql: drainPlans },
  { name: '0182_import_moves', sql: importMoves },
  { name: '0183_imports_to_announce', sql: importsToAnnounce },
  { name: '0184_workloads_of_import_servers', sql: workloadsOfImportServers },
  { name: '0185_guest_devices', sql: guestDevices },
  { name: '0186_import_checks', sql: importChecksOfMoves },
  { name: '0187_import_clean_ups', sql: importCleanUps },
  { name: '0189_source_removals', sql: sourceRemovals },
  { name: '0190_control_keys', sql: controlKeys },
  { name: '0191_import_messages', sql: importMessages },
  { name: '0192_roll_outs', sql: rollOuts },
  { name: '0193_vlans', sql: vlans },
  { name: '0197_notice_choices', sql: noticeChoices },
  { name: '0198_outages', sql: outages },
  { name: '0201_truth_about_state', sql: truthAboutState },
  { name: '0204_search_index', sql: searchIndex },
  { name: '0210_console_visits', sql: consoleVisits },
  { name: '0211_guest_file_systems', sql: guestFileSystems },
  { name: '0213_failed_jobs', sql: failedJobs },
  { name: '0214_webhook_names', sql: webhookNames },
  { name: '0216_large_totals', sql: largeTotals },
  { name: '0217_due_work', sql: dueWork },
  { name: '0226_gpu_self_service', sql: gpuSelfService },
  { name: '0230_node_spaces', sql: nodeSpaces },
  { name: '0231_node_versions', sql: nodeVersions },
  { name: '0237_retired_addresses', sql: retiredAddresses },
  { name: '0238_message_work', sql: messageWork },
  { name: '0243_audit_times', sql: auditTimes },
  { name: '0248_due_backups', sql: dueBackups },
  { name: '0250_list_orders', sql: listOrders },
  { name: '0263_drain_plans_told', sql: drainPlansTold },
]
