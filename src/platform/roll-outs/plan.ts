// The nodes of a roll-out in their order: one first, then waves.

import type { Node } from '../../fleet/node-records/model.ts'
import { VERSION } from '../../kernel/version.ts'
import type { RollOutNode, RollOutNodeState, UpdateWindow } from './tables.ts'

export type Candidate = { node: Node; workloads: number; connected: boolean }
type Planned = Pick<RollOutNode, 'nodeId' | 'wave' | 'place' | 'state' | 'fromVersion'>
type Wanted = {
  firstNodeId: string | undefined
  /** The last one is that of all further waves, too. */
  waveSizes: readonly number[]
  windows: readonly UpdateWindow[]
  leftOut: ReadonlySet<string>
}

/** How a node begins that takes no part; undefined: it takes part. */
function apartState({ node: { id, facts } }: Candidate, leftOut: ReadonlySet<string>): RollOutNodeState | undefined {
  if (facts.agentVersion === VERSION) return 'already'
  if (facts.updatedBy === 'package') return 'by_package'
  if (facts.updatedBy !== 'itself') return 'by_person'
  return leftOut.has(id) ? 'left_out' : undefined
}

/**
 * The first node is the one that was chosen, or the connected one with the fewest workloads. Nodes whose location has
 * a window come last and together, so that a wave seldom waits for several windows.
 */
export function planned(candidates: readonly Candidate[], wanted: Wanted): Planned[] {
  const { firstNodeId, waveSizes, windows, leftOut } = wanted
  const windowOf = new Map(windows.map((window, place) => [window.locationId, place + 1]))
  const rank = ({ node, workloads, connected }: Candidate) =>
    [Number(node.id !== firstNodeId), windowOf.get(node.locationId) ?? 0, Number(!connected), workloads] as const
  const inOrder = candidates.toSorted((a, b) => {
    const [ofA, ofB] = [rank(a), rank(b)]
    const differs = ofA.findIndex((value, n) => value !== ofB[n])
    return differs < 0 ? a.node.name.localeCompare(b.node.name) : ofA[differs]! - ofB[differs]!
  })
  let [wave, leftInWave] = [0, 1]
  return inOrder.map((candidate, place) => {
    const { id: nodeId, facts } = candidate.node
    const about = { nodeId, place, fromVersion: facts.agentVersion }
    const state = apartState(candidate, leftOut)
    if (state) return { ...about, wave: null, state }
    if (leftInWave === 0) leftInWave = waveSizes[Math.min(wave++, waveSizes.length - 1)]!
    leftInWave--
    return { ...about, wave, state: 'waiting' }
  })
}
