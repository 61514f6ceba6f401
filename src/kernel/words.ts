// Counts, lists and sizes as people read them: in pages, and in what operations say.

/** `1 server`, `2 servers` */
export const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`
/** `web01, web02 and web03` */
export const list = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

// Sizes that are sold are exact: 2000 GB is not 2 TB.
export const exactGb = (n: number) => (n > 0 && n % 1024 === 0 ? `${n / 1024} TB` : `${n.toLocaleString('en')} GB`)
export const exactMb = (n: number) => (n % 512 === 0 && n >= 1024 ? exactGb(n / 1024) : `${n.toLocaleString('en')} MB`)
