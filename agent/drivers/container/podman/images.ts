import { statfsSync } from 'node:fs'
import { progress, say } from '../../../controller-link/job-log.ts'
import { Failure } from '../../../failure.ts'
import type { ContainerImage } from '../../../protocol/gpu.ts'
import type { Login } from '../container.ts'
import { partsOf, Registry } from '../registry/registry.ts'
import { Relay } from '../registry/relay.ts'
import { PodmanError } from './api.ts'
import type { Engine } from './engine.ts'
import type { Records } from './records.ts'

/** Layers unpack to about twice their compressed size, and are on the disk in both forms for a moment. */
const SPACE_FACTOR = 3
/** The host itself needs it to go on. */
const SPARE_BYTES = 2e9
const PULL_MS = 4 * 3_600_000
const UNUSED_DAYS = 30
const DAY_MS = 86_400_000

type Options = { dir: string; localRegistries?: readonly string[]; controller?: string | undefined }

/** The images of the engine, each brought under its digest and named by the controller's id. */
export class PodmanImages {
  private going = new Map<string, Promise<{ sizeBytes: number }>>()

  constructor(
    private options: Options,
    private podman: Engine,
    private records: () => Records,
  ) {}

  ensure(image: ContainerImage, login: Login | undefined): Promise<{ sizeBytes: number }> {
    const joined = this.going.get(image.id) ?? this.bring(image, login).finally(() => this.going.delete(image.id))
    this.going.set(image.id, joined)
    return joined
  }

  async remove(id: string) {
    if (!this.podman.wasUsed()) return
    this.records().forgetImage(id)
    await this.sweep()
  }

  /** Deletes images that nothing names any more, and those that no container has needed for a month. */
  async sweep(now = Date.now()) {
    if (!this.podman.wasUsed()) return
    const records = this.records()
    const used = new Set(records.containers().map(({ image }) => image))
    for (const { id, image, usedAt } of records.images())
      if (!used.has(image) && now - usedAt > UNUSED_DAYS * DAY_MS) records.forgetImage(id)
    if (this.going.size) return
    const named = new Set([...used, ...records.images().map(({ image }) => image)])
    const api = await this.podman.api()
    for (const { Id } of await api.ask<{ Id: string }[]>('GET', '/images/json'))
      if (!named.has(Id)) await api.ask('DELETE', `/images/${Id}`).catch(unlessInUse)
  }

  private async bring({ id, reference, mostBytes }: ContainerImage, login: Login | undefined) {
    const here = this.records().image(id)
    const api = await this.podman.api()
    if (here?.reference === reference && (await api.find(`/images/${here.image}/json`))) return here
    const { registry: host, name, digest } = partsOf(reference)
    const { localRegistries = [], controller } = this.options
    const registry = new Registry(host, name, login, localRegistries, { controller })
    const manifest = await registry.manifest(digest)
    const { layersBytes: sizeBytes } = manifest
    if (sizeBytes > mostBytes)
      throw new Failure('image_too_large', `the image has ${sizeBytes} bytes, ${mostBytes} are allowed`)
    this.mustHaveSpace(sizeBytes)
    say('info', `Downloading ${reference}, ${Math.ceil(sizeBytes / 2 ** 20)} MiB`)
    const relay = new Relay(registry, manifest, progress)
    try {
      const image = await this.pull(relay)
      this.records().keepImage({ id, reference, image, sizeBytes, usedAt: Date.now() })
      return { sizeBytes }
    } finally {
      relay.close()
    }
  }

  private async pull(relay: Relay): Promise<string> {
    const api = await this.podman.api()
    const query = { reference: relay.reference, tlsVerify: false, policy: 'always' }
    const response = await api.send('POST', '/images/pull', { query, limitMs: PULL_MS })
    const lines = (await response.text()).split('\n').filter(Boolean)
    const answers = lines.map((line) => JSON.parse(line) as { id?: string; error?: string; cause?: string })
    const error = answers.find((answer) => answer.error || answer.cause)
    const id = answers.findLast((answer) => answer.id)?.id
    // The engine tries again by itself what has broken off.
    if (id && !error) return id
    if (relay.failure instanceof Failure) throw relay.failure
    if (relay.failure) throw new Failure('registry_unreachable', 'the download broke off', { cause: relay.failure })
    const words = error?.error ?? error?.cause ?? ''
    if (/no space left/i.test(words)) throw new Failure('pool_full', words)
    throw new Failure('tool_failed', `the engine could not store the image: ${words.slice(0, 1000)}`)
  }

  private mustHaveSpace(sizeBytes: number) {
    const { bavail, bsize } = statfsSync(this.options.dir)
    const freeBytes = bavail * bsize
    if (freeBytes < sizeBytes * SPACE_FACTOR + SPARE_BYTES)
      throw new Failure(
        'pool_full',
        `the image has ${sizeBytes} bytes, and ${freeBytes} are free for its unpacked form`,
      )
  }
}

/** 409: a container has it still; it goes with the next sweep. */
function unlessInUse(error: unknown) {
  if (!(error instanceof PodmanError && (error.status === 409 || error.status === 404))) throw error
}
