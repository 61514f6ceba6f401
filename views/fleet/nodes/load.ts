import type { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { gb, mb } from '../../components/words.ts'
import { meter } from '../../html/card.ts'

export type Node = Answers<{ nodes: typeof listNodes }>['nodes']['data'][number]

/** Memory sold to servers, of the memory that can be sold. */
export const memoryMeter = (n: Node): Html => {
  const sold = Math.max(0, n.memoryMb - n.reservedMemoryMb)
  return meter('Memory', n.heldMemoryMb, sold, `${mb(n.heldMemoryMb)} of ${mb(sold)}`)
}
export const diskMeter = (n: Node): Html =>
  meter('Disk', n.heldDiskGb, n.diskGb, `${gb(n.heldDiskGb)} of ${gb(n.diskGb)}`)
export const loadWords = (n: Node): Html =>
  n.load
    ? html`${Math.round(n.load.cpuPercent)} % CPU<small>load ${n.load.load1.toFixed(2)} on ${n.threads} threads</small>`
    : html`–`
export const kinds: Record<string, string> = { kvm: 'KVM', emulation: 'Emulation', none: 'None' }
