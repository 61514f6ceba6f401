import { feature } from '../../../../src/kernel/feature.ts'
import { boxActions, boxAttention, boxSharedOperations, starting, stopping } from './actions.ts'
import { boxKind, boxOperations, building, endBox, removing } from './box.ts'
import { boxLists, boxSpreadsheets } from './list.ts'
import { clearing, moveBox, moving } from './move.ts'
import { boxesPage, boxUsagePages } from './page.tsx'
import { boxReport, boxUsage } from './usage.ts'

export const boxesFeature = feature({
  name: 'boxes',
  ids: { box: { prefix: 'box' } },
  workloadKinds: [{ ...boxKind, terminate: (tx, id, { by, now }) => endBox(tx, id, by, now) }],
  workloadActions: [boxActions],
  jobs: [building, removing, moving, clearing, stopping, starting],
  operations: [
    ...boxOperations,
    moveBox,
    ...boxSharedOperations,
    boxLists.all,
    boxLists.seen,
    boxSpreadsheets.all,
    boxSpreadsheets.seen,
    boxUsage,
    boxReport.page,
    boxReport.spreadsheet,
  ],
  attention: [boxAttention.failed, boxAttention.crashed],
  pages: [boxesPage, ...boxUsagePages],
  nav: [
    {
      kinds: ['staff'],
      group: 'Compute',
      position: 990,
      name: 'boxes',
      title: 'Boxes',
      href: '/admin/boxes',
      icon: 'dot',
      sees: boxLists.all,
    },
  ],
})
