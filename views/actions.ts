// What can be done, for the search: each action, where it is done, and the operation that must be allowed for it.

import { importImage } from '../src/catalog/images/images.ts'
import { createPackage } from '../src/catalog/packages/packages.ts'
import { createResellerServer, createServer } from '../src/compute/servers/create.ts'
import { createLocation } from '../src/fleet/locations/locations.ts'
import { enrollNode } from '../src/fleet/nodes/enroll.ts'
import { createCustomer } from '../src/identity/accounts/customers.ts'
import { changePassword } from '../src/identity/accounts/own-account.ts'
import { createRole } from '../src/identity/accounts/staff/roles.ts'
import { createStaff } from '../src/identity/accounts/staff/staff.ts'
import { beginTotp } from '../src/identity/auth/second-factors/totp.ts'
import { createResellerCustomer } from '../src/identity/resellers/own.ts'
import { createReseller } from '../src/identity/resellers/resellers.ts'
import { addSshKey } from '../src/identity/ssh-keys/ssh-keys.ts'
import { inviteMember } from '../src/identity/team/invite.ts'
import { createToken } from '../src/identity/tokens/tokens.ts'
import type { AccountKind } from '../src/kernel/api/access.ts'
import type { Actor } from '../src/kernel/api/actor.ts'
import { mayCall, type Operation } from '../src/kernel/api/operation.ts'
import { createPool } from '../src/network/ip-pools/pools.ts'
import { createAnnouncement } from '../src/platform/announcements/announcements.ts'
import { verifyAudit } from '../src/platform/audit/verify.ts'
import { configureMail } from '../src/platform/settings/mail.ts'
import { idOf } from './components/act.ts'

type Action = { title: string; href: string; does: Operation }
const on = (title: string, href: string, does: Operation): Action => ({ title, href, does })
/** Its dialog opens by itself when the page has loaded. */
const dialog = (title: string, page: string, does: Operation) => on(title, `${page}#${idOf(does, {})}`, does)

const ofEverybody = [
  dialog('Create API token', '/account/api', createToken),
  on('Set up a second factor', '/account/security', beginTotp),
  dialog('Change password', '/account', changePassword),
]
const ofOwners = [dialog('Invite somebody', '/team', inviteMember), on('Add SSH key', '/account/ssh-keys', addSshKey)]

/** The first twelve are shown before anything is asked for. */
export const actions: Record<AccountKind, readonly Action[]> = {
  staff: [
    on('Create server', '/admin/servers/new', createServer),
    dialog('Add customer', '/admin/customers', createCustomer),
    dialog('Add reseller', '/admin/resellers', createReseller),
    on('Enroll node', '/admin/nodes/enroll', enrollNode),
    dialog('Add location', '/admin/node-groups', createLocation),
    dialog('Add address pool', '/admin/ip-pools', createPool),
    dialog('Import image from file', '/admin/images', importImage),
    dialog('Add package', '/admin/packages', createPackage),
    dialog('Announce something', '/admin/announcements', createAnnouncement),
    dialog('Add staff', '/admin/staff', createStaff),
    on('Roles and permissions', '/admin/roles', createRole),
    on('Verify the audit log', '/admin/audit/verify', verifyAudit),
    on('Set up mail', '/admin/settings', configureMail),
    ...ofEverybody,
  ],
  reseller: [
    on('Create server', '/reseller/servers/new', createResellerServer),
    dialog('Add customer', '/reseller/customers', createResellerCustomer),
    ...ofOwners,
    ...ofEverybody,
  ],
  customer: [...ofOwners, ...ofEverybody],
}

export const actionsOf = (actor: Actor): { type: 'action'; title: string; href: string }[] =>
  actions[actor.kind].filter((a) => mayCall(a.does, actor)).map(({ title, href }) => ({ type: 'action', title, href }))
