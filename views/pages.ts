// Every page there is. What is not in this list is not found.
import type { Page } from '../src/kernel/web/page.ts'
import { profilePage } from './account/profile.ts'
import { securityPage } from './account/security.ts'
import { poolsPage } from './addresses/list.ts'
import { poolPage } from './addresses/show.ts'
import { announcementsPage } from './announcements/list.ts'
import { activityPage, serverActivityPages } from './audit/activity.ts'
import { auditPage } from './audit/list.ts'
import { auditVerifyPage } from './audit/verify.ts'
import { customersPage, resellerCustomersPage } from './customers/list.ts'
import { customerPage, resellerCustomerPage } from './customers/show.ts'
import { controllerPage } from './host/controller.ts'
import { imagesPage } from './images/list.ts'
import { jobsPages } from './jobs/list.ts'
import { jobPages } from './jobs/show.ts'
import { locationsPage } from './locations/list.ts'
import { enrollmentPage, enrollPage } from './nodes/enroll.ts'
import { nodesPage } from './nodes/list.ts'
import { nodePage } from './nodes/show.ts'
import { overviewPage } from './overview/overview.ts'
import { ownOverviewPage } from './overview/own-overview.ts'
import { packagesPage } from './packages/list.ts'
import { ownReferencePage, referencePage } from './reference/show.ts'
import { resellerOverviewPage } from './reseller/overview.ts'
import { resellerPackagesPage } from './reseller/packages.ts'
import { resellersPage } from './resellers/list.ts'
import { resellerPage } from './resellers/show.ts'
import { searchPage } from './search/search.ts'
import { resellerServersPage, serversPage } from './servers/list.ts'
import { newServerPage, resellerNewServerPage } from './servers/new.ts'
import { ownServersPage } from './servers/own.ts'
import { serverPages } from './servers/show.ts'
import { resellerBrandingPage } from './settings/branding.ts'
import { settingsPage } from './settings/settings.ts'
import { confirmPage } from './sign-in/confirm.ts'
import { confirmEmailPage, forgotPage, resetPage, signInLinkPage, welcomePage } from './sign-in/links.ts'
import { providerPage } from './sign-in/oidc.ts'
import { secondFactorPage } from './sign-in/second-factor.ts'
import { setUpPage } from './sign-in/set-up.ts'
import { signInPage } from './sign-in/sign-in.ts'
import { ownKeysPage } from './ssh-keys/own.ts'
import { staffPage } from './staff/list.ts'
import { rolesPage } from './staff/roles.ts'
import { joinPage } from './team/join.ts'
import { teamPage } from './team/list.ts'
import { tokensPage } from './tokens/list.ts'

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
