import { agentPaths } from '../../../agent/protocol/wire.ts'
import type { NoticeDeclaration } from '../../identity/notices/notify.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { advanceRollOut } from './advance.ts'
import { stoppedRollOut } from './attention.ts'
import { continueRollOut, leaveNodeOut, pauseRollOut, retryNode, stopRollOut } from './control.ts'
import { offerRelease, sendRelease } from './endpoint.ts'
import { isBeingUpdated, rollOutTarget } from './queries.ts'
import { getRollOut, listRollOuts, startRollOut } from './roll-outs.ts'
import { stoppedData } from './stop.ts'
import { rollOutNodes, rollOuts } from './tables.ts'

const errors = {
  roll_out_not_found: { status: 404, when: 'There is no such roll-out.', remedy: 'Check the id.' },
  roll_out_at_work: {
    status: 409,
    when: 'Another roll-out has not ended.',
    remedy: 'Wait until it has ended, or stop it.',
  },
  roll_out_release: {
    status: 409,
    when: 'The release of the controller’s own version is not here, or something in it is not what was signed.',
    remedy: 'Put its file into the folder that the message names.',
  },
  roll_out_empty: {
    status: 409,
    when: 'Every agent runs the version already, or does not update itself.',
    remedy: 'Update nodes with a package by apt, and early agents by install.sh.',
  },
  roll_out_ended: { status: 409, when: 'The roll-out has ended.', remedy: 'Start another one.' },
  roll_out_state: {
    status: 409,
    when: 'The roll-out, or its node, is in another state than this action needs.',
    remedy: 'Read its state; the message says what it needs.',
  },
} as const
const ids = { rollOut: { prefix: 'rlo' } } as const
const events = {
  'roll_out.stopped': event('staff only', 'The update of a node failed, and so the roll-out stopped', stoppedData),
}
const notices = {
  roll_out_stopped: {
    when: 'the update of a node fails and its roll-out stops',
    kinds: ['staff'],
    right: 'nodes.write',
    mail: 'optional',
  },
} as const satisfies Record<string, NoticeDeclaration>

declare module '../../kernel/register.ts' {
  interface Names {
    'roll-outs': { errors: typeof errors; ids: typeof ids; events: typeof events; notices: typeof notices }
  }
}

export const rollOutsFeature = feature({
  name: 'roll-outs',
  errors,
  ids,
  events,
  notices,
  tables: [rollOuts, rollOutNodes],
  operations: [
    startRollOut,
    listRollOuts,
    getRollOut,
    pauseRollOut,
    continueRollOut,
    stopRollOut,
    leaveNodeOut,
    retryNode,
  ],
  expectsAway: isBeingUpdated,
  auditTargets: [rollOutTarget],
  attention: [stoppedRollOut],
  routes: (parts) => [
    ['GET', agentPaths.release, (request) => offerRelease(parts, request)],
    ['GET', `${agentPaths.release}/*`, (request) => sendRelease(parts, request)],
  ],
  schedule: [
    {
      everyMs: 2 * second,
      words: 'updating the agents of nodes',
      work: ({ db, app }) => advanceRollOut(db, app),
    },
  ],
})
