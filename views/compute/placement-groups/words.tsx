import { createGroup, type getGroup } from '../../../src/compute/placement-groups/groups.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Check, Field } from '../../components/field.tsx'

export type Group = Answers<{ group: typeof getGroup }>['group']

export const policyWords = {
  affinity: 'Together on one node',
  anti_affinity: 'Each on its own node',
} as const

/** The rule of a group, such as `Each on its own node, always`. */
export const ruleWords = ({ policy, hard }: Pick<Group, 'policy' | 'hard'>) =>
  `${policyWords[policy]}, ${hard ? 'always' : 'where possible'}`

export const GroupFields = ({ scope, of: group }: { scope: string; of?: Group }) => (
  <>
    <Field scope={scope} name="name" label="Name" required value={group?.name} placeholder="databases" />
    <Radios
      scope={scope}
      name="policy"
      label="Its servers are"
      value={group?.policy ?? 'anti_affinity'}
      options={[
        {
          value: 'anti_affinity',
          label: policyWords.anti_affinity,
          hint: 'If one node fails, only one of them is off.',
        },
        { value: 'affinity', label: policyWords.affinity, hint: 'They reach each other without a network between.' },
      ]}
    />
    <Check
      scope={scope}
      name="hard"
      label="Refuse what breaks the rule"
      hint="Otherwise the rule is kept where there is room."
      checked={group?.hard ?? true}
    />
  </>
)

export const AddGroup = ({ ownerId, ...look }: { ownerId: string; tone?: 'pri'; small?: boolean }) => (
  <Action
    op={createGroup}
    params={{ id: ownerId }}
    label="Add placement group"
    icon="plus"
    {...look}
    submit="Add group"
    done="{name} is added"
    fields={<GroupFields scope="group" />}
  />
)
