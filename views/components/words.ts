// Sizes, counts and names as people read them; those that operations say too are in the kernel.
import { exactGb, exactMb } from '../../src/kernel/words.ts'

export { count, exactGb, exactMb, list } from '../../src/kernel/words.ts'

const trimmed = (n: number) =>
  (n >= 100 || Number.isInteger(n) ? Math.round(n) : Math.round(n * 10) / 10).toLocaleString('en')

export const gb = (n: number) => (n >= 1024 ? `${trimmed(n / 1024)} TB` : `${trimmed(n)} GB`)
export const mb = (n: number) => (n >= 1024 ? gb(n / 1024) : `${trimmed(n)} MB`)
export const bytes = (n: number) => (n >= 1024 ** 2 ? mb(n / 1024 ** 2) : `${trimmed(n / 1024)} kB`)

/** Traffic is counted in thousands. */
export const traffic = (gigabytes: number) =>
  gigabytes % 1000 === 0 ? `${gigabytes / 1000} TB` : `${gigabytes.toLocaleString('en')} GB`

/** The size of a package or a server, on one line. */
export const size = ({ vcpus, memoryMb, diskGb }: { vcpus: number; memoryMb: number; diskGb: number }) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)} · ${exactGb(diskGb)} disk`

/** For lists, where the disk does not fit. */
export const smallSize = ({ vcpus, memoryMb }: { vcpus: number; memoryMb: number }) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)}`

/** The end of an id tells things apart; its start is the time. */
export const shortId = (id: string) => `…${id.slice(-8)}`
