import type { AssetName } from '../../../public/assets.ts'
import { listBackupTargets } from '../../../src/compute/backup-targets/targets.ts'
import { planFields } from '../../../src/compute/backups/plans/fields.ts'
import { changeBackupPlan, createBackupPlan, listBackupPlans } from '../../../src/compute/backups/plans/plans.ts'
import { keepWords } from '../../../src/compute/backups/plans/retention.ts'
import { type Answers, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { ArchiveEntry, GoodsState } from '../../catalog/goods.tsx'
import { Action, Edit, Menu } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { type Plan, timesWords } from './words.ts'

const reads = {
  plans: listBackupPlans,
  targets: ifAllowed(listBackupTargets, () => ({ query: { limit: '200' } })),
}
type Targets = readonly { id: string; name: string }[]

export const backupPlansPage = page({
  path: '/admin/backup-plans',
  reads,
  title: 'Backup plans',
  nav: 'backup-plans',
  files: ['forms.css'] satisfies AssetName[],
  view: ({ plans, targets }) => {
    const known = targetsIn(plans.data, targets)
    return (
      <>
        <Head
          title="Backup plans"
          actions={<AddPlan targets={known} />}
          sub={<span>When servers are backed up, where to, and how long backups are kept. A server has one plan.</span>}
        />
        <List
          of={plans}
          noun="backup plan"
          empty={
            <Empty title="No backup plans yet">
              {known.length || !targets ? (
                'A plan backs up its servers automatically. Staff or the billing system assign servers to it.'
              ) : (
                <>
                  A plan needs a place for its backups: first add{' '}
                  <Link to="/admin/backup-targets">a backup target</Link>.
                </>
              )}
            </Empty>
          }
        >
          <Table label="Backup plans" rows={plans.data} columns={columnsFor(known)} idOf={(p) => p.id} flow />
        </List>
      </>
    )
  },
})

/** Those of the plans, for readers who may not list targets. */
function targetsIn(plans: readonly Plan[], targets: Answers<typeof reads>['targets']): Targets {
  if (targets) return targets.data
  const named = plans.map(({ target }) => target).filter(({ name }) => name)
  return [...new Map(named.map((target) => [target.id, target])).values()]
}

const columnsFor = (targets: Targets): readonly Column<Plan>[] => [
  {
    title: 'Plan',
    kind: 'name',
    width: 20,
    cell: (p) => (
      <>
        <b title={p.name}>{p.name}</b>
        {p.billingProductId && <small class="mono">{p.billingProductId}</small>}
        {p.provenAt ? (
          <small>
            Last proven restore <Time iso={p.provenAt} />
          </small>
        ) : (
          p.servers > 0 && <small>No restore proven yet</small>
        )}
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 10,
    cell: (p) => <GoodsState of={p} />,
  },
  {
    title: 'Times',
    kind: 'addr',
    width: 28,
    cell: (p) => (
      <>
        <span title={timesWords(p)}>{timesWords(p)}</span>
        <small>
          Next <Time iso={p.nextAt} />
        </small>
      </>
    ),
  },
  { title: 'Keeps', kind: 'a', width: 20, cell: (p) => keepWords(p) },
  { title: 'Target', kind: 'mid', width: 14, cell: (p) => p.target.name || 'Removed' },
  { title: 'Servers', kind: 'mid', num: true, width: 8, cell: (p) => p.servers.toLocaleString('en') },
  { title: 'Actions', kind: 'more', cell: (p) => <PlanMenu of={p} targets={targets} /> },
]

const AddPlan = ({ targets }: { targets: Targets }) => (
  <Action
    op={createBackupPlan}
    label="Add backup plan"
    icon="plus"
    tone="pri"
    wide
    done="{name} is added"
    disabledReason={!targets.length && 'Add a backup target first: a plan needs a place for its backups.'}
    fields={<PlanFields scope="plan" targets={targets} />}
  />
)

/** Nothing for readers who may only look. */
const PlanMenu = ({ of: p, targets }: { of: Plan; targets: Targets }) =>
  useAt().may(changeBackupPlan) ? (
    <Menu label={`Actions for ${p.name}`} small>
      <Edit
        op={changeBackupPlan}
        params={{ id: p.id }}
        label="Edit"
        of={p.name}
        inMenu
        title={`Edit ${p.name}`}
        wide
        done="Saved; that it keeps less waits"
        confirm={{
          consequences: [
            'That it keeps less deletes backups: all owners are told, and it takes effect after 24 hours, or when ' +
              'another owner confirms it under Settings.',
          ],
        }}
        fields={<PlanFields scope={`edit-${p.id}`} of={p} targets={targets} />}
      />
      <ArchiveEntry
        op={changeBackupPlan}
        of={p}
        keep="Keep it"
        restored={`${p.name} can be chosen again`}
        consequences={[
          'It can no longer be assigned to servers.',
          p.servers > 0 && `${count(p.servers, 'server')} on it ${p.servers === 1 ? 'is' : 'are'} backed up as before.`,
        ]}
      />
    </Menu>
  ) : null

type FieldsProps = { scope: string; of?: Plan; targets: Targets }
const PlanFields = ({ scope, of: p, targets }: FieldsProps) => (
  <ListedFields
    list={planFields}
    scope={scope}
    of={p}
    instead={{
      targetId: (
        <Select
          scope={scope}
          name="targetId"
          label={planFields.targetId.form.label}
          value={p?.target.id}
          options={targets.map(({ id, name }) => ({ value: id, label: name }))}
          hint={p && 'Existing backups stay where they are.'}
        />
      ),
    }}
  />
)
