// The button that ends the maintenance of a node.
import { returnToNode } from '../../../src/compute/drains/return.ts'
import { Action } from '../../components/action.tsx'
import { Check } from '../../components/field.tsx'
import { count } from '../../components/words.ts'

type EndProps = { node: { id: string; name: string }; moved: number; stopped: number }
export const EndMaintenance = ({ node, moved, stopped }: EndProps) => (
  <Action
    op={returnToNode}
    params={{ id: node.id }}
    label="End maintenance"
    icon="play"
    tone="pri"
    title={`End the maintenance of ${node.name}?`}
    done={`${node.name} is open`}
    leadsTo={`/admin/nodes/${node.id}`}
    confirm={{
      keep: 'Keep it closed',
      consequences: [
        `${node.name} takes new servers again.`,
        stopped > 0 && `${count(stopped, 'server')} that ${stopped === 1 ? 'was' : 'were'} stopped there start again.`,
        moved > 0 && 'Servers that come back move as they left: those that run are off for a moment.',
      ],
    }}
    fields={
      moved > 0 && (
        <Check
          scope={`end-${node.id}`}
          name="bringBack"
          label={`Bring ${count(moved, 'server')} back`}
          hint="Without it they stay where they are."
        />
      )
    }
  />
)
