// The forecast of a move, for every node: possible or why not, how, for how long, and with which effects for the owner.
import { Type as t } from 'typebox'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { cpuOf, nodeById } from '../../fleet/node-records/queries.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { oneOf, wholeNumber } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Server, server } from '../server-records/model.ts'
import { refusalOf } from '../snapshots/model.ts'
import { chooseFrom, forecast, MOST_MBPS, type MoveMode, moveModes } from './forecast.ts'
import { aNode, modeField, sharedStorageField } from './model.ts'
import { mustBeMovable } from './movable.ts'
import { fits, type JudgedNode, judgeNodes } from './nodes.ts'
import { waitingMoveOf } from './queries.ts'

const option = namedSchema('MoveOption', {
  node: aNode,
  possible: t.Boolean(),
  reason: described(nullable(t.String()), 'Why it is not possible, in the words of placement.'),
  note: described(nullable(t.String()), 'What speaks against it, such as the soft rule of a placement group.'),
  newAddresses: described(t.Boolean(), 'It gets other addresses there: `readdress` allows that.'),
  getsBack: described(t.Boolean(), 'Among these are addresses that it had there before, and that are held for it.'),
  memoryPercent: described(nullable(t.Integer()), 'Of its memory that is held now.'),
  memoryPercentAfter: nullable(t.Integer()),
  location: locationReferred,
  mode: described(nullable(modeField), 'How it would move there; null: it cannot.'),
  notLive: described(nullable(t.String()), 'What speaks against moving it there with its memory; null: nothing.'),
  bytes: described(nullable(t.Integer()), 'To be copied there at most.'),
  sharedStorage: sharedStorageField,
  expectedSeconds: nullable(t.Integer()),
  expectedDowntimeMs: nullable(t.Integer()),
})

export const moveOptions = operation({
  id: 'servers.move-options',
  method: 'GET',
  path: '/admin/servers/{id}/move-options',
  summary: 'To which nodes a server can be moved, how, and for how long it would be off',
  access: { staff: ['servers:move'] },
  atReader: true,
  on: server,
  query: {
    mode: oneOf(moveModes, 'As in the move. Without it: auto.'),
    maxMbps: wholeNumber('As in the move, in megabit per second.', 1, { maximum: MOST_MBPS }),
  },
  response: namedSchema('MoveOptions', {
    server: t.Object({ id: t.String(), hostname: t.String() }),
    location: locationReferred,
    from: aNode,
    notMovable: described(
      nullable(t.String()),
      'Why it cannot be moved to any node now, and what to do; null: it can.',
    ),
    mode: described(modeField, 'To the chosen node.'),
    notLive: described(nullable(t.String()), 'What speaks against moving it there with its memory; null: nothing.'),
    bytes: described(t.Integer(), 'To be copied at most: holes of its disks are not.'),
    sharedStorage: sharedStorageField,
    expectedSeconds: t.Integer(),
    expectedDowntimeMs: described(t.Integer(), 'How long its system is off for it; 0 where it is off already.'),
    changes: described(t.Array(t.String()), 'What its owner notices, in sentences.'),
    chosen: described(
      nullable(aNode),
      'The node that placement chooses; null: none fits on which it keeps its addresses.',
    ),
    waiting: described(
      nullable(t.Object({ transferId: t.String(), startsAt: time })),
      'A move of it that waits for its time. Another move takes its place.',
    ),
    nodes: t.Array(option),
  }),
  run(call) {
    const { tx, actor, target, query, nodes } = call
    const maxMbps = query['maxMbps'] === undefined ? undefined : Number(query['maxMbps'])
    const judged = judgeNodes(tx, nodes, target, { readdress: true })
    const asked = (query['mode'] as MoveMode | undefined) ?? 'auto'
    const chosen = chooseFrom(
      tx,
      target,
      judged.filter((node) => fits(node) && !node.newAddresses),
      asked,
    )
    const waiting = waitingMoveOf(tx, target.id)
    return {
      server: { id: target.id, hostname: target.hostname },
      location: locationOf(tx, target),
      from: { id: target.nodeId, name: nodeById(tx, target.nodeId)?.name ?? '' },
      notMovable: refusalOf(() => mustBeMovable(tx, actor, target)),
      ...forecast(tx, target, { mode: asked, maxMbps, to: chosen?.nodeId }),
      chosen: chosen ? { id: chosen.nodeId, name: chosen.name } : null,
      waiting: waiting ? { transferId: waiting.id, startsAt: iso(waiting.startsAt!) } : null,
      nodes: judged.map((node) =>
        shown(tx, node, target, () =>
          forecast(tx, target, { mode: asked, maxMbps, to: node.nodeId, isRestarted: fits(node) && node.newAddresses }),
        ),
      ),
    }
  },
})

function shown(tx: Db, judged: JudgedNode, server: Server, foreseen: () => Forecast) {
  const { memoryMb } = server
  const { nodeId, name, capacity, disabledReason } = judged
  const percent = (heldMb: number) => (capacity?.memoryMb ? Math.round((100 * heldMb) / capacity.memoryMb) : null)
  return {
    node: { id: nodeId, name },
    possible: disabledReason === undefined,
    reason: disabledReason ?? null,
    note: (fits(judged) && (judged.broken ?? otherCpu(tx, server, nodeId))) || null,
    newAddresses: fits(judged) && judged.newAddresses,
    getsBack: fits(judged) && judged.getsBack,
    memoryPercent: capacity ? percent(capacity.heldMemoryMb) : null,
    memoryPercentAfter: capacity ? percent(capacity.heldMemoryMb + memoryMb) : null,
    location: locationOf(tx, nodeById(tx, nodeId)!),
    ...(disabledReason === undefined
      ? wayOf(foreseen())
      : {
          mode: null,
          notLive: null,
          bytes: null,
          sharedStorage: null,
          expectedSeconds: null,
          expectedDowntimeMs: null,
        }),
  }
}
type Forecast = ReturnType<typeof forecast>
const wayOf = ({ mode, notLive, bytes, sharedStorage, expectedSeconds, expectedDowntimeMs }: Forecast) => ({
  ...{ mode, notLive, bytes, sharedStorage, expectedSeconds, expectedDowntimeMs },
})

/** A system that runs with all that the CPU of its node has cannot go on running on another CPU. */
function otherCpu(tx: Db, { nodeId: from, cpuModel, power }: Server, to: string): string | undefined {
  if (cpuModel !== null || power !== 'running' || cpuOf(tx, from) === cpuOf(tx, to)) return undefined
  return 'has another CPU model: reboot needed'
}
