import { Mix, type Share } from '../../components/figures.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import type { Updated } from './updated.ts'

/** The agents of all nodes, by their version. */
export function Agents({ updates: { agents, version } }: { updates: Updated }) {
  const shares = agents.flatMap(({ version: one, connected, away }): Share[] => {
    const isCurrent = one === version
    return [
      { name: one, n: connected, tone: isCurrent ? 'ok' : 'warn', shape: isCurrent ? 'tick' : 'wait' },
      { name: `${one}, away`, n: away, tone: 'idle', shape: 'away' },
    ]
  })
  const some = shares.filter(({ n }) => n > 0)
  return (
    <Section id="agents" title="Agents">
      {some.length > 0 ? <Mix shares={some} none="no nodes" /> : <p class="muted">There are no nodes yet.</p>}
      {some.some(({ name }) => !name.startsWith(version)) && (
        <p class="hint">
          Older agents go on working until a <Link to="/admin/roll-outs">roll-out</Link> updates them.
        </p>
      )}
    </Section>
  )
}
