// Which login the nodes use at a target, and giving a node one of its own.
import { removeNodeLogin, setNodeLogin } from '../../../src/compute/backup-targets/node-logins.ts'
import type { listBackupTargets } from '../../../src/compute/backup-targets/targets.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { count } from '../../components/words.ts'
import { NodeLogin } from './fields.tsx'

type Target = Answers<{ targets: typeof listBackupTargets }>['targets']['data'][number]
type Nodes = readonly { id: string; name: string }[]

/** The login that the nodes use there, in words. */
export function separationOf({ separation, ownLoginsOnly, sharingNodes: sharing, nodeLogins: own }: Target): string {
  if (separation === 'folders') return 'A folder on each node'
  if (!sharing.length) return own.length ? 'Each node has its own login' : 'No node yet'
  if (ownLoginsOnly) return `${count(sharing.length, 'node has', 'nodes have')} no login: ${namesOf(sharing)}`
  return `${count(sharing.length, 'node uses', 'nodes use')} the shared login: ${namesOf(sharing)}`
}
const NAMED = 3
const namesOf = (nodes: readonly { name: string }[]) =>
  nodes
    .slice(0, NAMED)
    .map(({ name }) => name)
    .join(', ') + (nodes.length > NAMED ? ' …' : '')

export const GiveLogin = ({ of: b, nodes }: { of: Target; nodes: Nodes }) => (
  <Edit
    op={setNodeLogin}
    params={{ id: b.id }}
    label="Give a node its own login"
    of={b.name}
    inMenu
    title={`A login for one node at ${b.name}`}
    done="The node uses its own login from now on. Test it."
    disabledReason={!nodes.length && 'There is no node yet.'}
    fields={
      <>
        <p class="muted">
          Make it at the target first, with the same folder or bucket and no right to delete. Where a node is stolen,
          revoke it there: the other nodes go on.
        </p>
        <Select
          scope={`login-${b.id}`}
          name="nodeId"
          label="Node"
          options={nodes.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <NodeLogin scope={`login-${b.id}`} kind={b.kind} />
      </>
    }
  />
)

export const RemoveLogin = ({ of: b }: { of: Target }) => (
  <Action
    op={removeNodeLogin}
    params={{ id: b.id }}
    label="Remove the login of a node"
    of={b.name}
    inMenu
    tone="bad"
    title={`Remove the login of a node at ${b.name}`}
    submit="Remove"
    done="The login is forgotten"
    fields={
      <>
        <p class="muted">
          {b.ownLoginsOnly
            ? 'The node then does not reach the target any more.'
            : 'The node then uses the login that the other nodes share.'}{' '}
          At the target itself it stays until you remove it there.
        </p>
        <Select
          scope={`unlogin-${b.id}`}
          name="nodeId"
          label="Node"
          options={b.nodeLogins.map(({ node, login }) => ({ value: node.id, label: `${node.name} (${login})` }))}
        />
      </>
    }
  />
)
