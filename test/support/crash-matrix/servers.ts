// Servers in scenarios: how one is ordered and what is done to it, and the states in which many scenarios end.
import type { World } from '../world/panel.ts'

/** Orders a server and waits until it runs. Returns its id. */
export const order = async (p: World) => {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId as string
}
/** Calls an action of the server. */
export const act = (name: string, body?: object) => (p: World, id: string) =>
  p.admin('POST', `/servers/${id}/actions/${name}`, body)
/** Switches a new server off. Returns its id. */
export async function stopped(p: World) {
  const id = await order(p)
  await act('power', { action: 'off' })(p, id)
  await p.settle()
  return id
}
/** The id of the only job of this kind. */
export const jobOf = (p: World, kind: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM jobs WHERE kind = ?').get(kind)?.id

/** Generations of a disk: the first, and the second, which took its place. */
export const first = { onNode: 1, inUse: 1 }
export const second = { onNode: 2, inUse: 2 }

/** A server that is there, and all that belongs to it. */
export const there = {
  vms: 1,
  allowed: 1,
  volumes: 1,
  spareDiskGb: 0,
  seeds: 0,
  rules: 1,
  addresses: 1,
  held: 1,
  openJobs: 0,
}
/** A server that was never installed, or is no more. */
export const gone = { power: 'absent', vms: 0, volumes: 0, spareDiskGb: 0, seeds: 0, rules: 0, openJobs: 0 }

export const built = ['server.created', 'server.provisioned']
export const failedFirst = ['server.created', 'server.install_failed']
/** It runs as it was ordered. */
export const running = { ...there, disk: first, status: 'running', power: 'running', events: built }
/** Two servers run. */
export const pair = {
  ...there,
  ...{ vms: 2, volumes: 2, rules: 2, held: 2, allowed: 2, addresses: 2 },
  status: 'running',
  power: 'running',
  events: [...built, ...built],
}
