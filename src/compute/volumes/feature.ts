import { searchVolumes } from '../../fleet/volume-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { exactGb } from '../../kernel/words.ts'
import { troubledVolumesShown } from './attention.ts'
import { createVolume, creatingVolume } from './create.ts'
import { deletingVolume, removeVolume } from './delete.ts'
import { growingVolume, growVolume } from './grow.ts'
import { getVolume, listServerVolumes, listVolumes, renameVolume } from './list.ts'
import { countLoss, lostVolume } from './lose.ts'
import { boundVolumes, hasVolumes, visibleTo, volumeData } from './model.ts'
import { attachVolume, detachVolume, movingVolume } from './move.ts'
import { volumeActions } from './states.ts'
import { reportVolumes } from './usage.ts'

const events = {
  'volume.created': event('resellers', 'An extra volume made', volumeData),
  'volume.resized': event('resellers', 'An extra volume enlarged', volumeData),
  'volume.deleted': event('resellers', 'An extra volume deleted', volumeData),
}

const errors = {
  volume_not_found: { status: 404, when: 'There is no such volume, or it is not yours.', remedy: 'Check the id.' },
  volume_busy: {
    status: 409,
    when: 'A job is changing the volume.',
    remedy: 'Wait until its `jobId` is null, then try again.',
  },
  volume_attached: { status: 409, when: 'A server has the volume.', remedy: 'Detach it first.' },
  volume_elsewhere: {
    status: 409,
    when: 'The volume is on another machine than the server.',
    remedy: 'Choose a server of its `attachableTo`, or make a new volume and copy what is on this one.',
  },
  volume_lost: {
    status: 409,
    when: 'The node of the volume was lost or removed, and the volume with it.',
    remedy: 'Delete it.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    volumes: { errors: typeof errors; events: typeof events }
  }
}

const nav = (kind: 'staff' | 'reseller' | 'customer', group: string, position: number, href: string) =>
  ({
    kinds: [kind],
    group,
    position,
    name: 'volumes',
    title: 'Volumes',
    href,
    icon: 'disk',
    sees: listVolumes,
  }) as const

/** Causes of failed jobs, in words for everybody. */
const failures = {
  volume_held: 'The system in the server did not release the volume. Unmount it there, or shut the server down.',
  volume_in_use: 'The volume is attached to another server on the node.',
} as const

export const volumesFeature = feature({
  name: 'volumes',
  workloadActions: [volumeActions],
  failures,
  errors,
  events,
  samples: { notMakeable: null },
  jobs: [creatingVolume, movingVolume, growingVolume, deletingVolume],
  operations: [
    listVolumes,
    listServerVolumes,
    createVolume,
    getVolume,
    renameVolume,
    attachVolume,
    detachVolume,
    growVolume,
    removeVolume,
    reportVolumes,
  ],
  heldDestructions: [lostVolume],
  loseVolume: countLoss,
  attention: [troubledVolumesShown],
  search: [
    {
      type: 'volume',
      position: 14,
      // A volume has no page of its own: the list, narrowed to it.
      place: ({ actor }) => (mayCall(listVolumes, actor) ? `${areas[actor.kind]}/volumes?q=` : undefined),
      find: ({ tx, actor }, text, most) =>
        searchVolumes(tx, visibleTo(actor), text, most).map(({ sizeGb, ...found }) => ({
          ...found,
          detail: exactGb(sizeGb),
        })),
    },
  ],
  bindsToOwner: boundVolumes,
  nav: [
    { ...nav('staff', 'Infrastructure', 229, '/admin/volumes'), within: 'servers' },
    { ...nav('reseller', '', 115, '/reseller/volumes'), has: hasVolumes },
    { ...nav('customer', '', 115, '/volumes'), has: hasVolumes },
  ],
})
