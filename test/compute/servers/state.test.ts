// The state table of servers, asked of the API: every state and every action, one test per cell.
import { afterAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { backupActions } from '../../../src/compute/backups/model.ts'
import { planActions } from '../../../src/compute/backups/plans/states.ts'
import { consoleActions } from '../../../src/compute/console/states.ts'
import { cpuActions } from '../../../src/compute/cpu-baseline/states.ts'
import { guestActions } from '../../../src/compute/guest/states.ts'
import { installationActions } from '../../../src/compute/installation/states.ts'
import { rescueActions } from '../../../src/compute/rescue/states.ts'
import { serverStates } from '../../../src/compute/server-records/state.ts'
import { serverActions } from '../../../src/compute/servers/states.ts'
import { snapshotActions } from '../../../src/compute/snapshots/states.ts'
import { speedActions } from '../../../src/compute/speed/states.ts'
import { transferActions } from '../../../src/compute/transfers/states.ts'
import { volumeActions } from '../../../src/compute/volumes/states.ts'
import { checkStates, stateTableOf } from '../../../src/fleet/workloads/states/rows.ts'
import type { DeclaredRows } from '../../../src/fleet/workloads/states/table.ts'
import type { Status } from '../../../src/fleet/workloads/status.ts'
import { firewallActions } from '../../../src/network/firewalls/states.ts'
import { floatingActions } from '../../../src/network/floating-ips/states.ts'
import { addressActions } from '../../../src/network/server-addresses/states.ts'
import { type Panel, panel, type Snapshot, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const features = [
  serverActions,
  installationActions,
  guestActions,
  rescueActions,
  consoleActions,
  speedActions,
  addressActions,
  snapshotActions,
  backupActions,
  planActions,
  volumeActions,
  transferActions,
  cpuActions,
  floatingActions,
  firewallActions,
] as const
type KeysOf<T> = T extends unknown ? keyof T : never
type Action = KeysOf<(typeof features)[number]['table']>
const actionNames = features.flatMap(({ table }) => Object.keys(table) as Action[])

type State = {
  name: string
  status: string
  /** Brings a new server into the state; answers its id. */
  make(p: World): Promise<string>
  /** Every action once: behind the code that refuses it, or behind `allowed`. */
  expected: Record<string, string>
}

const { imageId, hostname, access } = { imageId: undefined, hostname: undefined, access: undefined }
const order = async (p: World, more: object = {}): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  return serverId
}
const waiting = (p: World) => order(p, { imageId, hostname, access })
const running = async (p: World) => {
  const id = await order(p)
  await p.settle()
  return id
}
/** Its node is away, so the installation stays open. */
const installing = async (p: World) => {
  p.node.agent.disconnect()
  const node = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, node.id)
  const id = await order(p, { nodeId: node.id })
  node.agent.disconnect()
  return id
}
const failed = async (p: World) => {
  p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
  return running(p)
}
const then = (make: State['make'], method: string, path: string, body?: object) => async (p: World) => {
  const id = await make(p)
  await p.admin(method, `/servers/${id}${path}`, body)
  await p.settle()
  return id
}
const suspended = (make: State['make']) => then(make, 'POST', '/actions/suspend', { reason: 'overdue' })
const suspendedMeanwhile = async (p: World) => {
  const id = await installing(p)
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
  return id
}

const whenSuspended = {
  server_suspended:
    'start shutdown off restart setup reinstall restart_policy change_package ' +
    'boot_order iso reset_password detect_os ' +
    'addresses console rescue exit_rescue snapshot',
  already_suspended: 'suspend',
  not_terminated: 'undelete',
  allowed: 'unsuspend terminate rename protect firewall count_firewall smtp backup_plan change_owner speed',
}

/**
 * Floating addresses are pointed to servers by their own operation, snapshots are restored and deleted by theirs,
 * volumes need a package that has some, backups a target, moves a second node or location, and a CPU model is adopted
 * for a whole location: test/network/floating-ips, test/compute/snapshots, volumes, backups, transfers and
 * cpu-baseline.
 */
type Elsewhere =
  | 'floating_ip'
  | 'volume'
  | 'detach_volume'
  | `${'restore' | 'delete'}_${'snapshot' | 'backup'}`
  | 'backup'
  | 'move'
  | 'relocate'
  | 'cpu_model'
type Called = Exclude<Action, Elsewhere>
const elsewhere: readonly string[] = [
  'floating_ip',
  'volume',
  'detach_volume',
  'restore_snapshot',
  'delete_snapshot',
  'backup',
  'restore_backup',
  'delete_backup',
  'move',
  'relocate',
  'cpu_model',
] satisfies Elsewhere[]
const called = actionNames.filter((action): action is Called => !elsewhere.includes(action))

const states: State[] = [
  {
    name: 'waiting for its setup',
    status: 'pending_setup',
    make: waiting,
    expected: {
      not_set_up:
        'start shutdown off restart reinstall change_package boot_order iso ' +
        'reset_password detect_os console rescue exit_rescue count_firewall snapshot backup_plan',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      allowed: 'setup suspend terminate rename restart_policy protect firewall smtp change_owner addresses speed',
    },
  },
  {
    name: 'being installed',
    status: 'provisioning',
    make: installing,
    expected: {
      server_busy:
        'change_owner start shutdown off restart reinstall restart_policy change_package ' +
        'boot_order iso reset_password detect_os ' +
        'addresses speed rescue exit_rescue count_firewall snapshot',
      already_set_up: 'setup',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      allowed: 'suspend terminate rename protect firewall smtp backup_plan console',
    },
  },
  {
    name: 'running',
    status: 'running',
    make: running,
    expected: {
      already_running: 'start',
      already_set_up: 'setup',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      not_in_rescue: 'exit_rescue',
      allowed:
        'shutdown off restart reinstall suspend terminate rename restart_policy change_package boot_order iso ' +
        'reset_password detect_os protect firewall count_firewall smtp change_owner addresses speed console ' +
        'rescue snapshot backup_plan',
    },
  },
  {
    name: 'in rescue',
    status: 'running',
    make: then(running, 'POST', '/actions/rescue'),
    expected: {
      already_running: 'start',
      already_set_up: 'setup',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      already_in_rescue: 'rescue reset_password detect_os snapshot',
      allowed:
        'shutdown off restart reinstall suspend terminate rename restart_policy change_package boot_order iso ' +
        'protect firewall count_firewall smtp backup_plan change_owner addresses speed console exit_rescue',
    },
  },
  {
    name: 'stopped',
    status: 'stopped',
    make: then(running, 'POST', '/actions/power', { action: 'off' }),
    expected: {
      already_stopped: 'shutdown off restart detect_os console',
      already_set_up: 'setup',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      not_in_rescue: 'exit_rescue',
      allowed:
        'start reinstall suspend terminate rename restart_policy change_package ' +
        'boot_order iso reset_password protect firewall count_firewall smtp backup_plan ' +
        'change_owner addresses speed rescue snapshot',
    },
  },
  { name: 'suspended', status: 'suspended', make: suspended(running), expected: whenSuspended },
  {
    name: 'suspended before its setup',
    status: 'suspended',
    make: suspended(waiting),
    expected: whenSuspended,
  },
  {
    name: 'suspended while it is installed',
    status: 'suspended',
    make: suspendedMeanwhile,
    expected: whenSuspended,
  },
  {
    name: 'suspended after a failed installation',
    status: 'suspended',
    make: suspended(failed),
    expected: whenSuspended,
  },
  {
    name: 'failed',
    status: 'failed',
    make: failed,
    expected: {
      server_failed:
        'start shutdown off restart restart_policy change_package boot_order iso ' +
        'reset_password detect_os addresses rescue count_firewall ' +
        'exit_rescue snapshot',
      already_set_up: 'setup',
      not_suspended: 'unsuspend',
      not_terminated: 'undelete',
      allowed: 'reinstall suspend terminate rename protect firewall smtp backup_plan change_owner speed console',
    },
  },
  {
    name: 'terminated',
    status: 'terminated',
    make: then(running, 'DELETE', ''),
    expected: {
      server_terminated: called.filter((action) => action !== 'undelete').join(' '),
      allowed: 'undelete',
    },
  },
  {
    name: 'terminated for good',
    status: 'terminated',
    make: then(running, 'DELETE', '?immediately=true'),
    expected: { server_terminated: called.join(' ') },
  },
]

const power = (action: string) => ['POST', '/actions/power', () => ({ action })] as const
const installation = (p: World, more: object) => ({ imageId: p.image, access: { mode: 'password' }, ...more })
const calls: Record<Called, readonly [string, string, (p: World) => object | undefined]> = {
  start: power('start'),
  shutdown: power('shutdown'),
  off: power('off'),
  restart: power('restart'),
  setup: ['POST', '/actions/setup', (p) => installation(p, { hostname: 'web02' })],
  reinstall: ['POST', '/actions/reinstall', (p) => installation(p, {})],
  suspend: ['POST', '/actions/suspend', () => ({ reason: 'overdue' })],
  unsuspend: ['POST', '/actions/unsuspend', () => undefined],
  terminate: ['DELETE', '', () => undefined],
  undelete: ['POST', '/actions/undelete', () => undefined],
  change_owner: [
    'POST',
    '/actions/change-owner',
    (p) => p.db.$client.query("SELECT id AS ownerId FROM accounts WHERE name = 'Nora'").get() as object,
  ],
  protect: ['PUT', '/protection', () => ({ protected: true })],
  firewall: ['PATCH', '/firewall', () => ({ enabled: true, acceptClosedSsh: true })],
  count_firewall: ['POST', '/firewall/actions/count', () => undefined],
  smtp: ['PUT', '/smtp', () => ({ allowed: true })],
  rename: ['PATCH', '/name', () => ({ name: 'Shop' })],
  restart_policy: ['PUT', '/restart-policy', () => ({ restartPolicy: 'never' })],
  speed: ['PATCH', '/speed', () => ({ portInMbps: 50 })],
  console: ['POST', '/console', () => ({ kind: 'vnc' })],
  boot_order: ['PUT', '/boot-order', () => ({ bootFirst: 'cd' })],
  iso: ['PUT', '/iso', () => ({ isoId: null })],
  change_package: ['POST', '/actions/change-package', (p) => ({ packageId: p.pack })],
  rescue: ['POST', '/actions/rescue', () => undefined],
  exit_rescue: ['POST', '/actions/rescue/exit', () => undefined],
  addresses: ['POST', '/ips', () => ({ version: 4 })],
  reset_password: ['POST', '/actions/reset-password', () => ({})],
  detect_os: ['POST', '/actions/detect-os', () => undefined],
  backup_plan: ['PUT', '/backups/plan', () => ({ planId: null })],
  snapshot: ['POST', '/snapshots', () => ({ name: 'before' })],
}

/** Actions that the record of a server does not list. */
const ownButtons = ['rename', 'firewall', 'count_firewall', 'smtp', 'snapshot', 'backup_plan']

/** Every cell of what is allowed begins from a copy of the same panel. */
type Made = { snapshot: Snapshot; id: string; begun: World }
const made = new Map<string, Promise<Made>>()
async function make(state: State): Promise<Made> {
  const begun = await world()
  begun.account('customer', 'Nora')
  await begun.admin('PATCH', `/admin/images/${begun.image}`, { isRescue: true })
  const id = await state.make(begun)
  return { snapshot: begun.snapshot(), id, begun }
}
function stateOf(state: State): Promise<Made> {
  const known = made.get(state.name) ?? make(state)
  made.set(state.name, known)
  return known
}
/** A panel for all that is refused in the state: its nodes are away, and nothing changes it. */
const still = new Map<State, Promise<Panel>>()
function stillIn(state: State): Promise<Panel> {
  const known = still.get(state) ?? away(state)
  still.set(state, known)
  return known
}
async function away(state: State): Promise<Panel> {
  const p = await panel({ from: (await stateOf(state)).snapshot })
  for (const agent of p.agents.values()) agent.disconnect()
  return p
}
afterAll(async () => {
  for (const one of made.values()) (await one).begun.close()
  for (const one of still.values()) (await one).close()
})

/** Everything but what the runner and the nodes note of themselves meanwhile; no job was added. */
const fingerprint = (p: Panel) =>
  `${p.fingerprint(['audit', 'nodes', 'jobs', 'job_log', 'job_steps'])} ` +
  `${JSON.stringify(p.db.$client.query('SELECT count(*) AS jobs FROM jobs').get())}`

for (const state of states)
  describe(`a server that is ${state.name}`, () => {
    test('has this status, and every action is decided', async () => {
      const { begun, id } = await stateOf(state)
      expect((await begun.admin('GET', `/servers/${id}`)).status).toBe(state.status)
      const listed = Object.values(state.expected).flatMap((actions) => actions.split(' '))
      expect(listed.sort()).toEqual([...called].sort())
    })
    test('shows buttons for what is allowed, and no others', async () => {
      const { begun, id } = await stateOf(state)
      const { allowed } = await begun.admin('GET', `/servers/${id}`)
      const expected = (state.expected['allowed'] ?? '')
        .split(' ')
        .filter((action) => action && !ownButtons.includes(action))
      expect(allowed.sort()).toEqual(expected.sort())
    })
    const sent = async (p: Panel, action: Called) => {
      const { id, begun } = await stateOf(state)
      const [method, path, body] = calls[action]
      return await p.call(begun.owner, method, `/servers/${id}${path}`, body(begun))
    }
    const { allowed = '', ...refused } = state.expected
    for (const action of allowed.split(' ').filter(Boolean) as Called[])
      test(`allows ${action}`, async () => {
        using p = await away(state)
        expect([200, 201, 202]).toContain((await sent(p, action)).status)
      })
    for (const [code, actions] of Object.entries(refused))
      for (const action of actions.split(' ') as Called[])
        test(`refuses ${action}: ${code}`, async () => {
          // A refused call changes nothing, so one panel is enough for all of them.
          const p = await stillIn(state)
          const before = fingerprint(p)
          const answer = await sent(p, action)
          expect([answer.status, answer.body.error?.code]).toEqual([409, code])
          expect(fingerprint(p)).toBe(before)
        })
  })

test('a protected server is not reinstalled, and whatever else is allowed stays so', async () => {
  using p = await world()
  const id = await running(p)
  await p.call(p.customer, 'PUT', `/servers/${id}/protection`, { protected: true })
  const [method, path, body] = calls.reinstall
  const answer = await p.call(p.owner, method, `/servers/${id}${path}`, body(p))
  expect([answer.status, answer.body.error.code]).toEqual([409, 'server_protected'])
  const { allowed } = await p.admin('GET', `/servers/${id}`)
  expect(allowed.sort().join(' ')).toBe(
    'addresses boot_order change_owner change_package console detect_os iso off protect rescue reset_password ' +
      'restart restart_policy shutdown speed suspend terminate',
  )
})

test('a locked customer has no power actions, setup or reinstallation; staff and the reseller have', async () => {
  using p = await world()
  const rita = p.account('reseller', 'Rita')
  const id = await running(p)
  p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [rita.id, p.customer.id])
  p.db.$client.run('UPDATE workloads SET reseller_id = ? WHERE id = ?', [rita.id, id])
  const mate = p.account('customer', 'Mia')
  await share(p, p.customer, mate, 'manage')
  const lock = (is: boolean, who = p.customer.id) =>
    p.admin('POST', `/customers/${who}/actions/${is ? 'lock' : 'unlock'}`, is ? { reason: 'x' } : undefined)
  const token = p.token(p.customer.id)
  const closed = [
    ['power', { action: 'start' }],
    ['power', { action: 'shutdown' }],
    ['power', { action: 'off' }],
    ['power', { action: 'restart' }],
    ['reinstall', calls.reinstall[2](p)],
  ] as const
  await lock(true)
  for (const who of [p.customer, token, mate]) {
    const { status, body } = await p.call(who, 'POST', `/servers/${id}/console`, { kind: 'serial' })
    expect([status, body.error?.code]).toEqual([409, 'account_locked'])
  }
  for (const who of [p.customer, token, mate, p.token(mate.id)])
    for (const [action, body] of closed) {
      const before = fingerprint(p)
      const answer = await p.call(who, 'POST', `/servers/${id}/actions/${action}`, body)
      expect([answer.status, answer.body.error?.code]).toEqual([409, 'account_locked'])
      expect(fingerprint(p)).toBe(before)
    }
  expect((await p.call(p.customer, 'GET', `/servers/${id}`)).body).toMatchObject({ locked: true, allowed: [] })
  expect((await p.call(p.customer, 'GET', '/servers')).body.data[0]).toMatchObject({ locked: true, allowed: [] })
  expect((await p.call(rita, 'GET', `/servers/${id}`)).body.locked).toBe(false)
  const open = async (who: any, action: string) => {
    const { status } = await p.call(who, 'POST', `/servers/${id}/actions/power`, { action })
    await p.settle()
    return status
  }
  expect(await open(rita, 'off')).toBe(202)
  expect(await open(p.owner, 'start')).toBe(202)
  // A locked member of a team that is not locked may not act either, and its owner may.
  await lock(false)
  await lock(true, mate.id)
  expect(await open(mate, 'off')).toBe(409)
  expect(await open(p.customer, 'off')).toBe(202)
  await lock(false, mate.id)
  expect(await open(mate, 'start')).toBe(202)
})

test('the rows of every feature are here', () => {
  expect(Object.keys(stateTableOf(registry.features, 'server')).sort()).toEqual([...actionNames].sort())
})

test('a state that the table does not have refuses every action', () => {
  const unknown = {
    status: 'lost' as Status,
    protected: false,
    purgeAt: null,
    rescue: null,
    locked: false,
    nodeLost: false,
  }
  for (const { actions, disabledReason } of features as unknown as { actions: string[]; disabledReason: Function }[])
    expect(actions.map((action) => disabledReason(unknown, action))).toEqual(actions.map(() => 'not_possible'))
})

test('a state without a decision on an action does not compile, nor does a code without words', () => {
  const { running: _, ...incomplete } = serverActions.table.rename
  // @ts-expect-error: `running` is not decided
  const open = serverStates.rows({ one: incomplete })
  // @ts-expect-error: servers have no words for this code
  const wordless = serverStates.rows({ two: { ...serverActions.table.rename, running: 'limit_reached' } })
  // @ts-expect-error: no such obstacle
  const strange = serverStates.rows({ three: { ...serverActions.table.rename, refusedWhen: ['rained_off'] } })
  const errors = (rows: unknown) => () =>
    checkStates([...registry.features, { name: 'odd', workloadActions: [rows as DeclaredRows] }], registry.errors)
  expect(errors(open)).toThrow('leaves running open')
  expect(errors(strange)).toThrow('names the obstacle rained_off')
  expect(errors(wordless)).not.toThrow()
  expect(errors(serverStates.rows({ rename: serverActions.table.rename }))).toThrow('two features declare the action')
  expect(errors({ ...serverActions, kind: 'ship' })).toThrow('for the kind ship')
})
