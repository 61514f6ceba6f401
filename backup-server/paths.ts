// The paths of restic's REST protocol (restic, doc/REST_backend.rst), and nothing else. A part of a path reaches the
// file system only when it has one of these exact forms, so that no path leaves the folder.

/** Folders of a repository. `config` is a file beside them. */
export const kinds = ['data', 'keys', 'locks', 'snapshots', 'index'] as const
export type Kind = (typeof kinds)[number]

/** `repository` is `LOGIN` or `LOGIN/NAME`: a login may hold a repository for each customer. */
export type Target = { login: string; repository: string } & (
  | { at: 'repository' }
  | { at: 'config' }
  | { at: 'folder'; kind: Kind }
  | { at: 'file'; kind: Kind; name: string }
)

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/
const FILE_NAME = /^[0-9a-f]{64}$/
const reserved: ReadonlySet<string> = new Set([...kinds, 'config'])

/** Lower-case letters, digits, `-` and `_`, and no word that the protocol uses. */
export const isRepositoryName = (text: string): boolean => NAME.test(text) && !reserved.has(text)
export const isFileName = (text: string): boolean => FILE_NAME.test(text)
const isKind = (text: string | undefined): text is Kind => (kinds as readonly (string | undefined)[]).includes(text)

/** Undefined for every path that the protocol does not have. */
export function targetOf(path: string): Target | undefined {
  const parts = path.split('/').slice(1)
  const login = parts.shift() ?? ''
  if (!isRepositoryName(login)) return undefined
  const below = isRepositoryName(parts[0] ?? '') ? parts.shift() : undefined
  const of = { login, repository: below === undefined ? login : `${login}/${below}` }
  const [first, second, ...more] = parts
  if (more.length) return undefined
  if (second === undefined) {
    if (first === '') return { ...of, at: 'repository' }
    return first === 'config' ? { ...of, at: 'config' } : undefined
  }
  if (!isKind(first)) return undefined
  if (second === '') return { ...of, at: 'folder', kind: first }
  return isFileName(second) ? { ...of, at: 'file', kind: first, name: second } : undefined
}

/** The file of a target in the folder. Packs are spread over 256 folders, as restic itself does on a disk. */
export function fileOf(root: string, target: Target & { at: 'config' | 'file' }): string {
  const repository = `${root}/${target.repository}`
  if (target.at === 'config') return `${repository}/config`
  const spread = target.kind === 'data' ? `data/${target.name.slice(0, 2)}` : target.kind
  return `${repository}/${spread}/${target.name}`
}
