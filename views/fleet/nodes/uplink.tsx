// The interface that leads out of a node: its bond, the VLANs on it, and what is wrong with it.
import { hasVlan, type Uplink, vlansText } from '../../../agent/protocol/wire.ts'
import { uplinkTroubles } from '../../../src/fleet/node-records/uplink.ts'
import { Note } from '../../components/section.tsx'
import { sentence } from '../../components/words.ts'
import type { ShownNode } from './load.tsx'

const portWords = { up: 'has link', down: 'no link', apart: 'not in the aggregate' } as const

export const UplinkOf = ({ uplink: { name, up, bond, vlans, problem } }: { uplink: Uplink }) => (
  <>
    <div>
      <code>{name}</code>
      <span class="muted">
        {bond && ` bond ${bond.mode}`}
        {!up && ' no link'}
      </span>
    </div>
    {bond?.ports.map((port) => (
      <div>
        <code>{port.name}</code> <span class="muted">{portWords[port.state]}</span>
      </div>
    ))}
    <div>VLANs: {vlansText(vlans)}</div>
    {problem !== undefined && <small class="muted">{sentence(problem)}</small>}
  </>
)

export const UplinkWarnings = ({ node: n }: { node: ShownNode }) => {
  const { uplink } = n.facts
  const lost = n.pools.filter(({ vlan }) => vlan !== null && !hasVlan(uplink?.vlans ?? [], vlan))
  return (
    <>
      {uplink &&
        uplinkTroubles(uplink).map(({ level, words, effect }) => (
          <Note level={level}>
            <strong>{sentence(words)}</strong> {effect}
          </Note>
        ))}
      {lost.map((p) => (
        <Note level="bad">
          <strong>
            It does not carry VLAN {p.vlan} of {p.name}.
          </strong>{' '}
          It gives no addresses of the pool. Let its switch port have the VLAN, and say so on the node with{' '}
          <code>berth agent uplink</code>.
        </Note>
      ))}
    </>
  )
}
