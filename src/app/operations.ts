// Every operation there is. What is not in this list does not exist: no route, no button, no `berth admin`.

import {
  addCatalogueImage,
  changeImage,
  importImage,
  listImages,
  listOfferedImages,
  removeImage,
} from '../catalog/images/images.ts'
import { changePackage, createPackage, listPackages } from '../catalog/packages/packages.ts'
import { createResellerServer, createServer } from '../compute/servers/create.ts'
import { getServer, listAllServers, listServers } from '../compute/servers/list.ts'
import { renameServer } from '../compute/servers/name.ts'
import { powerServer } from '../compute/servers/power.ts'
import { reinstallServer, setupServer } from '../compute/servers/setup.ts'
import { suspendServer, unsuspendServer } from '../compute/servers/suspend.ts'
import { terminateServer } from '../compute/servers/terminate.ts'
import { changeLocation, createLocation, listLocations } from '../fleet/locations/locations.ts'
import { enrollNode, getEnrollment } from '../fleet/nodes/enroll.ts'
import { changeNode, getNode, listNodes, removeNode } from '../fleet/nodes/nodes.ts'
import { setAllowance } from '../identity/accounts/allowance.ts'
import {
  changeCustomer,
  createCustomer,
  getCustomer,
  listCustomers,
  lockCustomer,
  unlockCustomer,
} from '../identity/accounts/customers.ts'
import {
  changeEmail,
  changeOwnAccount,
  changePassword,
  confirmEmail,
  getOwnAccount,
} from '../identity/accounts/own-account.ts'
import { setUp } from '../identity/accounts/set-up.ts'
import { changeRole, createRole, listRoles, removeRole } from '../identity/accounts/staff/roles.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from '../identity/accounts/staff/staff.ts'
import { beginConfirm, confirmSession } from '../identity/auth/confirm.ts'
import {
  getSignInProvider,
  removeSignInProvider,
  setSignInProvider,
} from '../identity/auth/identity-provider/configure.ts'
import { listIdentities, removeIdentity } from '../identity/auth/identity-provider/identities.ts'
import { beginProviderSignIn, completeProviderSignIn, getProvider } from '../identity/auth/identity-provider/oidc.ts'
import { inviteCustomer, requestReset, setPassword } from '../identity/auth/links/password-links.ts'
import { createServerSignInLink, createSignInLink, useSignInLink } from '../identity/auth/links/sign-in-links.ts'
import { endOneSession, endOtherSessions, listSessions } from '../identity/auth/own-sessions.ts'
import {
  beginPasskeySignIn,
  beginSecondPasskey,
  completeSecondFactor,
  getPendingSignIn,
  passkeySignIn,
} from '../identity/auth/second-factors/complete-second-factor.ts'
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from '../identity/auth/second-factors/passkeys.ts'
import { resetCustomerFactors, resetStaffFactors } from '../identity/auth/second-factors/reset-factors.ts'
import { getSecondFactor, renewRecoveryCodes } from '../identity/auth/second-factors/second-factors.ts'
import { beginTotp, confirmTotp, removeTotp } from '../identity/auth/second-factors/totp.ts'
import { signIn, signOut } from '../identity/auth/sign-in.ts'
import { closeSupport, openSupport } from '../identity/auth/support-session.ts'
import { createResellerCustomer, getResellerAccount, listResellerCustomers } from '../identity/resellers/own.ts'
import {
  changeReseller,
  createReseller,
  getReseller,
  listResellers,
  suspendReseller,
  unsuspendReseller,
} from '../identity/resellers/resellers.ts'
import { addSshKey, listSshKeys, removeSshKey, renameSshKey } from '../identity/ssh-keys/ssh-keys.ts'
import { acceptInvitation, getInvitation, joinTeam } from '../identity/team/accept.ts'
import { inviteMember, resendInvitation } from '../identity/team/invite.ts'
import { changeMember, listTeam, removeMember } from '../identity/team/members.ts'
import { leaveTeam, listMemberships } from '../identity/team/memberships.ts'
import { createToken, grantToken, listTokens, revokeToken, rotateToken } from '../identity/tokens/tokens.ts'
import type { Operation } from '../kernel/api/operation.ts'
import {
  attachPool,
  createPool,
  getPool,
  listPoolAddresses,
  listPools,
  removePool,
  reserveAddress,
} from '../network/ip-pools/pools.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  listAnnouncements,
  removeAnnouncement,
} from '../platform/announcements/announcements.ts'
import { listActivity, listServerActivity } from '../platform/audit/activity.ts'
import { listAudit } from '../platform/audit/audit.ts'
import { exportAuditCsv, exportAuditJson } from '../platform/audit/export.ts'
import { verifyAudit } from '../platform/audit/verify.ts'
import { getPanelHost } from '../platform/host/panel-host.ts'
import { getStatus } from '../platform/host/status.ts'
import { getJob, getJobLog, listJobs } from '../platform/jobs/jobs.ts'
import { getOverview } from '../platform/overview/overview.ts'
import { getOwnOverview } from '../platform/overview/own-overview.ts'
import { search } from '../platform/search/search.ts'
import { ownBranding, resellerBranding } from '../platform/settings/branding.ts'
import { configureMail, getMail, testMail } from '../platform/settings/mail.ts'
import { rotateSecrets } from '../platform/settings/rotate-secrets.ts'

/** Whatever can be done, here or only on the host. */
export const allOperations: readonly Operation[] = [
  getStatus,
  getOverview,
  getOwnOverview,
  getPanelHost,
  setUp,
  signIn,
  signOut,
  useSignInLink,
  getProvider,
  beginProviderSignIn,
  completeProviderSignIn,
  listIdentities,
  removeIdentity,
  requestReset,
  setPassword,
  confirmEmail,
  getOwnAccount,
  changeOwnAccount,
  changePassword,
  changeEmail,
  getPendingSignIn,
  completeSecondFactor,
  beginSecondPasskey,
  beginPasskeySignIn,
  passkeySignIn,
  confirmSession,
  beginConfirm,
  listSessions,
  endOneSession,
  endOtherSessions,
  getSecondFactor,
  beginTotp,
  confirmTotp,
  removeTotp,
  renewRecoveryCodes,
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  createStaff,
  listStaff,
  changeStaff,
  disableStaff,
  enableStaff,
  resetStaffFactors,
  listRoles,
  createRole,
  changeRole,
  removeRole,
  openSupport,
  closeSupport,
  grantToken,
  createToken,
  listTokens,
  rotateToken,
  revokeToken,
  createCustomer,
  listCustomers,
  getCustomer,
  changeCustomer,
  lockCustomer,
  unlockCustomer,
  setAllowance,
  createReseller,
  listResellers,
  getReseller,
  changeReseller,
  suspendReseller,
  unsuspendReseller,
  getResellerAccount,
  createResellerCustomer,
  listResellerCustomers,
  inviteCustomer,
  resetCustomerFactors,
  createSignInLink,
  addSshKey,
  listSshKeys,
  renameSshKey,
  removeSshKey,
  inviteMember,
  listTeam,
  changeMember,
  removeMember,
  resendInvitation,
  listMemberships,
  leaveTeam,
  getInvitation,
  acceptInvitation,
  joinTeam,
  createPackage,
  listPackages,
  changePackage,
  createLocation,
  listLocations,
  changeLocation,
  enrollNode,
  getEnrollment,
  listNodes,
  getNode,
  changeNode,
  removeNode,
  createPool,
  listPools,
  getPool,
  listPoolAddresses,
  attachPool,
  reserveAddress,
  removePool,
  addCatalogueImage,
  importImage,
  listImages,
  listOfferedImages,
  changeImage,
  removeImage,
  createServer,
  createResellerServer,
  listAllServers,
  listServers,
  getServer,
  renameServer,
  setupServer,
  reinstallServer,
  powerServer,
  suspendServer,
  unsuspendServer,
  terminateServer,
  createServerSignInLink,
  listJobs,
  getJob,
  getJobLog,
  listAudit,
  exportAuditJson,
  exportAuditCsv,
  verifyAudit,
  listActivity,
  listServerActivity,
  search,
  listAnnouncements,
  createAnnouncement,
  listAllAnnouncements,
  changeAnnouncement,
  removeAnnouncement,
  getMail,
  configureMail,
  rotateSecrets,
  testMail,
  ...Object.values(ownBranding),
  ...Object.values(resellerBranding),
  getSignInProvider,
  setSignInProvider,
  removeSignInProvider,
]

/** What the API is made of. */
export const operations = allOperations.filter((op) => !op.localOnly)
/** What only `berth` on the controller's host can do, beside all of that. */
export const hostOperations = allOperations.filter((op) => op.localOnly)
