// Counts, lists and sizes as people read them: in pages, and in what operations say.

/** `1 server`, `2 servers` */
export const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`
/** Words of a program as a sentence among others. */
export const sentence = (words: string) => (/[.!?]$/.test(words) ? words : `${words}.`)
/** `web01, web02 and web03` */
export const list = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

// Memory and disks are counted in powers of 1024, traffic in powers of 1000. Fields say Mb and Gb of both.

/** Of memory and disks, as the fields that take an amount name it. */
export const units = { memoryMb: 'MiB', diskGb: 'GiB', trafficGb: 'GB' } as const

/** GiB that are sold, exactly: 2000 GiB is not 2 TiB. */
export const exactGb = (n: number) => (n > 0 && n % 1024 === 0 ? `${n / 1024} TiB` : `${n.toLocaleString('en')} GiB`)
/** MiB that are sold, exactly. */
export const exactMb = (n: number) => (n % 512 === 0 && n >= 1024 ? exactGb(n / 1024) : `${n.toLocaleString('en')} MiB`)

const trimmed = (n: number) =>
  (n >= 100 || Number.isInteger(n) ? Math.round(n) : Math.round(n * 10) / 10).toLocaleString('en')

/** About so many GiB that are measured. */
export const gb = (n: number) => (n >= 1024 ? `${trimmed(n / 1024)} TiB` : `${trimmed(n)} GiB`)
/** About so many MiB that are measured. */
export const mb = (n: number) => (n >= 1024 ? gb(n / 1024) : `${trimmed(n)} MiB`)
/** About so many bytes of memory or storage. */
export const bytes = (n: number) =>
  n >= 1024 ** 2 ? mb(n / 1024 ** 2) : n >= 1024 ? `${trimmed(n / 1024)} KiB` : `${Math.round(n)} B`

/** GB of traffic. */
export const traffic = (gigabytes: number) =>
  gigabytes > 0 && gigabytes % 1000 === 0 ? `${gigabytes / 1000} TB` : `${gigabytes.toLocaleString('en')} GB`
