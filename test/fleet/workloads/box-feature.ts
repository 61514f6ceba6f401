import { feature } from '../../../src/kernel/feature.ts'
import { boxKind, boxOperations, building, endBox, removing } from './box.ts'
import { boxActions, boxAttention, boxSharedOperations, listBoxes, starting, stopping } from './box-actions.ts'
import { clearing, moveBox, moving } from './box-move.ts'
import { boxesPage } from './box-page.tsx'

export const boxesFeature = feature({
  name: 'boxes',
  ids: { box: { prefix: 'box' } },
  workloadKinds: [{ ...boxKind, terminate: (tx, id, { by, now }) => endBox(tx, id, by, now) }],
  workloadActions: [boxActions],
  jobs: [building, removing, moving, clearing, stopping, starting],
  operations: [...boxOperations, moveBox, ...boxSharedOperations],
  attention: [boxAttention.failed, boxAttention.crashed],
  pages: [boxesPage],
  nav: [
    {
      kinds: ['staff'],
      group: 'Compute',
      position: 990,
      name: 'boxes',
      title: 'Boxes',
      href: '/admin/boxes',
      icon: 'dot',
      sees: listBoxes,
    },
  ],
})
