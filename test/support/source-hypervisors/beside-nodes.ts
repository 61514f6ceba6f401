// Hypervisors of another panel in the network of real nodes: beside them, or one of them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { must } from '../guest.ts'
import type { NodeName, RealNodes } from '../nodes/real-nodes.ts'
import { SourceHypervisor, startHypervisor } from './lab.ts'

/** Starts it at this address of their network. It ends before they close. */
export async function hypervisorBeside({ spaces }: RealNodes, address: string): Promise<SourceHypervisor> {
  await spaces.add('source')
  await spaces.wire(['source', 'up0'], ['switch', 'p3'])
  await spaces.ip('switch', 'link', 'set', 'p3', 'master', 'br0')
  await spaces.bridge('source', ['up0'])
  await spaces.ip('source', 'address', 'add', `${address}/24`, 'dev', 'br0')
  return startHypervisor(spaces, 'source', address)
}

/** Gives a node a /root of its own, in which an adoption keeps definitions. Its keys stay. */
export async function ownRoot(inside: readonly string[]) {
  const root = join(temporary('own-root'), 'root')
  const keys = join(root, '.ssh')
  mkdirSync(keys, { recursive: true, mode: 0o700 })
  await must(...inside, 'mount', '--bind', '/root/.ssh', keys)
  await must(...inside, 'mount', '--rbind', root, '/root')
}

/** The node itself, at its address, as the hypervisor of another panel. It ends with the nodes. */
export const hypervisorOn = ({ inside }: RealNodes, name: NodeName, address: string): SourceHypervisor =>
  new SourceHypervisor(address, temporary(`source-${name}`), inside[name])
