// Every operation there is. What is not in this list does not exist: no route, no button, no `berth admin`.

import { setAllowance } from './accounts/allowance.ts'
import { changeCustomer, createCustomer, getCustomer, listCustomers, lockCustomer, unlockCustomer } from './accounts/customers.ts'
import { changeEmail, changeOwnAccount, changePassword, confirmEmail, getOwnAccount } from './accounts/own-account.ts'
import { changeRole, createRole, listRoles, removeRole } from './accounts/roles.ts'
import { setUp } from './accounts/set-up.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from './accounts/staff.ts'
import { attachPool, createPool, getPool, listPoolAddresses, listPools, removePool, reserveAddress } from './addresses/pools.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  listAnnouncements,
  removeAnnouncement,
} from './announcements/announcements.ts'
import { listActivity, listServerActivity } from './audit/activity.ts'
import { listAudit } from './audit/audit.ts'
import { exportAuditCsv, exportAuditJson } from './audit/export.ts'
import { verifyAudit } from './audit/verify.ts'
import { getPanelHost } from './host/panel-host.ts'
import { getStatus } from './host/status.ts'
import { addCatalogueImage, changeImage, importImage, listImages, listOfferedImages, removeImage } from './images/images.ts'
import { getJob, getJobLog, listJobs } from './jobs/jobs.ts'
import type { Operation } from './kernel/api/operation.ts'
import { changeLocation, createLocation, listLocations } from './locations/locations.ts'
import { enrollNode, getEnrollment } from './nodes/enroll.ts'
import { changeNode, getNode, listNodes, removeNode } from './nodes/nodes.ts'
import { getOverview } from './overview/overview.ts'
import { getOwnOverview } from './overview/own-overview.ts'
import { changePackage, createPackage, listPackages } from './packages/packages.ts'
import { createResellerCustomer, getResellerAccount, listResellerCustomers } from './resellers/own.ts'
import { changeReseller, createReseller, getReseller, listResellers, suspendReseller, unsuspendReseller } from './resellers/resellers.ts'
import { search } from './search/search.ts'
import { createResellerServer, createServer } from './servers/create.ts'
import { getServer, listAllServers, listServers } from './servers/list.ts'
import { renameServer } from './servers/name.ts'
import { powerServer } from './servers/power.ts'
import { reinstallServer, setupServer } from './servers/setup.ts'
import { suspendServer, unsuspendServer } from './servers/suspend.ts'
import { terminateServer } from './servers/terminate.ts'
import { ownBranding, resellerBranding } from './settings/branding.ts'
import { configureMail, getMail, testMail } from './settings/mail.ts'
import { rotateSecrets } from './settings/rotate-secrets.ts'
import { getSignInProvider, removeSignInProvider, setSignInProvider } from './settings/sign-in.ts'
import { beginConfirm, confirmSession } from './sign-in/confirm.ts'
import {
  beginPasskeySignIn,
  beginSecondPasskey,
  finishSecondFactor,
  getPendingSignIn,
  passkeySignIn,
} from './sign-in/finish-second-factor.ts'
import { resetCustomerFactors, resetStaffFactors } from './sign-in/lost-factor.ts'
import { beginProviderSignIn, finishProviderSignIn, getProvider } from './sign-in/oidc.ts'
import { listIdentities, removeIdentity } from './sign-in/oidc-identities.ts'
import { endOneSession, endOtherSessions, listSessions } from './sign-in/own-sessions.ts'
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from './sign-in/passkeys.ts'
import { inviteCustomer, requestReset, setPassword } from './sign-in/password-links.ts'
import { getSecondFactor, renewRecoveryCodes } from './sign-in/second-factors.ts'
import { signIn, signOut } from './sign-in/sign-in.ts'
import { createServerSignInLink, createSignInLink, useSignInLink } from './sign-in/sign-in-links.ts'
import { closeSupport, openSupport } from './sign-in/support.ts'
import { beginTotp, confirmTotp, removeTotp } from './sign-in/totp.ts'
import { addSshKey, listSshKeys, removeSshKey, renameSshKey } from './ssh-keys/ssh-keys.ts'
import { acceptInvitation, getInvitation, joinTeam } from './team/accept.ts'
import { inviteMember, resendInvitation } from './team/invite.ts'
import { changeMember, listTeam, removeMember } from './team/members.ts'
import { leaveTeam, listMemberships } from './team/memberships.ts'
import { createToken, grantToken, listTokens, revokeToken, rotateToken } from './tokens/tokens.ts'

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
  finishProviderSignIn,
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
  finishSecondFactor,
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
export const operations = allOperations.filter((op) => !op.onHost)
/** What only `berth` on the controller's host can do, beside all of that. */
export const hostOperations = allOperations.filter((op) => op.onHost)
