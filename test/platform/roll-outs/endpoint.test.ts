// The release as a node fetches it, over a real port and with its own key.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { Value } from 'typebox/value'
import { ReleaseOffer } from '../../../agent/protocol/release/offer.ts'
import { applyPatch } from '../../../agent/protocol/release/patch.ts'
import { agentHeaders, agentPaths, PROTOCOL, signedText } from '../../../agent/protocol/wire.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { BEFORE, type Fleet, fleet } from './lab.ts'

let p: Fleet
let url: string
let server: ReturnType<typeof Bun.serve>
const keys = new Map<string, KeyObject>()
beforeAll(async () => {
  p = await fleet(2)
  for (const name of ['n01', 'n02']) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    keys.set(name, privateKey)
    const key = publicKey.export({ format: 'jwk' }).x!
    p.db.$client.run('UPDATE nodes SET public_key = ? WHERE id = ?', [key, p.idOf(name)])
  }
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: p.controller.fetch as any })
  url = `http://127.0.0.1:${server.port}`
  await p.start()
  await p.turn()
})
afterAll(async () => {
  await server.stop(true)
  p.close()
})

/** The proof of a node, of a challenge of this purpose and protocol. */
async function proof(name: string, { purpose, protocol }: { purpose?: 'release'; protocol: number }) {
  const nodeId = p.idOf(name)
  const body = JSON.stringify({ nodeId, protocol, ...(purpose && { purpose }) })
  const challenge = await fetch(url + agentPaths.challenge, { method: 'POST', body })
  if (!challenge.ok) return challenge.status
  const { nonce } = (await challenge.json()) as { nonce: string }
  const signature = sign(null, Buffer.from(signedText(nodeId, nonce)), keys.get(name)!).toString('base64url')
  return { [agentHeaders.node]: nodeId, [agentHeaders.nonce]: nonce, [agentHeaders.signature]: signature }
}
async function get(name: string, path: string, headers: Record<string, string> = {}) {
  const proved = await proof(name, { purpose: 'release', protocol: PROTOCOL + 1 })
  return fetch(`${url}${agentPaths.release}${path}`, { headers: { ...(proved as object), ...headers } })
}
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('a node that is updated gets the manifest and the program, from any byte on; others get nothing', async () => {
  const about = `?platform=${process.platform}-${process.arch}&version=0.0.9&from=${'0'.repeat(64)}`
  expect((await get('n02', about)).status).toBe(204)
  const offer = await (await get('n01', about)).json()
  expect(Value.Check(ReleaseOffer, offer)).toBe(true)
  const { manifest, signature, trialSeconds, patch } = offer as ReleaseOffer
  expect([Buffer.from(signature!, 'base64').length, trialSeconds, patch]).toEqual([64, 105, undefined])
  const [program] = JSON.parse(manifest).programs
  const file = await get('n01', `/file/${program.file}?version=${VERSION}`)
  const packed = await file.bytes()
  expect(file.status).toBe(200)
  expect(sha256(Bun.gunzipSync(packed as never))).toBe(program.sha256)
  const rest = await get('n01', `/file/${program.file}`, { Range: `bytes=${packed.length - 1000}-` })
  expect([rest.status, rest.headers.get('Content-Range')]).toEqual([
    206,
    `bytes ${packed.length - 1000}-${packed.length - 1}/${packed.length}`,
  ])
  expect(sha256(await rest.bytes())).toBe(sha256(packed.subarray(-1000)))
  await p.turn()
  expect((await p.admin('GET', '/admin/roll-outs')).data[0].state).toBe('running')
  const { id } = (await p.admin('GET', '/admin/roll-outs')).data[0]
  expect((await p.shown(id)).members[0].sentBytes).toBe(packed.length + 1000)
  for (const path of [`/file/${program.file}.sig`, '/file/..%2f..%2fberth.db', '/file/manifest.json', '/other'])
    expect((await get('n01', path)).status).toBe(404)
  expect((await get('n02', `/file/${program.file}`)).status).toBe(404)
})

test('a challenge for releases opens nothing else, and another protocol is refused everywhere else', async () => {
  expect(await proof('n01', { protocol: PROTOCOL + 1 })).toBe(426)
  const forReleases = await proof('n01', { purpose: 'release', protocol: PROTOCOL })
  const image = await fetch(`${url}${agentPaths.images}/img_none`, {
    headers: { ...(forReleases as object), [agentHeaders.protocol]: String(PROTOCOL) },
  })
  expect([image.status, ((await image.json()) as any).error.code]).toEqual([409, 'challenge_expired'])
  const forOthers = await proof('n01', { protocol: PROTOCOL })
  const offer = await fetch(`${url}${agentPaths.release}`, { headers: forOthers as never })
  expect([offer.status, ((await offer.json()) as any).error.code]).toEqual([409, 'challenge_expired'])
  expect((await fetch(url + agentPaths.release)).status).toBe(401)
})

test('a node whose former program the controller has gets a patch, which makes the new one', async () => {
  p.releaseBefore()
  const { releases } = p.controller.app
  const [to] = releases.signed(VERSION)!.manifest.programs
  const [from] = releases.signed(BEFORE)!.manifest.programs
  const about = `?platform=${to!.platform}&version=${BEFORE}&from=${from!.sha256}`
  const { patch } = (await (await get('n01', about)).json()) as ReleaseOffer
  expect(patch!.sizeBytes).toBeLessThan(1000)
  const release = releases.open(BEFORE)!
  const before = Bun.gunzipSync((await new Response(release.read(from!.file)).bytes()) as never)
  release.close()
  const sent = await get('n01', `/patch?to=${to!.sha256}&from=${from!.sha256}`)
  const read = (offset: number, length: number) => before.subarray(offset, offset + length)
  const made = await Array.fromAsync(applyPatch(sent.body as never, { ...from!, read }, to!))
  expect(sha256(Buffer.concat(made))).toBe(to!.sha256)
  expect((await get('n01', `/patch?to=${to!.sha256}&from=${'0'.repeat(64)}`)).status).toBe(404)
  expect((await get('n02', `/patch?to=${to!.sha256}&from=${from!.sha256}`)).status).toBe(404)
})
