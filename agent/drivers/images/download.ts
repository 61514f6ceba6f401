// Images from the network: downloaded once, checked by checksum and header (qcow2.ts), then stored. Until then the file
// has the suffix .part and `find` does not return it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { progress, say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import { readQcow2 } from '../../protocol/qcow2.ts'
import type { ImageSource } from '../../protocol/wire.ts'
import { toDisk } from '../storage/file.ts'
import type { Images, Source, StoredImage } from './images.ts'
import { getPublic, type Platform } from './public-only.ts'

const CAP_BYTES = 200e9
const SILENCE_MS = 60_000
/** Distributions redirect to mirrors; the checksum proves that the right file arrived. */
const MOST_REDIRECTS = 5

/** The controller's answer to a signed request for this path. Throws what says why there is none. */
export type FromController = (path: string, signal: AbortSignal) => Promise<Response>
type Note = { format: ImageSource['format']; checksum: string; virtualSizeBytes: number }

export class DownloadedImages implements Images {
  private going = new Map<string, { checksum: string; image: Promise<StoredImage> }>()

  constructor(
    private root: string,
    private fromController: FromController,
    private platform: Platform = {},
  ) {
    mkdirSync(root, { recursive: true, mode: 0o700 })
  }

  ensure(source: Source): Promise<StoredImage> {
    const going = this.going.get(source.id)
    if (going?.checksum === source.checksum) return going.image
    // One download of an image at a time: both would write the same file.
    const image: Promise<StoredImage> = Promise.resolve(going?.image)
      .catch(() => {})
      .then(() => this.bring(source))
      .finally(() => this.going.get(source.id)?.image === image && this.going.delete(source.id))
    this.going.set(source.id, { checksum: source.checksum, image })
    return image
  }

  async find(id: string): Promise<StoredImage | undefined> {
    const noted = this.noted(id)
    const path = noted && this.file(id, noted.format)
    return noted && path && existsSync(path) ? { id, path, ...noted } : undefined
  }

  async remove(id: string) {
    for (const format of ['qcow2', 'raw'] as const) {
      rmSync(this.file(id, format), { force: true })
      rmSync(`${this.file(id, format)}.part`, { force: true })
    }
    rmSync(this.note(id), { force: true })
  }

  private async bring(source: Source): Promise<StoredImage> {
    const here = await this.find(source.id)
    if (here?.checksum === source.checksum) return here
    const path = this.file(source.id, source.format)
    const part = `${path}.part`
    try {
      await this.download(source, part)
      const virtualSizeBytes = source.format === 'qcow2' ? (await readQcow2(part)).virtualSizeBytes : rawSize(part)
      const note: Note = { format: source.format, checksum: source.checksum, virtualSizeBytes }
      // Without a pause and in this order: `find` needs both, so a crash between leaves no image, and nobody meets a
      // moment without one.
      rmSync(this.note(source.id), { force: true })
      if (here && here.format !== source.format) rmSync(here.path, { force: true })
      renameSync(part, path)
      writeFileSync(this.note(source.id), JSON.stringify(note) + '\n')
      await toDisk(this.root)
      return { id: source.id, path, ...note }
    } catch (error) {
      rmSync(part, { force: true })
      throw error
    }
  }

  private async download(source: Source, part: string) {
    const silence = watchdog()
    try {
      await this.receive(source, await this.ask(source, silence.signal).catch(silence.rethrow), part, silence)
    } finally {
      silence.end()
    }
  }

  private async receive(source: Source, response: Response, part: string, silence: Watchdog) {
    const mostBytes = 'mostBytes' in source ? source.mostBytes : CAP_BYTES
    const total = Number(response.headers.get('content-length') ?? 0)
    if (total > mostBytes) throw tooLarge(mostBytes)
    say('info', `Downloading ${source.url}${total ? `, ${Math.ceil(total / 2 ** 20)} MiB` : ''}`)
    const [kind = '', wanted] = source.checksum.split(':')
    const hash = createHash(kind)
    const file = await open(part, 'w', 0o600)
    try {
      let bytes = 0
      for await (const chunk of chunksOf(response, silence)) {
        bytes += chunk.length
        if (bytes > mostBytes) throw tooLarge(mostBytes)
        hash.update(chunk)
        await file.writeFile(chunk)
        if (total) progress((bytes / total) * 100)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    const found = hash.digest('hex')
    if (found !== wanted)
      throw new Failure('checksum_mismatch', `the download has ${kind} ${found}, expected ${wanted}`)
  }

  private async ask({ url: from, publicOnly = false, refused = [] }: Source, signal: AbortSignal): Promise<Response> {
    if (from.startsWith('/')) return this.askController(from, signal)
    const platform = { ...this.platform, refused, ...(publicOnly && { allowed: [] }) }
    let url = from
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      mustBeSecure(url, publicOnly)
      const response = await getPublic(new URL(url), signal, platform)
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || !location) return answered(response, url)
      // Its connection would stay open until the download has ended.
      await response.body?.cancel()
      url = new URL(location, url).href
    }
    throw new Failure('download_failed', `${from} redirects more than ${MOST_REDIRECTS} times`)
  }

  /** The codes of the controller's interface are its own: here each of them means that there is no file. */
  private async askController(path: string, signal: AbortSignal): Promise<Response> {
    try {
      return await this.fromController(path, signal)
    } catch (cause) {
      throw new Failure('download_failed', 'the file could not be fetched from the controller', { cause })
    }
  }

  private noted(id: string): Note | undefined {
    const note = this.note(id)
    return existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as Note) : undefined
  }
  private file = (id: string, format: string) => join(this.root, `${id}.${format}`)
  private note = (id: string) => join(this.root, `${id}.json`)
}

function answered(response: Response, url: string): Response {
  if (response.status !== 200) throw new Failure('download_failed', `${url} answered ${response.status}`)
  return response
}

type Watchdog = ReturnType<typeof watchdog>

/** Aborts a download that receives nothing for a minute, and at its end whatever is still open of it. */
function watchdog() {
  const controller = new AbortController()
  let stoodStill = false
  const bark = () => {
    stoodStill = true
    controller.abort()
  }
  let timer = setTimeout(bark, SILENCE_MS)
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer)
      timer = setTimeout(bark, SILENCE_MS)
    },
    /** A body that was not read to its end, as that of a refusal, would keep its connection. */
    end() {
      clearTimeout(timer)
      controller.abort()
    },
    rethrow(cause: unknown): never {
      if (stoodStill) throw new Failure('download_failed', 'the download stood still for a minute', { cause })
      throw cause instanceof Failure ? cause : new Failure('download_failed', 'the download broke off', { cause })
    },
  }
}

async function* chunksOf(response: Response, silence: Watchdog): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      silence.heard()
      yield chunk
    }
  } catch (cause) {
    silence.rethrow(cause)
  } finally {
    silence.end()
  }
}

function mustBeSecure(url: string, publicOnly: boolean) {
  const { protocol } = URL.parse(url) ?? {}
  if (protocol === 'https:' || (!publicOnly && protocol === 'http:' && process.env['PANEL_AGENT_INSECURE'] === '1'))
    return
  throw new Failure('insecure_download', `${url} is not https`)
}

const tooLarge = (mostBytes: number) =>
  new Failure('image_too_large', `the file has more than ${Math.floor(mostBytes / 1e9)} GB`)

/** The size of a raw image's disk in bytes: the file's, rounded up to whole sectors. */
const rawSize = (path: string) => Math.ceil(Bun.file(path).size / 512) * 512
