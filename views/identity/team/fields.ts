// What an invitation asks for, and what a role is called; on the team's page and on a server's.

import { type Role, roleNames, roles } from '../../../src/identity/team/share.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { field, type Option, radios, select } from '../../html/field.ts'

export const roleTitles: Record<Role, string> = { view: 'View', operate: 'Operate', manage: 'Manage' }

export const roleChoice = (scope: string, value: Role): Html =>
  radios(scope, 'role', {
    label: 'Role',
    value,
    options: roleNames.map((name) => ({ value: name, label: roleTitles[name], hint: roles[name].words })),
  })

/** `servers`: to choose from; without them the call says itself which one it is. */
export const inviteFields = (scope: string, servers?: readonly Option[]): Html => html`
  ${field(scope, 'email', { label: 'E-mail address', type: 'email', required: true, hint: 'They get a link that works once, within seven days.' })}
  ${servers && select(scope, 'serverId', { label: 'Servers', nullable: true, options: [{ value: '', label: 'All servers, including later ones' }, ...servers] })}
  ${roleChoice(scope, 'view')}
  <p class="hint">They never see your account, SSH keys or tokens, and no server that is not shared with them.</p>`
