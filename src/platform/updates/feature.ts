import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { updateWentBack } from './attention.ts'
import { auditEnded } from './audit.ts'
import { checkUpdate } from './check.ts'
import { downloadDue } from './download.ts'
import { Updates } from './service.ts'
import { getUpdates } from './show.ts'
import { downloadUpdate, lookForUpdate, setUpdateSource } from './source.ts'
import { handOver, startUpdate, withdrawUpdate } from './start.ts'
import { uploadUpdate } from './upload.ts'

const errors = {
  release_not_found: {
    status: 404,
    when: 'There is no release of this version in the folder of releases.',
    remedy: 'Put its file there, or download it.',
  },
  update_refused: {
    status: 409,
    when: 'A check before the update failed; the message says which. In the audit log: it was refused, or went back.',
    remedy: 'Read it, and check again.',
  },
  update_under_way: {
    status: 409,
    when: 'An update of the controller, or the download of a release, is under way.',
    remedy: 'Wait until it has ended.',
  },
  update_not_waiting: {
    status: 409,
    when: 'No update waits, so none can be withdrawn.',
    remedy: 'One that has begun comes to its end, or goes back by itself.',
  },
  no_update_source: {
    status: 409,
    when: 'No address for releases is set.',
    remedy: 'Set one, or put the file of a release into the folder.',
  },
  no_update_offered: {
    status: 409,
    when: 'Nobody looked for a release, or what was found cannot be used.',
    remedy: 'Look for a newer release first.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    updates: { errors: typeof errors }
  }
  interface Services {
    updates: Updates
  }
}

export const updatesFeature = feature({
  name: 'updates',
  errors,
  operations: [
    getUpdates,
    checkUpdate,
    startUpdate,
    withdrawUpdate,
    setUpdateSource,
    lookForUpdate,
    downloadUpdate,
    uploadUpdate,
  ],
  attention: [updateWentBack],
  services: ({ config }) => ({ updates: new Updates(config.dataDir) }),
  starts: ({ app }) => app.updates.folder.make(),
  actions: [
    {
      kinds: ['staff'],
      position: 140,
      title: 'Update the controller',
      page: '/admin/controller/updates',
      does: startUpdate,
    },
  ],
  schedule: [
    { everyMs: second, words: 'handing over an update', work: handOver },
    { everyMs: 2 * second, words: 'downloading a release', work: downloadDue },
    { everyMs: 10 * second, words: 'putting updates into the audit log', work: auditEnded },
  ],
})
