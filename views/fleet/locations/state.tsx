// The state of a location, by one rule for every page: from whether it is open, and from its nodes.
import type { listLocations } from '../../../src/fleet/locations/locations.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { count } from '../../components/words.ts'

type Location = Answers<{ l: typeof listLocations }>['l']['data'][number]
type Known = Pick<Location, 'open' | 'nodes' | 'connectedNodes' | 'openNodes'>

/** A tone, a shape and words. It is green only where orders can go to some node and none of its nodes is away. */
export function locationState({ open, nodes, connectedNodes, openNodes }: Known): [Tone, IconName, string] {
  const away = nodes - connectedNodes
  if (away > 0)
    return [
      'bad',
      'away',
      away < nodes ? `${away} of ${count(nodes, 'node')} away` : nodes > 1 ? 'All nodes away' : 'Its node is away',
    ]
  if (!open) return ['hold', 'hold', 'Closed']
  if (!nodes) return ['idle', 'wait', 'No nodes yet']
  return openNodes > 0 ? ['ok', 'dot', 'Open'] : ['hold', 'hold', 'No open node']
}

/** Says what becomes of an order for it. */
export const ordersOf = ({ open, nodes, connectedNodes, openNodes }: Known): string =>
  !open
    ? 'Closed for new servers'
    : openNodes === 0
      ? nodes > connectedNodes && connectedNodes === 0
        ? 'Open, but orders are refused: no node answers'
        : 'Open, but orders are refused'
      : openNodes < nodes
        ? `Open: orders go to ${count(openNodes, 'node')}`
        : 'Open for new servers'

/** `1 of 2 connected` */
export const nodesOf = ({ nodes, connectedNodes }: Known): string =>
  nodes > 0 ? `${connectedNodes} of ${nodes} connected` : 'None yet'

export const LocationState = ({ of, tag }: { of: Known; tag?: boolean }) => {
  const [tone, shape, words] = locationState(of)
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}
