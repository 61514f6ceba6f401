// The keys change at once, in a container that runs too. They are the owner's, whoever calls.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { described, fields, operation } from '../../../kernel/api/operation.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { gpuInstance, instanceJob, jobResponse, load } from '../model.ts'
import { updateInstance } from '../queries.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'
import type { InstanceKey } from '../tables.ts'
import { chosenKeys, keyIds } from './keys.ts'

export const setInstanceKeys = operation({
  id: 'gpu-instances.set-ssh-keys',
  method: 'PUT',
  path: '/gpu-instances/{id}/ssh-keys',
  summary: 'Choose the SSH keys that root login of a GPU instance accepts; it happens at once, without a restart',
  past: 'Changed the SSH keys',
  access: everybody('servers:settings'),
  on: gpuInstance,
  body: fields({ sshKeyIds: described(keyIds, 'Keys of the owner, all that shall log in; none: nobody.') }),
  response: jobResponse,
  status: 202,
  refuses: [...refusalsOf('ssh_keys'), 'gpu_instance_busy'],
  example: { sshKeyIds: ['<ssh_key_id>'] },
  run({ tx, actor, target, body, clock }) {
    const keys = chosenKeys(tx, target.ownerId, body.sshKeyIds)
    mustAllowFor(tx, actor, target, 'ssh_keys')
    const input = { instanceId: target.id, nodeId: target.nodeId, keys, before: target.sshKeys }
    const about = instanceJob(target, { by: actor, title: `Update SSH keys of ${target.name}`, now: clock() })
    // Without a container the next start brings them.
    if (target.lifecycle !== 'active') {
      updateInstance(tx, target.id, { sshKeys: keys })
      return { jobId: null, instanceId: target.id }
    }
    return { jobId: startJob(tx, settingInstanceKeys, input, about), instanceId: target.id }
  },
})

type Input = { instanceId: string; nodeId: string; keys: InstanceKey[]; before: InstanceKey[] }
const tellNode = ({ instanceId, nodeId }: Input, keys: readonly InstanceKey[]) =>
  nodeCommand(nodeId, 'container.set-keys', {
    workload: instanceId,
    authorizedKeys: keys.map(({ publicKey }) => publicKey),
  })

export const settingInstanceKeys = saga<Input>('gpu_keys', { title: 'SSH key update', cancelWith: 'servers:settings' })
  .command('tell', 'Telling its host', {
    do: ({ input }) => tellNode(input, input.keys),
    undo: ({ input }) => tellNode(input, input.before),
  })
  .record('note', 'Recording them', {
    do: (tx, { input: { instanceId, keys } }) => {
      if (load(tx, instanceId).lifecycle !== 'terminated') updateInstance(tx, instanceId, { sshKeys: keys })
    },
  })
