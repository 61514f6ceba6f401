// A hypervisor of another panel in the network of real nodes.
import type { RealNodes } from '../nodes/real-nodes.ts'
import { type SourceHypervisor, startHypervisor } from './lab.ts'

/** Starts it at this address of their network. It ends before they close. */
export async function hypervisorBeside({ spaces }: RealNodes, address: string): Promise<SourceHypervisor> {
  await spaces.add('source')
  await spaces.wire(['source', 'up0'], ['switch', 'p3'])
  await spaces.ip('switch', 'link', 'set', 'p3', 'master', 'br0')
  await spaces.bridge('source', ['up0'])
  await spaces.ip('source', 'address', 'add', `${address}/24`, 'dev', 'br0')
  return startHypervisor(spaces, 'source', address)
}
