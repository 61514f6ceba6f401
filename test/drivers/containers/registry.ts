// A registry of one image on loopback, with the oddities that tests want. The image is Debian's static busybox.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { temporary } from '../../agent/temporary.ts'
import { closedAtEnd } from '../../support/opened.ts'

export const BUSYBOX = '/bin/busybox'
const APPLETS = [
  'sh',
  'sleep',
  'cat',
  'echo',
  'ls',
  'id',
  'mount',
  'mknod',
  'unshare',
  'kill',
  'head',
  'tail',
  'dd',
  'grep',
  'wget',
  'touch',
  'mkdir',
  'stat',
  'nc',
  'ip',
  'ps',
  'true',
  'env',
  'hostname',
]
const LOGIN = `Basic ${Buffer.from('someone:right').toString('base64')}`
const TOKEN = 'Bearer of-good-tidings'

export type Oddities = {
  /** The kind of login that it wants of `someone`, whose password is `right`. */
  wants?: 'basic' | 'bearer'
  /** Sends more bytes of each blob than the manifest names. */
  overfull?: boolean
  /** Leads to this address for the blobs. */
  leadsTo?: string
  /** Changes a letter of the manifest. */
  lies?: boolean
  command?: string[]
}

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A tar file of busybox with its applets, made once for each test file. */
let layer: Promise<Uint8Array> | undefined
function busyboxLayer(): Promise<Uint8Array> {
  layer ??= (async () => {
    const root = temporary('busybox')
    for (const dir of ['bin', 'etc', 'tmp', 'root']) mkdirSync(join(root, dir))
    copyFileSync(BUSYBOX, join(root, 'bin/busybox'))
    for (const applet of APPLETS) symlinkSync('busybox', join(root, 'bin', applet))
    await Bun.write(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nother:x:1000:1000::/tmp:/bin/sh\n')
    const child = Bun.spawn(['tar', '--owner=0', '--group=0', '--numeric-owner', '-cf', '-', '-C', root, '.'])
    return new Uint8Array(await new Response(child.stdout).arrayBuffer())
  })()
  return layer
}

/** Serves the image until the file's end. `reference` names it by its index, `asked` has the paths of all requests. */
export async function openRegistry(odd: Oddities = {}) {
  const tar = await busyboxLayer()
  const packed = gzipSync(tar)
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const config = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      config: { Cmd: odd.command ?? ['/bin/sleep', '600'], Env: ['PATH=/bin'] },
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    }),
  )
  const oci = 'application/vnd.oci.image'
  const blobOf = (mediaType: string, bytes: Uint8Array) => ({ mediaType, digest: digestOf(bytes), size: bytes.length })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${oci}.manifest.v1+json`,
      config: blobOf(`${oci}.config.v1+json`, config),
      layers: [blobOf(`${oci}.layer.v1.tar+gzip`, packed)],
    }),
  )
  const index = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${oci}.index.v1+json`,
      manifests: [
        { ...blobOf(`${oci}.manifest.v1+json`, config), platform: { os: 'windows', architecture } },
        { ...blobOf(`${oci}.manifest.v1+json`, manifest), platform: { os: 'linux', architecture } },
      ],
    }),
  )
  const manifests = new Map([index, manifest].map((bytes) => [digestOf(bytes), bytes]))
  const blobs = new Map([config, packed].map((bytes) => [digestOf(bytes), bytes]))
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, origin, searchParams } = new URL(request.url)
      asked.push(pathname)
      const authorization = request.headers.get('authorization')
      if (pathname === '/token') {
        const isRight = authorization === LOGIN && searchParams.get('scope') === 'repository:tests/base:pull'
        return isRight ? Response.json({ token: TOKEN.split(' ')[1] }) : new Response('', { status: 401 })
      }
      const challenge = odd.wants === 'basic' ? 'Basic realm="x"' : `Bearer realm="${origin}/token",service="tests"`
      if (odd.wants && authorization !== (odd.wants === 'basic' ? LOGIN : TOKEN))
        return new Response('', { status: 401, headers: { 'WWW-Authenticate': challenge } })
      const [, kind = '', digest = ''] = /^\/v2\/tests\/base\/(manifests|blobs)\/(.*)$/.exec(pathname) ?? []
      const found = (kind === 'manifests' ? manifests : blobs).get(digest)
      if (!found) return new Response('{}', { status: 404 })
      if (kind === 'manifests') return new Response(odd.lies ? found.toString().replace('2', '3') : found.toString())
      if (odd.leadsTo) return new Response('', { status: 307, headers: { Location: odd.leadsTo } })
      return new Response(new Uint8Array(odd.overfull ? Buffer.concat([found, Buffer.alloc(1 << 20)]) : found))
    },
  })
  closedAtEnd(() => void server.stop(true))
  const host = `127.0.0.1:${server.port}`
  return { host, reference: `${host}/tests/base@${digestOf(index)}`, asked, layersBytes: packed.length }
}

export const isThere = () => {
  try {
    return readFileSync(BUSYBOX).length > 0
  } catch {
    return false
  }
}
