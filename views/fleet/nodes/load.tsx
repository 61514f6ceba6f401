import type { getNode, listNodes } from '../../../src/fleet/nodes/nodes.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Meter } from '../../components/figures.tsx'
import { gb, mb } from '../../components/words.ts'
import { awaySince, Stale } from './stale.tsx'

export type Node = Answers<{ nodes: typeof listNodes }>['nodes']['data'][number]
/** A node on its own page. */
export type ShownNode = Answers<{ node: typeof getNode }>['node']
type Props = { of: Node; inline?: boolean }

/** Memory that servers may use, in MB. */
const usableMemory = (n: Node) => Math.max(0, n.memoryMb - n.reservedMemoryMb)

/** Memory allocated to servers, of what the host leaves them. */
export const MemoryMeter = ({ of: n, inline = false }: Props) => (
  <Meter
    label="Allocated memory"
    value={n.heldMemoryMb}
    total={usableMemory(n)}
    words={`${mb(n.heldMemoryMb)} of ${mb(usableMemory(n))}`}
    inline={inline}
  />
)

/** Disk allocated to servers, of all there is. */
export const DiskMeter = ({ of: n, inline = false }: Props) => (
  <Meter
    label="Allocated disk"
    value={n.heldDiskGb}
    total={n.diskGb}
    words={`${gb(n.heldDiskGb)} of ${gb(n.diskGb)}`}
    inline={inline}
  />
)

export const Load = ({ of: n }: { of: Node }) =>
  n.load ? (
    <Stale since={awaySince(n)} inline>
      {`${Math.round(n.load.cpuPercent)} % CPU`}
      {n.connected && <small>{`load ${n.load.load1.toFixed(2)} on ${n.threads} threads`}</small>}
    </Stale>
  ) : (
    <>–</>
  )

export const virtualisation: Record<string, string> = { kvm: 'KVM', emulation: 'Emulation', none: 'None' }
