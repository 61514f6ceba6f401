import type { listGroups } from '../../../src/compute/placement-groups/groups.ts'
import { addToGroup } from '../../../src/compute/placement-groups/members.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import type { Server } from '../servers/words.ts'
import { Setting } from '../workloads/settings-entry.tsx'
import { ruleWords } from './words.tsx'

type Groups = Answers<{ groups: typeof listGroups }>['groups']

/** The entry among the settings of a server; nothing for readers who do not see the groups of its owner. */
export function GroupOfServer({ server, groups, area }: { server: Server; groups: Groups; area: string }) {
  const [group] = groups.data
  if (!group && server.access !== 'own') return null
  return (
    <Setting
      op={addToGroup}
      title="Placement group"
      words={group ? `${group.name}: ${ruleWords(group)}${group.violation ? `. ${group.violation}` : ''}` : 'None'}
    >
      {group ? (
        <Link class="btn" href={`${area}/placement-groups/${group.id}`}>
          Show group
        </Link>
      ) : (
        <Link class="btn" href={`${area}/placement-groups`}>
          Show groups
        </Link>
      )}
    </Setting>
  )
}
