// The header of the pages of a node.
import type { ComponentChildren } from 'preact'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { NodeState } from '../../components/state.tsx'
import { PageTabs } from '../../components/table.tsx'
import { Ago } from '../../components/time.tsx'
import { type ShownNode, virtualisation } from './load.tsx'

/** `state`: in place of whether it is connected and open. */
type HeadProps = { node: ShownNode; state?: ComponentChildren; actions?: ComponentChildren }

/** Name, state and tabs of a node. */
export const NodeHead = ({ node, state, actions }: HeadProps) => (
  <>
    <Head
      title={node.name}
      trail={[['Nodes', '/admin/nodes']]}
      state={state || <NodeState of={node} tag />}
      actions={actions}
      sub={<Summary node={node} />}
    />
    <PageTabs
      label="Node"
      of={[
        [`/admin/nodes/${node.id}`, 'Overview'],
        [`/admin/nodes/${node.id}/storage`, 'Storage'],
        [`/admin/nodes/${node.id}/gpus`, 'GPUs'],
        [`/admin/nodes/${node.id}/metrics`, 'Metrics'],
      ]}
    />
  </>
)

/** The frame of a tab that draws its own parts. */
export const NodeFrame = ({ node, children }: { node: ShownNode; children: ComponentChildren }) => (
  <>
    <Live id="node" every={4}>
      <NodeHead node={node} />
    </Live>
    {children}
  </>
)

const Summary = ({ node: n }: HeadProps) => (
  <>
    <span>
      <Link to="/admin/node-groups">{n.location.name}</Link>
    </span>
    <span>{n.fake ? 'Simulated: it runs no virtual machines' : virtualisation[n.virtualisation.kind]}</span>
    {n.connected && n.connectedAt ? (
      <span>
        connected <Ago iso={n.connectedAt} />
      </span>
    ) : (
      <span>
        last seen <Ago iso={n.seenAt} />
      </span>
    )}
  </>
)
