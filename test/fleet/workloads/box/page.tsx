import { page } from '../../../../src/kernel/web/page.ts'
import { Days } from '../../../../views/billing/usage/month.tsx'
import { ownerColumn, usageReportPages } from '../../../../views/billing/usage/report-page.tsx'
import { Head } from '../../../../views/components/head.tsx'
import { List } from '../../../../views/components/list.tsx'
import { Empty } from '../../../../views/components/section.tsx'
import { boxLists } from './list.ts'
import { boxReport } from './usage.ts'

export const boxesPage = page({
  path: '/admin/boxes',
  reads: { boxes: boxLists.all },
  title: 'Boxes',
  nav: 'boxes',
  view: ({ boxes }) => (
    <>
      <Head title="Boxes" />
      <List of={boxes} noun="box" plural="boxes" empty={<Empty title="No boxes yet">They appear here.</Empty>}>
        <ul>
          {boxes.data.map(({ name, status }) => (
            <li>
              {name}: {status}
            </li>
          ))}
        </ul>
      </List>
    </>
  ),
})

export const boxUsagePages = usageReportPages({
  path: '/usage/boxes',
  title: 'Usage by box',
  op: boxReport.page,
  noun: 'box',
  plural: 'boxes',
  none: 'There was no box in this month.',
  sub: () => 'Every box of the month, including removed ones. Months are in UTC.',
  columns: (area) => [
    { title: 'Box', kind: 'name', width: 40, cell: (l) => l.hostname },
    ...ownerColumn(area),
    { title: 'Days', kind: 'a', num: true, width: 20, cell: (l) => <Days seconds={l.seconds} /> },
  ],
})
