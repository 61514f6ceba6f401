// The machine of a server: the one on which it was installed, its CD drive, and the device that it tries first.
import { Type as t } from 'typebox'
import { type BootFirst, bootFirsts, nodeCommand, type Vm } from '../../../../agent/protocol/wire.ts'
import { devices, hardware, hardwareOf } from '../../../catalog/images/hardware.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { described, fields, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { responseOf } from '../../../kernel/fields/field-list.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { isoById } from '../../isos/queries.ts'
import { jobResponse, load, server, serverJob } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { vmOf, volumeOf } from '../../server-vm/definition.ts'
import { mustAllowFor, refusalsOf } from '../states.ts'

const bootFirst = described(t.Enum(bootFirsts), 'The device that it tries first when it starts; the other follows.')

export const getHardware = operation({
  id: 'servers.hardware',
  method: 'GET',
  path: '/servers/{id}/hardware',
  summary: 'The machine on which a server was installed, its CD drive and its boot order',
  access: everybody('servers:read'),
  on: server,
  response: namedSchema('ServerHardware', {
    ...responseOf({ ...hardware, ...devices }),
    bootFirst,
    iso: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'In its CD drive; null: it is empty.'),
  }),
  run: ({ tx, target }) => ({
    ...hardwareOf(target),
    bootFirst: target.bootFirst,
    iso: target.isoId === null ? null : { id: target.isoId, name: isoById(tx, target.isoId)?.name ?? '' },
  }),
})

const words: Record<BootFirst, string> = { disk: 'its disk', cd: 'its CD drive' }

export const setBootOrder = operation({
  id: 'servers.boot-order',
  method: 'PUT',
  path: '/servers/{id}/boot-order',
  summary: 'Choose what a server boots from first; it takes effect when it is started or restarted in the panel',
  past: 'Changed the boot order',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ bootFirst }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('boot_order'), 'server_busy'],
  example: { bootFirst: 'cd' },
  run({ tx, actor, target, body: { bootFirst }, clock }) {
    mustAllowFor(tx, actor, target, 'boot_order')
    if (bootFirst === target.bootFirst) return { jobId: null, serverId: target.id }
    const title = `Boot ${target.hostname} from ${words[bootFirst]} first`
    const input = { serverId: target.id, nodeId: target.nodeId, bootFirst }
    return {
      jobId: startJob(tx, settingBootOrder, input, serverJob(target, { by: actor, title, now: clock() })),
      serverId: target.id,
    }
  },
})

type Input = { serverId: string; nodeId: string; bootFirst: BootFirst }

function plan(tx: Tx, { serverId, bootFirst }: Input): { before: Vm; after: Vm } {
  const target = load(tx, serverId)
  const volume = volumeOf(target, target.diskGeneration!)
  return { before: vmOf(tx, target, volume, false), after: vmOf(tx, { ...target, bootFirst }, volume, false) }
}

export const settingBootOrder = saga<Input>('boot_order', {
  title: 'Boot order change',
  cancelWith: 'servers:settings',
})
  .record('plan', 'Planning', { do: (tx, { input }) => plan(tx, input) })
  .command('define', 'Changing the virtual machine', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.after),
    undo: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.before),
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, bootFirst } }) => updateServer(tx, serverId, { bootFirst }),
  })
