// Sizes, counts and names as people read them; those that operations say too are in the kernel.
import { exactGb, exactMb, traffic } from '../../src/kernel/words.ts'

export { bytes, count, exactGb, exactMb, gb, list, mb, sentence, traffic, units } from '../../src/kernel/words.ts'

/** The size of a package or a server, on one line. */
export const size = ({ vcpus, memoryMb, diskGb }: { vcpus: number; memoryMb: number; diskGb: number }) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)} · ${exactGb(diskGb)} disk`

/** For lists, where the disk does not fit. */
export const smallSize = ({ vcpus, memoryMb }: { vcpus: number; memoryMb: number }) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)}`

/** The end of an id tells things apart; its start is the time. */
export const shortId = (id: string) => `…${id.slice(-8)}`

/** So many bytes of traffic, in decimal units as it is sold. */
export const usedTraffic = (n: number) => traffic(Math.round(n / 1e8) / 10)
