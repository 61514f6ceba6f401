// Sizes, counts and names as people read them.

const trimmed = (n: number) => (n >= 100 || Number.isInteger(n) ? Math.round(n) : Math.round(n * 10) / 10).toLocaleString('en')

export const gb = (n: number) => (n >= 1024 ? `${trimmed(n / 1024)} TB` : `${trimmed(n)} GB`)
export const mb = (n: number) => (n >= 1024 ? gb(n / 1024) : `${trimmed(n)} MB`)
export const bytes = (n: number) => (n >= 1024 ** 2 ? mb(n / 1024 ** 2) : `${trimmed(n / 1024)} kB`)
export const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`
export const list = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

// What is sold is said exactly: 2000 GB is not 2 TB.
export const exactGb = (n: number) => (n > 0 && n % 1024 === 0 ? `${n / 1024} TB` : `${n.toLocaleString('en')} GB`)
export const exactMb = (n: number) => (n % 512 === 0 && n >= 1024 ? exactGb(n / 1024) : `${n.toLocaleString('en')} MB`)
/** Traffic is counted in thousands. */
export const traffic = (gigabytes: number) => (gigabytes % 1000 === 0 ? `${gigabytes / 1000} TB` : `${gigabytes.toLocaleString('en')} GB`)

/** What a package or a server has, on one line. */
export const size = ({ vcpus, memoryMb, diskGb }: { vcpus: number; memoryMb: number; diskGb: number }) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)} · ${exactGb(diskGb)} disk`

/** The end of an id tells things apart; its start is the time. */
export const shortId = (id: string) => `…${id.slice(-8)}`
