import { describe, expect, test } from 'bun:test'
import { partsOf, Registry } from '../../../agent/drivers/container/registry/registry.ts'
import { Relay } from '../../../agent/drivers/container/registry/relay.ts'
import { note } from '../tools.ts'
import { isThere, type Oddities, openRegistry } from './registry.ts'

const right = { username: 'someone', password: 'right' }

describe.skipIf(note(isThere() ? undefined : 'busybox-static not installed', 'registries of images'))(
  'a registry',
  () => {
    async function opened(odd: Oddities = {}, login?: typeof right) {
      const served = await openRegistry(odd)
      const { registry: host, name, digest } = partsOf(served.reference)
      const registry = new Registry(host, name, login, [served.host])
      return { ...served, registry, manifest: () => registry.manifest(digest) }
    }
    /** Fetches all of the image as an engine does. */
    async function relayed(odd: Oddities = {}) {
      const { registry, manifest } = await opened(odd)
      const found = await manifest()
      const percents: number[] = []
      const relay = new Relay(registry, found, (percent) => percents.push(percent))
      const [host, name] = relay.reference.split(/[/@]/)
      const get = (path: string) => fetch(`http://${host}/v2/${name}${path}`)
      return { relay, found, percents, get, host }
    }

    test('tells the image for this processor, and the sum of its layers', async () => {
      const { manifest, layersBytes } = await opened()
      expect(await manifest()).toMatchObject({ layersBytes, type: 'application/vnd.oci.image.manifest.v1+json' })
    })
    test.each(['basic', 'bearer'] as const)('takes a login of the kind %s, and refuses a wrong one', async (wants) => {
      const login = await opened({ wants }, right)
      expect((await login.manifest()).blobs).toHaveLength(2)
      const refused = { code: 'registry_refused' }
      expect((await opened({ wants }, { ...right, password: 'wrong' })).manifest()).rejects.toMatchObject(refused)
      expect((await opened({ wants })).manifest()).rejects.toMatchObject(refused)
    })
    test('that answers something else than was asked for is not believed', async () => {
      expect((await opened({ lies: true })).manifest()).rejects.toMatchObject({ code: 'checksum_mismatch' })
    })
    test('without the image says so', async () => {
      const { registry } = await opened()
      expect(registry.manifest(`sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({ code: 'no_image' })
    })
    test.each(['http://127.0.0.1:9/', 'https://127.0.0.1:9/', 'https://169.254.169.254/', 'https://[::1]/'])(
      'leads nowhere else on this network: %s',
      async (leadsTo) => {
        const { registry, manifest } = await opened({ leadsTo })
        const [blob] = (await manifest()).blobs
        const fetched = registry.blob(blob!.digest, AbortSignal.timeout(5000))
        expect(fetched).rejects.toMatchObject({ code: 'download_refused' })
      },
    )
    test('on this network is refused unless the operator names it', async () => {
      const { host } = await opened()
      const stranger = new Registry(host, 'tests/base', undefined, [])
      expect(stranger.manifest(`sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({ code: 'download_refused' })
    })

    describe('is relayed to the engine', () => {
      test('with the bytes of its manifest and no others, and tells how far it is', async () => {
        const { relay, found, percents, get } = await relayed()
        expect(await (await get(`/manifests/${found.digest}`)).text()).toBe(found.text)
        for (const { digest, size } of found.blobs)
          expect((await (await get(`/blobs/${digest}`)).arrayBuffer()).byteLength).toBe(size)
        expect(percents.at(-1)).toBe(100)
        expect((await get(`/blobs/sha256:${'0'.repeat(64)}`)).status).toBe(404)
        relay.close()
      })
      test('under a name that nobody else on the host knows', async () => {
        const { relay, found, host } = await relayed()
        expect((await fetch(`http://${host}/v2/tests/base/manifests/${found.digest}`)).status).toBe(404)
        relay.close()
      })
      test('until it sends more than its manifest names', async () => {
        const { relay, found, get } = await relayed({ overfull: true })
        await get(`/blobs/${found.blobs[1]!.digest}`)
          .then((response) => response.arrayBuffer())
          .catch(() => {})
        expect(relay.failure).toMatchObject({ code: 'image_too_large' })
        relay.close()
      })
    })
  },
)
