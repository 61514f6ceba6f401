import { feature } from '../../../src/kernel/feature.ts'
import { boxKind, boxOperations, building, endBox, removing } from './box.ts'
import { clearing, moveBox, moving } from './box-move.ts'

export const boxesFeature = feature({
  name: 'boxes',
  ids: { box: { prefix: 'box' } },
  workloadKinds: [{ ...boxKind, terminate: (tx, id, { by, now }) => endBox(tx, id, by, now) }],
  jobs: [building, removing, moving, clearing],
  operations: [...boxOperations, moveBox],
})
