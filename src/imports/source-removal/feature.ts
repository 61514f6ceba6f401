import { feature } from '../../kernel/feature.ts'
import { chooseSourceRemoval, exportSourceRemoval, getSourceRemoval } from './choose.ts'
import { removing, restoring, runRemoval, runRestore } from './remove.ts'
import { sourceRemovals } from './tables.ts'

const errors = {
  source_removal_not_chosen: {
    status: 409,
    when: 'Nobody has chosen that the agent of this node removes the other panel’s software.',
    remedy: 'Choose agent for the node first.',
  },
  source_removed: {
    status: 409,
    when: 'The other panel’s software is removed from this node already.',
    remedy: 'Put it back first, or leave it.',
  },
  source_not_removed: {
    status: 409,
    when: 'Nothing was removed from this node that could be put back.',
    remedy: 'Read source-removal.',
  },
  source_still_needed: {
    status: 409,
    when: 'The panel itself runs on this node, and servers on other hypervisors still depend on it.',
    remedy: 'Move those servers first: the master is the last.',
  },
  source_unknown: {
    status: 409,
    when: 'What this kind of panel leaves on a hypervisor is not known.',
    remedy: 'Remove it by hand.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    'source-removal': { errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  removal_libvirt_silent: 'libvirt on the node does not answer. Nothing was changed.',
  removal_foreign_domains: 'libvirt on the node holds a server that is none of Berth. Nothing was changed.',
  removal_undone: 'The removal failed, or a server or its bridge was gone after it. Everything was put back.',
  removal_half_restored: 'Not everything could be put back on the node. The log of the job says what is left.',
} as const

export const sourceRemovalFeature = feature({
  name: 'source-removal',
  errors,
  failures,
  tables: [sourceRemovals],
  operations: [getSourceRemoval, exportSourceRemoval, chooseSourceRemoval, runRemoval, runRestore],
  jobs: [removing, restoring],
})
