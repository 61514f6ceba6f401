import { Type as t } from 'typebox'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { stateCountsByHypervisor } from '../import-records/fleet/queries.ts'
import { everyRow } from '../import-records/inventory/queries.ts'
import { type ImportRecord, importAccess, importRecord, UNNAMED } from '../import-records/model.ts'
import { fleetOrder, turns } from './order.ts'

/** The hypervisors of the other panel in the order in which they are moved. */
export const fleetOf = (tx: Db, target: ImportRecord) =>
  fleetOrder(
    [...everyRow(tx, 'hypervisors', target.id)].filter(({ sourceId }) => sourceId !== UNNAMED),
    stateCountsByHypervisor(tx, target.id),
    target.status === 'finished',
  )

export const getFleet = operation({
  id: 'imports.fleet',
  method: 'GET',
  path: '/admin/migrations/{id}/fleet',
  summary: 'Which hypervisor is moved next, and which must keep the software of the other panel, and why',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportFleet', {
    next: described(nullable(t.String()), 'The hypervisor for the next import, by its id in the other panel.'),
    hypervisors: described(
      t.Array(
        t.Object({
          hypervisorId: t.String(),
          name: t.String(),
          address: t.String(),
          isPanel: described(t.Boolean(), 'The panel itself runs on it.'),
          turn: t.Enum([...turns]),
          words: t.String(),
          moved: t.Integer(),
          movedBefore: described(t.Integer(), 'By earlier imports.'),
          left: described(t.Integer(), 'Servers that are still there.'),
          canCome: t.Integer(),
          mayRemove: described(t.Boolean(), 'The software of the other panel may be removed there.'),
          keep: described(t.Array(t.String()), 'Why it must stay.'),
        }),
      ),
      'In the order in which they are moved.',
    ),
  }),
  run({ tx, target }) {
    const rows = fleetOf(tx, target)
    return {
      next: rows.find(({ turn }) => turn === 'next')?.row.sourceId ?? null,
      hypervisors: rows.map(({ row, keep, ...one }) => ({
        ...{ hypervisorId: row.sourceId, name: row.name, address: row.address, isPanel: row.isPanel },
        ...one,
        ...{ mayRemove: keep.length === 0, keep },
      })),
    }
  },
})
