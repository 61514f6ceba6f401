// Actions on a node: beside its title, and those that end it in the menu.

import type { ComponentChildren } from 'preact'
import type { listVolumes } from '../../../src/compute/volumes/list.ts'
import { stopAwaiting } from '../../../src/fleet/nodes/addresses/stop-awaiting.ts'
import { renewEnrollment, revokeCredential } from '../../../src/fleet/nodes/enroll.ts'
import { declareNodeLost } from '../../../src/fleet/nodes/lose.ts'
import { changeNode } from '../../../src/fleet/nodes/nodes.ts'
import { removeNode, removeNodeWithWorkloads } from '../../../src/fleet/nodes/remove.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Time } from '../../components/time.tsx'
import { count, units } from '../../components/words.ts'
import { AnnounceOnNode } from '../../platform/announcements/list.tsx'
import type { ShownNode } from './load.tsx'

type NodeProps = { node: ShownNode }
type Volumes = Answers<{ volumes: typeof listVolumes }>['volumes']
type EndProps = NodeProps & { servers: readonly { hostname: string }[]; volumes: Volumes | undefined }

/** `ending`: in place of closing and opening it, while it is in maintenance. */
export const NodeActions = ({ node: n, servers, volumes, ending }: EndProps & { ending?: ComponentChildren }) => (
  <>
    {ending ?? (n.open ? <Close node={n} /> : <Open node={n} />)}
    {!n.lostAt && (
      <Link class="btn" to="/admin/nodes/{id}/drain" params={{ id: n.id }}>
        Drain
      </Link>
    )}
    <Edit node={n} />
    {n.connected && n.servers > 0 && <AnnounceOnNode node={n} />}
    {useAt().may(removeNode) && (
      <Menu label="More actions">
        <RenewCredential node={n} />
        <RevokeCredential node={n} />
        <StopAwaiting node={n} />
        <DeclareLost node={n} servers={servers} volumes={volumes} />
        <RemoveWithServers node={n} servers={servers} volumes={volumes} />
        <Remove node={n} volumes={volumes?.total ?? 0} />
      </Menu>
    )}
  </>
)

const Open = ({ node: n }: NodeProps) => (
  <Action
    op={changeNode}
    params={{ id: n.id }}
    label="Open"
    body={{ open: true }}
    done={`${n.name} takes new servers`}
  />
)

const Close = ({ node: n }: NodeProps) => (
  <Action
    op={changeNode}
    params={{ id: n.id }}
    label="Close"
    body={{ open: false }}
    icon="lock"
    done={`${n.name} takes no new servers`}
    title={`Close ${n.name} for new servers?`}
    confirm={{
      keep: 'Keep it open',
      consequences: [
        'New servers go to other nodes of its location. If there are none, orders are refused.',
        `Its ${count(n.servers, 'server')} keep${n.servers === 1 ? 's' : ''} running.`,
      ],
    }}
    fields={
      <Field
        scope={`close-${n.id}`}
        name="closedReason"
        label="Reason"
        as="null"
        hint="Your colleagues read it on the page of the node."
      />
    }
  />
)

const Edit = ({ node: n }: NodeProps) => (
  <EditEntry
    op={changeNode}
    of={n}
    label="Edit"
    inMenu={false}
    fields={
      <>
        <Field scope={`edit-${n.id}`} name="name" label="Name" required value={n.name} />
        <Bridge node={n} />
        <Field
          scope={`edit-${n.id}`}
          name="reservedMemoryMb"
          label="Memory reserved for the host"
          as="number"
          unit={units.memoryMb}
          required
          value={n.reservedMemoryMb}
          hint="Servers cannot use it."
        />
      </>
    }
  />
)

const RenewCredential = ({ node: n }: NodeProps) =>
  n.lostAt ? null : (
    <Action
      op={renewEnrollment}
      params={{ id: n.id }}
      label="Renew credential"
      inMenu
      title={`Renew the credential of ${n.name}?`}
      submit="Create command"
      done="Command created"
      secret={{
        field: 'command',
        title: `Run this command on ${n.name}, as root`,
        words: 'It works once, within an hour, and is not shown again.',
      }}
      confirm={{
        keep: 'Cancel',
        consequences: [
          `A command for ${n.name} is created. The node keeps its name, its place and its servers.`,
          'The old credential works until the command has run.',
          n.connected && `Another machine is refused until ${n.name} is switched off or its credential is revoked.`,
          'All owners are told by mail.',
        ],
      }}
    />
  )

const RevokeCredential = ({ node: n }: NodeProps) =>
  n.lostAt || n.credentialRevokedAt ? null : (
    <Action
      op={revokeCredential}
      params={{ id: n.id }}
      label="Revoke credential"
      inMenu
      tone="bad"
      title={`Revoke the credential of ${n.name}?`}
      done={`The credential of ${n.name} is revoked`}
      confirm={{
        keep: 'Keep it',
        consequences: [
          `${n.name} is disconnected immediately and refused until its credential is renewed.`,
          n.servers > 0 && 'Its servers keep running but cannot be changed.',
          'All owners are told by mail.',
        ],
      }}
    />
  )

/** A choice of the bridges that the node has; free text while its own is not among them. */
function Bridge({ node: n }: NodeProps) {
  const shared = {
    scope: `edit-${n.id}`,
    name: 'bridge',
    label: 'Bridge',
    value: n.bridge,
    hint: 'For servers that are installed from now on.',
  }
  const options = n.facts.bridges.map((b) => ({
    value: b.name,
    label: b.addresses.length ? `${b.name} (${b.addresses.join(', ')})` : b.name,
  }))
  return options.some((o) => o.value === n.bridge) ? (
    <Select {...shared} options={options} />
  ) : (
    <Field {...shared} required mono />
  )
}

/** At most this many servers are named in a question. */
const NAMED = 20

/** The servers that a question concerns, by name; counted where the reader does not see them. */
function namesOf({ node: n, servers }: Pick<EndProps, 'node' | 'servers'>): string {
  const names = servers.slice(0, NAMED).map((s) => s.hostname)
  const more = n.servers - names.length
  const others = more > 0 ? ` and ${count(more, 'more server', 'more servers')}` : ''
  return names.length ? names.join(', ') + others : count(n.servers, 'server')
}

/** The volumes on the node by name, and their end; false where there is none. */
function volumesLost(volumes: Volumes | undefined): string | false {
  if (!volumes?.total) return false
  const each = volumes.data.map(
    ({ name, owner, server }) => `${name} of ${owner.name} (${server ? `at ${server.hostname}` : 'detached'})`,
  )
  const more = volumes.total - each.length
  return (
    `These volumes are lost with all that is on them, and billed no more: ${each.join(', ')}` +
    `${more > 0 ? ` and ${count(more, 'more volume')}` : ''}. They stay listed as lost until they are deleted.`
  )
}

const StopAwaiting = ({ node: n }: NodeProps) =>
  n.awaited && !n.lostAt ? (
    <Action
      op={stopAwaiting}
      params={{ id: n.id }}
      label="Take orders without it"
      inMenu
      tone="bad"
      body={{ name: n.name }}
      title={`Take orders without the addresses of ${n.name}?`}
      done="Its pools give addresses again"
      confirm={{
        type: n.name,
        keep: 'Keep waiting for it',
        consequences: [
          `${n.name} has not told which addresses are in use on it since the database was restored.`,
          'The pools that it routes give addresses again, also one that a lost server on it has.',
          'What it tells when it connects is held, and an address that two servers have stands under Needs attention.',
        ],
      }}
    />
  ) : null

const HOUR_MS = 3_600_000

function DeclareLost({ node: n, servers, volumes }: EndProps) {
  const wasHere = useAt().now - Date.parse(n.seenAt) < HOUR_MS
  return n.connected || n.lostAt ? null : (
    <Action
      op={declareNodeLost}
      params={{ id: n.id }}
      label="Declare lost"
      inMenu
      tone="bad"
      body={{ name: n.name }}
      title={`Declare ${n.name} lost?`}
      done={`${n.name} is lost`}
      confirm={{
        type: n.name,
        keep: 'Keep waiting for it',
        consequences: [
          wasHere && (
            <>
              It was connected <Time iso={n.seenAt} />. It may only be restarting: a node that comes back has lost
              nothing.
            </>
          ),
          'Switch it off first. Where it still runs servers, it stops them only when it reaches the controller again.',
          'It is refused when it comes back, until it is enrolled again. All owners are told by mail.',
          'Jobs for it end; whatever they still had to undo there is skipped.',
          n.servers > 0 && `These servers are marked as failed: ${namesOf({ node: n, servers })}.`,
          n.servers > 0 && 'They keep their addresses until each is restored elsewhere or terminated.',
          volumesLost(volumes),
        ],
      }}
    />
  )
}

const RemoveWithServers = ({ node: n, servers, volumes }: EndProps) =>
  n.connected || (n.servers === 0 && !volumes?.total) ? null : (
    <Action
      op={removeNodeWithWorkloads}
      params={{ id: n.id }}
      label={n.servers ? 'Remove with its servers' : 'Remove with its volumes'}
      inMenu
      tone="bad"
      body={{ name: n.name }}
      title={`Remove ${n.name} and ${n.servers ? 'terminate its servers' : 'lose its volumes'}?`}
      done="{summary}"
      leadsTo="/admin/nodes"
      confirm={{
        type: n.name,
        keep: 'Keep node',
        consequences: [
          n.servers > 0 &&
            `These servers are terminated, and their addresses become free: ${namesOf({ node: n, servers })}.`,
          n.servers > 0 &&
            'Switch the machine off first. Servers that run on it are stopped only when it reaches the controller.',
          volumesLost(volumes),
          'Berth cannot restore any of their data.',
          'Beyond the limit of the brake terminations and extra volumes wait for a second person, as does the node.',
          'Otherwise its credential is revoked immediately. All owners are told by mail.',
        ],
      }}
    />
  )

const Remove = ({ node: n, volumes }: NodeProps & { volumes: number }) => (
  <Action
    op={removeNode}
    params={{ id: n.id }}
    label="Remove node"
    inMenu
    tone="bad"
    disabledReason={
      !n.lostAt &&
      ((n.servers > 0 && `It has ${count(n.servers, 'server')}. Move or terminate them first.`) ||
        (volumes > 0 && `It has ${count(volumes, 'extra volume')} of customers. Delete them first.`))
    }
    title={`Remove ${n.name}?`}
    done={`${n.name} is removed`}
    leadsTo="/admin/nodes"
    confirm={{
      type: n.name,
      keep: 'Keep node',
      consequences: [
        'Its credential is revoked immediately, and its agent cannot connect with it again.',
        'It stops whatever server it still runs, such as one that the records do not have.',
        'It is detached from every address pool. All owners are told by mail.',
        'What is on its disks stays there. To use it again, enroll it again.',
      ],
    }}
  />
)
