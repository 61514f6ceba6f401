// The backup plan of one server, as a section of its page of backups.

import { type getServerBackupPlan, setServerBackupPlan } from '../../../src/compute/backups/plans/assign.ts'
import type { listBackupPlans } from '../../../src/compute/backups/plans/plans.ts'
import { keepWords } from '../../../src/compute/backups/plans/retention.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Edit } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Select } from '../../components/field.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { Moment } from '../../components/time.tsx'
import { timesWords } from './words.ts'

type Props = {
  server: { id: string; hostname: string }
  plan: Answers<{ p: typeof getServerBackupPlan }>['p']
  /** Undefined for readers who may not put it on another. */
  plans: Answers<{ p: typeof listBackupPlans }>['p'] | undefined
  area: Area
}

export const PlanOfServer = ({ server, plan: { plan, nextAt }, plans, area }: Props) => (
  <Section
    id="backup-plan"
    title="Plan"
    actions={plans && <Choose server={server} chosen={plan} plans={plans.data} />}
    words={
      plan
        ? undefined
        : area === '/admin'
          ? 'No plan: backups are made by hand only.'
          : 'No plan: backups are made by hand only. Ask your provider for one.'
    }
  >
    {plan && (
      <Facts
        of={[
          ['Plan', plan.name],
          ['Times', timesWords(plan)],
          ['Next backup', nextAt ? <Moment iso={nextAt} /> : 'Not while it is suspended or terminated'],
          ['Keeps', keepWords(plan)],
        ]}
      />
    )}
  </Section>
)

type ChooseProps = {
  server: Props['server']
  chosen: Props['plan']['plan']
  plans: NonNullable<Props['plans']>['data']
}
function Choose({ server, chosen, plans }: ChooseProps) {
  const open = plans.filter(({ archived, id }) => !archived || id === chosen?.id)
  if (!useAt().may(setServerBackupPlan)) return null
  return (
    <Edit
      op={setServerBackupPlan}
      params={{ id: server.id }}
      label={chosen ? 'Change plan' : 'Choose plan'}
      title={`Backup plan of ${server.hostname}`}
      disabledReason={!open.length && 'There is no backup plan yet. Add one under Backup plans.'}
      fields={
        <Select
          scope={`plan-of-${server.id}`}
          name="planId"
          label="Backup plan"
          nullable
          value={chosen?.id ?? ''}
          options={[
            { value: '', label: 'None' },
            ...open.map((p) => ({ value: p.id, label: `${p.name}: ${timesWords(p)}` })),
          ]}
          hint={chosen && 'Without a plan, the backups made by this plan are deleted after a while.'}
        />
      }
    />
  )
}
