import { Type as t } from 'typebox'
import { bySystem, type LookUp } from '../../../agent/protocol/net/pinned-request.ts'
import { agentPaths } from '../../../agent/protocol/wire.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import { hour, second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { isAnyNodeLive, nodeChoices, nodesAway, nodeTarget, searchNodes } from '../node-records/queries.ts'
import { addressConflicts, awaitedNodes, strayWorkloads } from './addresses/attention.ts'
import { stopAwaiting } from './addresses/stop-awaiting.ts'
import { AgentEndpoints } from './agent-connection.ts'
import { nodesInTrouble, plainHttp } from './attention.ts'
import { INSTALLER_PATH } from './enrol-command.ts'
import { enrollNode, getEnrollment, renewEnrollment, revokeCredential } from './enroll.ts'
import { declareNodeLost } from './lose.ts'
import { changeNode, getNode, listNodes } from './nodes.ts'
import { figuresOfNodes } from './of-location.ts'
import { Programs } from './programs.ts'
import { removeNode, removeNodeWithWorkloads } from './remove.ts'
import { noteNotBack } from './report.ts'

const errors = {
  node_not_found: { status: 404, when: 'There is no such node.', remedy: 'Check the id.' },
  enrollment_not_found: { status: 404, when: 'There is no such enrollment.', remedy: 'Check the id.' },
  enrollment_expired: {
    status: 401,
    when: 'The enrollment token is older than 60 minutes.',
    remedy: 'Make a new one.',
  },
  enrollment_not_valid: {
    status: 401,
    when: 'The enrollment token was used before, or never existed.',
    remedy: 'Make a new one.',
  },
  node_not_known: {
    status: 401,
    when: 'The credential of the node was revoked, or it belongs to another controller.',
    remedy: 'Enroll it again.',
  },
  node_declared_lost: {
    status: 401,
    when: 'The node was declared lost or removed, and its agent came back: it stops everything that runs there.',
    remedy: 'Enroll the machine as a new node.',
  },
  challenge_expired: {
    status: 409,
    when:
      'An agent signed a challenge that is over 30 seconds old, was used before, or came from the controller before ' +
      'its restart. It says nothing of the credential.',
    remedy: 'Ask for a new challenge at once; agents do so by themselves.',
  },
  node_lost: {
    status: 409,
    when: 'The node of the server was declared lost.',
    remedy: 'Terminate the server and order another one.',
  },
  already_enrolled: {
    status: 409,
    when: 'The machine is a node already.',
    remedy: "Renew the node's credential instead, or remove that node first.",
  },
  node_held: {
    status: 409,
    when: 'Terminations on the node, or losses of its extra volumes, wait for a second person, who may refuse them.',
    remedy: 'Let somebody release or refuse them first.',
  },
  node_connected: {
    status: 409,
    when: 'A machine with another key is connected in the place for which this one enrolls.',
    remedy: 'Switch the old machine off or revoke its credential, and run the command again.',
  },
  protocol_mismatch: {
    status: 426,
    when: 'The agent and this controller speak different protocols.',
    remedy: 'Update the older of the two.',
  },
} as const

/** Causes of failed jobs, in words for everybody. */
const failures = {
  runs_elsewhere: 'It runs on another node than the one that is recorded. Nobody starts it twice: ask your provider.',
} as const

const ids = {
  node: { prefix: 'nod', sample: 'fra-01' },
  enrollment: { prefix: 'enr' },
} as const

const scopes = {
  'nodes:read': { words: 'See nodes and locations' },
  'nodes:write': { words: 'Enroll, change and remove nodes and locations' },
} as const

const permissions = {
  'nodes.read': { words: 'See nodes', opens: ['nodes:read'] },
  'nodes.write': { words: 'Manage nodes and locations', opens: ['nodes:write'] },
} as const

const events = {
  'node.lost': event(
    'staff only',
    'A node was declared lost; what was on it has failed',
    t.Object({
      node: t.Object({ id: t.String(), name: t.String() }),
      workloads: t.Array(t.Object({ id: t.String(), hostname: t.String() })),
    }),
  ),
}

declare module '../../kernel/register.ts' {
  interface Names {
    nodes: {
      scopes: typeof scopes
      permissions: typeof permissions
      ids: typeof ids
      events: typeof events
      errors: typeof errors
    }
  }
  interface Services {
    /** Enrols nodes, checks their signatures, and hands out programs. */
    agents: AgentEndpoints
    /** Serves install.sh and the program to machines that join. */
    programs: Programs
    /** Resolves the panel's own name, to which no download may lead. */
    panelLookUp: LookUp
  }
}

export const nodesFeature = feature({
  name: 'nodes',
  scopes,
  permissions,
  ids,
  samples: {
    bridge: 'br0',
    managementAddress: '192.0.2.10',
    lostAt: null,
  },
  errors,
  events,
  failures,
  operations: [
    enrollNode,
    getEnrollment,
    listNodes,
    getNode,
    changeNode,
    renewEnrollment,
    revokeCredential,
    stopAwaiting,
    declareNodeLost,
    removeNode,
    removeNodeWithWorkloads,
  ],
  locationFigures: figuresOfNodes,
  attention: [awaitedNodes, addressConflicts, strayWorkloads, nodesInTrouble, plainHttp],
  auditTargets: [
    {
      ...nodeTarget,
      page: ({ id, isGone }, { kind }) => (kind === 'staff' && !isGone ? `/admin/nodes/${id}` : undefined),
    },
  ],
  search: [
    {
      type: 'node',
      position: 30,
      place: ({ actor }) => (actor.kind === 'staff' && actor.scopes.has('nodes:read') ? '/admin/nodes/' : undefined),
      find: ({ tx }, text, most) =>
        searchNodes(tx, text, most).map(({ exact, ...found }) => ({ ...found, exact: exact === 1 })),
    },
  ],
  choices: [{ type: 'node', mayRead: (actor) => mayCall(listNodes, actor), ...nodeChoices }],
  schedule: [
    {
      everyMs: 10 * second,
      words: 'noting nodes that did not come back after a restart',
      work: ({ db, hub }) => noteNotBack(db, hub),
    },
  ],
  checklist: [
    {
      kinds: ['staff'],
      position: 30,
      by: enrollNode,
      title: 'First node',
      words: 'A machine that runs servers.',
      done: ({ tx, clock }) => isAnyNodeLive(tx, clock() - hour),
      href: () => '/admin/nodes/enroll',
    },
  ],
  services({ db, clock, config }) {
    const programs = new Programs(config.agentDir)
    const encrypted = config.publicUrl.startsWith('https:') || config.agentInsecure
    return { programs, panelLookUp: bySystem, agents: new AgentEndpoints({ db, clock, programs, encrypted }) }
  },
  routes: ({ app: { agents, programs, nodes: live } }) => [
    ['GET', INSTALLER_PATH, () => programs.installer()],
    ['POST', agentPaths.enroll, (request) => agents.enroll(request, live)],
    ['POST', agentPaths.challenge, (request) => agents.challenge(request)],
    ['POST', agentPaths.stopped, (request) => agents.stopped(request)],
    ['GET', `${agentPaths.program}/*`, (request) => agents.program(request)],
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 200,
      name: 'nodes',
      title: 'Nodes',
      href: '/admin/nodes',
      icon: 'node',
      sees: listNodes,
      mark({ tx, nodes }) {
        const away = nodesAway(tx, nodes).length
        return away > 0 ? { words: `${away} away`, bad: true } : undefined
      },
    },
  ],
  actions: [{ kinds: ['staff'], position: 40, title: 'Enroll node', page: '/admin/nodes/enroll', does: enrollNode }],
  async fixture({ admin }) {
    const { id: locationId } = await admin('POST', '/admin/node-groups', { name: 'Fixture' })
    return { enrollment: (await admin('POST', '/admin/node-enrollments', { locationId })).id }
  },
})
