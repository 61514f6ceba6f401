// The panel of the random sequences: two nodes, one of them with few addresses, two packages, people of each kind.
import { panel, type Snapshot, type Who, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'
import type { ActorName, Things } from './model.ts'

export type Stage = {
  from: Snapshot
  accounts: Record<ActorName, string>
  things: Omit<Things, 'extraAddresses'>
  location: string
  nodes: readonly string[]
}

/** Builds it once; each sequence plays in a copy. */
export async function makeStage(): Promise<Stage> {
  const p = await world()
  const second = p.addNode(p.location, 'fra-02')
  const narrow = { gateway: '198.51.100.1', first: '198.51.100.10', last: '198.51.100.13' }
  await p.admin('POST', '/admin/ip-pools', {
    name: 'v4 of fra-02',
    network: '198.51.100.0/24',
    ...narrow,
    nodeIds: [second.id],
  })
  const large = await p.admin('POST', '/admin/packages', { name: 'KVM 4G', vcpus: 4, memoryMb: 4096, diskGb: 40 })
  const rita = p.account('reseller', 'Rita')
  const packageIds = [p.pack, large.id]
  await p.admin('PATCH', `/resellers/${rita.id}`, { packageIds, locationIds: [p.location] })
  const [cal, dan, clara, mate] = [
    p.customer,
    p.account('customer', 'Dan'),
    p.account('customer', 'Clara', rita.id),
    p.account('customer', 'Mate'),
  ]
  await share(p, cal, mate, 'operate')
  const support = p.staff(['servers.see_all', 'servers.power'], 'Sue')
  const accounts = {
    owner: p.owner.id,
    support: support.id,
    rita: rita.id,
    clara: clara.id,
    cal: cal.id,
    dan: dan.id,
    mate: mate.id,
  }
  await p.settle()
  const from = p.snapshot()
  p.close()
  return {
    from,
    accounts,
    things: { packages: packageIds, image: p.image },
    location: p.location,
    nodes: [p.node.id, second.id],
  }
}

export type People = Record<ActorName, Who>
/** A copy of the stage with everybody signed in. */
export async function enter({
  from,
  accounts,
}: Stage): Promise<{ p: Awaited<ReturnType<typeof panel>>; people: People }> {
  const p = await panel({ from })
  p.controller.runner.start()
  const people = Object.fromEntries(Object.entries(accounts).map(([name, id]) => [name, p.token(id)])) as People
  return { p, people }
}
export type Entered = Awaited<ReturnType<typeof enter>>
