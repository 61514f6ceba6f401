// restic's REST protocol in front of a folder, append-only: a client adds backups and reads its own, and neither a
// stolen node nor a stolen panel can change or remove one.
import { log, plainPath } from '../src/kernel/log.ts'
import { Logins } from './logins.ts'
import { fileOf, type Target, targetOf } from './paths.ts'
import { mostRepositoriesOf, Quotas, type Share } from './quotas.ts'
import {
  countRepositories,
  createRepository,
  type FileTarget,
  filesOf,
  hasConfig,
  isRepository,
  missingFolders,
  removeLock,
  sizeOf,
  Upload,
} from './repository.ts'

export type Limits = {
  /** A connection on which nothing moves is closed. */
  idleSeconds: number
  /** An upload has this time, and a second more for each `leastBytesPerSecond` that have come. */
  uploadSeconds: number
  leastBytesPerSecond: number
  uploads: number
  uploadsPerLogin: number
  /** A login that seems to have used its quota is measured again after this time at the earliest. */
  remeasureMs: number
}
const usual: Limits = {
  idleSeconds: 60,
  uploadSeconds: 60,
  leastBytesPerSecond: 4096,
  uploads: 128,
  uploadsPerLogin: 32,
  remeasureMs: 10_000,
}

const MIB = 1024 ** 2
/** restic packs have at most 128 MiB and a blob more; its index files are a tenth of that. */
const MOST_BYTES = {
  data: 256 * MIB,
  index: 256 * MIB,
  snapshots: 16 * MIB,
  keys: MIB,
  locks: MIB,
  config: MIB,
} as const

const LIST_V2 = 'application/vnd.x.restic.rest.v2'

const refusal = (status: number, words: string, headers: Record<string, string> = {}) =>
  new Response(`${words}\n`, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers } })

/** Ends the connection too: the rest of a body that nobody reads does not become the next request. */
const refusedUpload = (status: number, words: string, headers: Record<string, string> = {}) =>
  refusal(status, words, { ...headers, Connection: 'close' })

const notFound = () => refusal(404, 'There is no such file.')
const noSuchPath = () => refusal(404, 'This path is not one of the protocol.')

export type BackupServerOptions = {
  root: string
  hostname: string
  port: number
  tls?: { cert: string; key: string } | undefined
  limits?: Partial<Limits>
}

/** Listens until it is stopped. */
export function backupServer({ root, hostname, port, tls, limits: given }: BackupServerOptions) {
  const limits = { ...usual, ...given }
  const uploading = new Map<string, number>()
  const quotas = new Quotas(root, limits.remeasureMs)
  const logins = new Logins(root)
  const creating = new Map<string, Promise<unknown>>()

  async function answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const folder = logins.from(request.headers.get('Authorization'))
    if (folder === undefined)
      return refusedUpload(401, 'Name and password of this server are needed.', {
        'WWW-Authenticate': 'Basic realm="backups"',
      })
    const target = targetOf(pathname)
    if (!target) return noSuchPath()
    // The same for a repository that exists and for one that does not.
    if (target.login !== folder) return refusedUpload(403, 'This login has no right to that repository.')
    return await (actions[request.method]?.(target, request, search) ??
      refusal(405, 'The protocol does not have this method.', { Allow: Object.keys(actions).join(', ') }))
  }

  type Action = (target: Target, request: Request, search: string) => Promise<Response> | Response
  const actions: Readonly<Record<string, Action>> = {
    GET: (target, request) => read(root, target, request),
    HEAD: (target, request) => read(root, target, request),
    async POST(target, request, search) {
      if (target.at === 'repository') {
        if (search !== '?create=true') return refusedUpload(400, 'POST here takes ?create=true.')
        return await inTurn(creating, target.login, () => create(root, target, quotas))
      }
      return target.at === 'folder' ? noSuchPath() : limited(target, request)
    },
    async DELETE(target) {
      if (target.at !== 'file' || target.kind !== 'locks')
        return refusal(403, 'This server is append-only: only locks can be removed.')
      return (await removeLock(root, { ...target, kind: 'locks' })) ? new Response(null, { status: 200 }) : notFound()
    },
  }

  async function limited(target: FileTarget, request: Request): Promise<Response> {
    const ofLogin = uploading.get(target.login) ?? 0
    const inAll = [...uploading.values()].reduce((sum, one) => sum + one, 0)
    if (ofLogin >= limits.uploadsPerLogin || inAll >= limits.uploads)
      return refusedUpload(503, 'Too many uploads run at once. Try again shortly.', { 'Retry-After': '2' })
    uploading.set(target.login, ofLogin + 1)
    try {
      return await store({ root, target, request, limits, quotas })
    } finally {
      const left = uploading.get(target.login)! - 1
      if (left) uploading.set(target.login, left)
      else uploading.delete(target.login)
    }
  }

  return Bun.serve({
    hostname,
    port,
    ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    idleTimeout: limits.idleSeconds,
    maxRequestBodySize: MOST_BYTES.data,
    async fetch(request) {
      try {
        return await answer(request)
      } catch (error) {
        return failed(error, request)
      }
    },
  })
}

/** A fault of this machine: the client hears that, and the journal the cause. */
function failed(error: unknown, request: Request): Response {
  const { code } = error as { code?: string }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  log.error(isFull ? 'the disk of the backups is full' : 'a request of a backup client failed', {
    method: request.method,
    path: plainPath(request.url),
    ...(isFull ? {} : { error }),
  })
  return isFull
    ? refusedUpload(507, 'The disk of the backup server is full.')
    : refusedUpload(500, 'The backup server failed; its journal has the cause.')
}

async function read(root: string, target: Target, request: Request): Promise<Response> {
  if (target.at === 'repository') return noSuchPath()
  if (target.at === 'folder') {
    const files = await filesOf(root, target.repository, target.kind)
    const isV2 = request.headers.get('Accept') === LIST_V2
    return new Response(JSON.stringify(isV2 ? files : files.map(({ name }) => name)), {
      headers: { 'Content-Type': isV2 ? LIST_V2 : 'application/vnd.x.restic.rest.v1' },
    })
  }
  const path = fileOf(root, target)
  const size = await sizeOf(path)
  if (size === undefined) return notFound()
  const headers = { 'Content-Type': 'application/octet-stream', 'Accept-Ranges': 'bytes' }
  if (request.method === 'HEAD') return new Response(null, { headers: { ...headers, 'Content-Length': String(size) } })
  const range = rangeOf(request.headers.get('Range'), size)
  if (range === 'outside')
    return refusal(416, 'The range lies outside of the file.', { 'Content-Range': `bytes */${size}` })
  if (!range) return new Response(Bun.file(path), { headers })
  return new Response(Bun.file(path).slice(range.from, range.to), {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${range.from}-${range.to - 1}/${size}` },
  })
}

/** One range of bytes, as RFC 9110 section 14 has it; another form is ignored, as that section allows. */
export function rangeOf(header: string | null, size: number): { from: number; to: number } | 'outside' | undefined {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header ?? '') ?? []
  if (first === undefined) return undefined
  const from = Number(first)
  const to = Math.min(size, last === undefined ? size : Number(last) + 1)
  if (last !== undefined && Number(last) < from) return undefined
  return from >= size ? 'outside' : { from, to }
}

/** Creations of one login follow each other: each counts the repositories that the ones before made. */
async function inTurn<T>(turns: Map<string, Promise<unknown>>, login: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(login) ?? Promise.resolve()).then(work, work)
  turns.set(login, turn)
  return await turn.finally(() => {
    if (turns.get(login) === turn) turns.delete(login)
  })
}

async function create(root: string, { login, repository }: Target, quotas: Quotas): Promise<Response> {
  const missing = await missingFolders(root, repository)
  const most = mostRepositoriesOf(root, login)
  if (missing.length && !(await isRepository(root, repository)) && (await countRepositories(root, login)) >= most)
    return refusedUpload(
      507,
      `This login has its ${most} repositories: insufficient storage. On the server, quota --repositories allows more.`,
    )
  const share = quotas.begin(login, false)
  let isStored = false
  try {
    if (!(await share.coverFolders(missing.length))) return overQuota()
    await createRepository(root, repository, missing)
    isStored = true
    return new Response(null, { status: 200 })
  } finally {
    share.end(isStored)
  }
}

type Storing = { root: string; target: FileTarget; request: Request; limits: Limits; quotas: Quotas }
async function store({ root, target, request, limits, quotas }: Storing): Promise<Response> {
  const kind = target.at === 'config' ? 'config' : target.kind
  const most = MOST_BYTES[kind]
  const said = Number(request.headers.get('Content-Length') ?? 0)
  if (said > most) return tooLarge()
  if ((await sizeOf(fileOf(root, target))) !== undefined) return exists()
  if (kind === 'keys' && (await hasConfig(root, target.repository)))
    return refusedUpload(403, 'The repository is set up: a key is added only on the machine of the backups.')
  const share = quotas.begin(target.login, kind === 'locks')
  let isStored = false
  try {
    if (!(await share.cover(said))) return overQuota()
    const outcome = await arrive({ root, target, request, most, limits, share })
    isStored = outcome === 'stored'
    return outcomes[outcome]()
  } finally {
    share.end(isStored)
  }
}

type Arriving = Omit<Storing, 'quotas'> & { most: number; share: Share }
async function arrive({ root, target, ...more }: Arriving): Promise<keyof typeof outcomes> {
  const upload = await Upload.begin(root)
  try {
    const arrived = await receive({ upload, ...more })
    return arrived === 'whole' ? await upload.finish(root, target) : arrived
  } finally {
    await upload.end()
  }
}

const overQuota = () =>
  refusedUpload(507, 'The quota of this login is used up: insufficient storage. Remove old backups on the server.')
const exists = () => refusedUpload(403, 'This server is append-only: the file exists already.')
const tooLarge = () => refusedUpload(413, 'The body is larger than a file of this kind can be.')
const outcomes = {
  stored: () => new Response(null, { status: 200 }),
  wrong: () => refusal(400, 'The SHA-256 of the bytes is not the name of the file.'),
  exists,
  missing: () => refusal(404, 'There is no such repository. Create it first.'),
  large: tooLarge,
  slow: () => refusedUpload(408, 'The upload was too slow.'),
  'over quota': overQuota,
} as const

/** Writes the body as it comes. A client that drips is given up, as one that is silent is by the idle limit. */
async function receive({
  upload,
  request,
  most,
  limits,
  share,
}: Omit<Arriving, 'root' | 'target'> & { upload: Upload }): Promise<'whole' | 'large' | 'slow' | 'over quota'> {
  const reader = request.body?.getReader()
  if (!reader) return 'whole'
  const began = performance.now()
  for (;;) {
    const left = limits.uploadSeconds + upload.bytes / limits.leastBytesPerSecond - (performance.now() - began) / 1000
    const next = await within(left * 1000, reader.read())
    if (next === undefined || left <= 0) {
      await reader.cancel().catch(() => {})
      return 'slow'
    }
    if (next.done) return 'whole'
    const isLarge = upload.bytes + next.value.length > most
    if (isLarge || !(await share.cover(upload.bytes + next.value.length))) {
      await reader.cancel().catch(() => {})
      return isLarge ? 'large' : 'over quota'
    }
    await upload.write(next.value)
  }
}

/** Undefined when it takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: Timer | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, ms))
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
