// The form of an invitation and the names of roles, on the team's page and on a server's.
import { type Role, roleNames, roles } from '../../../src/identity/team/role.ts'
import { Radios } from '../../components/choices.tsx'
import { Field, type Option, Select } from '../../components/field.tsx'

export const roleTitles: Record<Role, string> = { view: 'View', operate: 'Operate', manage: 'Manage' }

export const RoleChoice = ({ scope, value }: { scope: string; value: Role }) => (
  <Radios
    scope={scope}
    name="role"
    label="Role"
    value={value}
    options={roleNames.map((name) => ({ value: name, label: roleTitles[name], hint: roles[name].words }))}
  />
)

type InviteProps = {
  scope: string
  /** To choose from; without them the body of the call names the server. */
  servers?: readonly Option[]
}
export const InviteFields = ({ scope, servers }: InviteProps) => (
  <>
    <Field
      scope={scope}
      name="email"
      label="E-mail address"
      type="email"
      required
      hint="They get a link that works once, within seven days."
    />
    {servers && (
      <Select
        scope={scope}
        name="serverId"
        label="Servers"
        nullable
        options={[{ value: '', label: 'All servers, including future ones' }, ...servers]}
      />
    )}
    <RoleChoice scope={scope} value="view" />
    <p class="hint">They never see your account, SSH keys or tokens, nor any server that is not shared with them.</p>
  </>
)
