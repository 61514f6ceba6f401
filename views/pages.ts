// Every page there is. What is not in this list is not found.
import type { Page } from '../src/kernel/web/page.ts'
import { imagesPage } from './catalog/images/list.ts'
import { packagesPage } from './catalog/packages/list.ts'
import { resellerServersPage, serversPage } from './compute/servers/list.ts'
import { newServerPage, resellerNewServerPage } from './compute/servers/new.ts'
import { ownServersPage } from './compute/servers/own.ts'
import { serverPages } from './compute/servers/show.ts'
import { locationsPage } from './fleet/locations/list.ts'
import { enrollmentPage, enrollPage } from './fleet/nodes/enroll.ts'
import { nodesPage } from './fleet/nodes/list.ts'
import { nodePage } from './fleet/nodes/show.ts'
import { profilePage } from './identity/account/profile.ts'
import { securityPage } from './identity/account/security.ts'
import { customersPage, resellerCustomersPage } from './identity/customers/list.ts'
import { customerPage, resellerCustomerPage } from './identity/customers/show.ts'
import { resellerOverviewPage } from './identity/reseller/overview.ts'
import { resellerPackagesPage } from './identity/reseller/packages.ts'
import { resellersPage } from './identity/resellers/list.ts'
import { resellerPage } from './identity/resellers/show.ts'
import { confirmPage } from './identity/sign-in/confirm.ts'
import { confirmEmailPage, forgotPage, resetPage, signInLinkPage, welcomePage } from './identity/sign-in/links.ts'
import { providerPage } from './identity/sign-in/oidc.ts'
import { secondFactorPage } from './identity/sign-in/second-factor.ts'
import { setUpPage } from './identity/sign-in/set-up.ts'
import { signInPage } from './identity/sign-in/sign-in.ts'
import { ownKeysPage } from './identity/ssh-keys/own.ts'
import { staffPage } from './identity/staff/list.ts'
import { rolesPage } from './identity/staff/roles.ts'
import { joinPage } from './identity/team/join.ts'
import { teamPage } from './identity/team/list.ts'
import { tokensPage } from './identity/tokens/list.ts'
import { poolsPage } from './network/ip-pools/list.ts'
import { poolPage } from './network/ip-pools/show.ts'
import { announcementsPage } from './platform/announcements/list.ts'
import { activityPage, serverActivityPages } from './platform/audit/activity.ts'
import { auditPage } from './platform/audit/list.ts'
import { auditVerifyPage } from './platform/audit/verify.ts'
import { controllerPage } from './platform/host/controller.ts'
import { jobsPages } from './platform/jobs/list.ts'
import { jobPages } from './platform/jobs/show.ts'
import { overviewPage } from './platform/overview/overview.ts'
import { ownOverviewPage } from './platform/overview/own-overview.ts'
import { ownReferencePage, referencePage } from './platform/reference/show.ts'
import { searchPage } from './platform/search/search.ts'
import { resellerBrandingPage } from './platform/settings/branding.ts'
import { settingsPage } from './platform/settings/settings.ts'

export const pages: readonly Page[] = [
  signInPage,
  secondFactorPage,
  setUpPage,
  welcomePage,
  forgotPage,
  resetPage,
  confirmEmailPage,
  signInLinkPage,
  providerPage,
  profilePage,
  overviewPage,
  serversPage,
  newServerPage,
  ...serverPages,
  ...serverActivityPages,
  ...jobsPages,
  ...jobPages,
  customersPage,
  customerPage,
  resellersPage,
  resellerPage,
  nodesPage,
  enrollPage,
  enrollmentPage,
  nodePage,
  locationsPage,
  poolsPage,
  poolPage,
  imagesPage,
  packagesPage,
  controllerPage,
  staffPage,
  rolesPage,
  auditPage,
  auditVerifyPage,
  searchPage,
  settingsPage,
  announcementsPage,
  referencePage,
  resellerOverviewPage,
  resellerServersPage,
  resellerNewServerPage,
  resellerCustomersPage,
  resellerCustomerPage,
  resellerPackagesPage,
  ownOverviewPage,
  ownServersPage,
  ownKeysPage,
  teamPage,
  joinPage,
  securityPage,
  confirmPage,
  tokensPage,
  resellerBrandingPage,
  activityPage,
  ownReferencePage,
]
