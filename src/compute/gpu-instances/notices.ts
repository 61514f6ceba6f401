// Events of GPU instances become notices for their owners.

import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { NoticeDeclaration } from '../../identity/notices/notify.ts'
import { leadElsewhere } from '../../identity/notices/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { sentence } from '../../kernel/words.ts'
import { type Told, tellingOwner } from '../workloads/notices.ts'
import { type GpuInstance, load, pageOf, pageOfList } from './model.ts'

const owners = ['reseller', 'customer'] as const
export const instanceNotices = {
  gpu_instance_ready: { when: 'a GPU instance is set up and runs', kinds: owners, mail: 'optional' },
  gpu_instance_failed: {
    when: 'a GPU instance could not be set up, started or changed, or its host was lost',
    kinds: owners,
    mail: 'always',
  },
  gpu_instance_suspended: { when: 'a GPU instance is suspended', kinds: owners, mail: 'always' },
  gpu_instance_unsuspended: { when: 'a GPU instance is no longer suspended', kinds: owners, mail: 'optional' },
  gpu_instance_deleted: { when: 'a GPU instance is deleted', kinds: owners, mail: 'always' },
  gpu_instance_undeleted: { when: 'a GPU instance that was deleted is back', kinds: owners, mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>

type Data = { gpuInstance: { name: string }; action?: string; reason?: string; error?: string }
/** `purgeHeld`: the brake holds its deletion. */
const told: Partial<Record<string, (data: Data, instance: Pick<GpuInstance, 'purgeHeld'> | undefined) => Told>> = {
  'gpu_instance.ready': ({ gpuInstance: { name } }) => ({
    kind: 'gpu_instance_ready',
    subject: `${name} is ready`,
    paragraphs: [`The GPU instance ${name} is set up and runs.`, 'Its page shows how to connect.'],
  }),
  'gpu_instance.failed': ({ gpuInstance: { name }, action, error }) => ({
    kind: 'gpu_instance_failed',
    subject: `${name} has failed`,
    paragraphs: [
      action === 'lost'
        ? `The GPU instance ${name} and its /workspace are lost. ${error}`
        : `The GPU instance ${name} could not be set up, started or changed. ${error}`,
      action === 'lost'
        ? 'It counts as stopped until it is deleted.'
        : 'Its cards and its address stay yours and are billed until it is deleted.',
    ],
  }),
  'gpu_instance.suspended': ({ gpuInstance: { name }, reason }) => ({
    kind: 'gpu_instance_suspended',
    subject: `${name} is suspended`,
    paragraphs: [
      `The GPU instance ${name} was suspended: ${sentence(reason!)} Its cards, /workspace and address are kept.`,
      'It is off until your provider unsuspends it. Ask your provider if you do not know why.',
    ],
  }),
  'gpu_instance.unsuspended': ({ gpuInstance: { name } }) => ({
    kind: 'gpu_instance_unsuspended',
    subject: `${name} is no longer suspended`,
    paragraphs: [`You can use the GPU instance ${name} again. If it was running before, it starts now.`],
  }),
  'gpu_instance.deleted': ({ gpuInstance: { name } }, instance) => ({
    kind: 'gpu_instance_deleted',
    subject: `${name} is deleted`,
    paragraphs: [
      instance?.purgeHeld
        ? `The GPU instance ${name} is stopped and no longer billed, and its /workspace is to be deleted.`
        : `The GPU instance ${name} and its /workspace are deleted. They cannot be brought back.`,
      'Ask your provider if you do not know why.',
    ],
    isGone: true,
  }),
  'gpu_instance.undeleted': ({ gpuInstance: { name } }) => ({
    kind: 'gpu_instance_undeleted',
    subject: `${name} is back`,
    paragraphs: [
      `The deletion of the GPU instance ${name} was undone. It is yours again, with its /workspace.`,
      'It is billed again.',
    ],
  }),
}

/** The earlier notices about an instance that is deleted now lead to the list. */
export function leadToList(tx: Tx, { id, ownerId }: Pick<GpuInstance, 'id' | 'ownerId'>) {
  const area = areas[accountById(tx, ownerId)!.kind]
  leadElsewhere(tx, ownerId, pageOf(area, id), pageOfList(area))
}

export const tellInstanceOwner = tellingOwner<Data, GpuInstance | undefined>({
  told,
  load,
  list: { words: 'Open your GPU instances', page: pageOfList },
  one: { words: 'Open GPU instance', page: pageOf },
})
