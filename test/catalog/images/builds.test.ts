// An image of the catalogue keeps its id while its distribution publishes builds: a server of HTTP stands for the
// distribution, and the real download of the agent for two nodes.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { DownloadedImages } from '../../../agent/drivers/images/download.ts'
import { CHECKED_EVERY_MS, renewImages } from '../../../src/catalog/images/renew.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { type World, world } from '../../support/world/panel.ts'

const PATH = '/images/cloud/trixie/latest/'
const FILE = 'debian-13-genericcloud-amd64.qcow2'
const sha512 = (bytes: Uint8Array) => createHash('sha512').update(bytes).digest('hex')
/** Another disk of 1 GiB for each number. */
const build = (n: number, gib = 1) => Buffer.concat([emptyQcow2(gib * 2 ** 30), Buffer.alloc(512, n)])

/** The state of cloud.debian.org: its file, the file that its list names, and whether it can be reached. */
let published: { file: Buffer; listed: Buffer; away: boolean }
const publish = (file: Buffer, listed = file) => {
  published = { file, listed, away: false }
}
const answer = ({ pathname }: URL, range: string | undefined) => {
  if (published.away) return new Response('away', { status: 503 })
  if (pathname === `${PATH}SHA512SUMS`) return new Response(`${sha512(published.listed)}  ${FILE}\n`)
  if (pathname !== PATH + FILE) return new Response('no', { status: 404 })
  const { file } = published
  if (!range) return new Response(new Uint8Array(file))
  const part = file.subarray(0, Number(range.split('-')[1]) + 1)
  return new Response(new Uint8Array(part), {
    status: 206,
    headers: { 'Content-Range': `bytes 0-${part.length - 1}/${file.length}` },
  })
}

let p: World
let nodeB: string
let downloads: string[]
let afterDownload: () => void
beforeEach(async () => {
  publish(build(1))
  downloads = []
  afterDownload = () => {}
  p = await world({
    distributions: async (url, { headers }) => {
      const response = answer(url, headers?.['Range'])
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      }
    },
  })
  await p.admin('PATCH', `/admin/images/${p.image}`, { name: 'Imported' })
  nodeB = p.addNode(p.location, 'node-b').id
  p.attach(p.pool, nodeB)
  for (const [id, agent] of p.agents) agent.host.images = ownImages(id)
})
const ownImages = (id: string) => {
  mkdirSync(`${p.dir}/${id}/downloads`, { recursive: true })
  // The agents download by themselves.
  return new DownloadedImages(`${p.dir}/${id}/downloads`, () => fetch(''), {
    lookUp: async () => [{ address: '93.184.216.34' }],
    send: async (url) => {
      downloads.push(url.pathname)
      const response = answer(url, undefined)
      afterDownload()
      return response
    },
  })
}
afterEach(() => {
  p.close()
})

const add = async () => (await p.admin('POST', '/admin/images', { catalogueId: 'debian-13' })) as any
let hosts = 0
async function order(imageId: string, nodeId: string) {
  const { serverId, jobId } = await p.admin('POST', '/admin/servers', {
    ...p.order,
    hostname: `build-${++hosts}`,
    imageId,
    nodeId,
  })
  await p.settle()
  return { job: p.job(jobId), server: await p.admin('GET', `/servers/${serverId}`) }
}
const imageOf = async (id: string) =>
  (await p.admin('GET', '/admin/images')).data.find((each: any) => each.id === id) as any
const builds = async (id: string) => (await p.admin('GET', `/admin/images/${id}/builds`)).builds as any[]
const attention = async () =>
  (await p.admin('GET', '/admin/overview')).attention.map(({ what }: any) => what) as string[]
const renew = () => renewImages({ db: p.db, app: p.controller.app })

describe('a distribution publishes a new build', () => {
  test('and a node without the one before installs it in the same job, under the same image', async () => {
    const image = await add()
    const first = await order(image.id, p.node.id)
    expect(first.job.state).toBe('succeeded')
    publish(build(2))
    const second = await order(image.id, nodeB)
    expect([second.job.state, second.job.errorMessage]).toEqual(['succeeded', null])
    expect(await imageOf(image.id)).toMatchObject({
      checksum: `sha512:${sha512(build(2))}`,
      sizeBytes: build(2).length,
      checkFailure: null,
    })
    expect([first, second].map(({ server }) => server.imageChecksum)).toEqual([
      `sha512:${sha512(build(1))}`,
      `sha512:${sha512(build(2))}`,
    ])
    expect(await builds(image.id)).toMatchObject([
      { checksum: `sha512:${sha512(build(2))}`, current: true, servers: 1 },
      { checksum: `sha512:${sha512(build(1))}`, current: false, servers: 1 },
    ])
    expect(p.auditLines().filter(({ operation }) => operation === 'images.refresh')).toMatchObject([
      { actorName: 'System', target: image.id },
    ])
  })
  test('and a node that has the one before fetches the new one at its next installation', async () => {
    const image = await add()
    await order(image.id, p.node.id)
    publish(build(2))
    await p.admin('POST', `/admin/images/${image.id}/actions/refresh`)
    const { job, server } = await order(image.id, p.node.id)
    expect([job.state, server.imageChecksum]).toEqual(['succeeded', `sha512:${sha512(build(2))}`])
    expect(downloads).toHaveLength(2)
    await order(image.id, p.node.id)
    expect(downloads).toHaveLength(2)
  })
  test('and the clock finds it, every six hours', async () => {
    const image = await add()
    publish(build(2, 5))
    await renew()
    expect(await imageOf(image.id)).toMatchObject({ checksum: `sha512:${sha512(build(1))}` })
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect(await imageOf(image.id)).toMatchObject({ checksum: `sha512:${sha512(build(2, 5))}`, minDiskGb: 5 })
    const before = p.fingerprint()
    await renew()
    expect(p.fingerprint()).toBe(before)
  })
  test('and a controller that dies after it has found it installs it when it is back', async () => {
    const image = await add()
    publish(build(2))
    let died = 0
    p.arm({
      failpoints: (at) => {
        if (at === 'install/image:remedied' && died++ === 0) throw new InjectedCrash()
      },
    })
    const { jobId } = await p.admin('POST', '/admin/servers', { ...p.order, imageId: image.id, nodeId: nodeB })
    publish(build(3))
    await p.settle()
    expect([died, p.job(jobId).state]).toEqual([1, 'running'])
    await p.crash()
    await p.settle()
    expect([p.job(jobId).state, p.job(jobId).errorMessage]).toEqual(['succeeded', null])
  })
  test('whose disk cannot be used: the one before stays, and the page says why', async () => {
    const image = await add()
    publish(emptyQcow2(2 ** 30, (head) => head.writeBigUInt64BE(1024n, 8)))
    const refused = await p.call(p.owner, 'POST', `/admin/images/${image.id}/actions/refresh`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'source_unreachable'])
    expect(refused.body.error.message).toContain('names a backing file')
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect(await imageOf(image.id)).toMatchObject({
      checksum: `sha512:${sha512(build(1))}`,
      checkFailure: expect.stringContaining('names a backing file'),
    })
  })
})

describe('a distribution’s server', () => {
  test('whose file is not the one of its list fails the job with the reason, and nothing is installed', async () => {
    const image = await add()
    publish(build(9), build(1))
    const { job, server } = await order(image.id, nodeB)
    expect(job).toMatchObject({ state: 'failed', errorCode: 'checksum_mismatch' })
    expect(job.errorMessage).toContain('cloud.debian.org sent a file of Debian 13 that does not have the checksum')
    expect(server).toMatchObject({ status: 'failed', imageChecksum: null })
    expect(await builds(image.id)).toHaveLength(1)
    expect(downloads).toHaveLength(1)
  })
  test('whose new file is not the one of its new list fails, too, after a second look', async () => {
    const image = await add()
    publish(build(9), build(2))
    const { job } = await order(image.id, nodeB)
    expect(job).toMatchObject({ state: 'failed', errorCode: 'checksum_mismatch' })
    expect(downloads).toHaveLength(2)
  })
  test('that is away when the file has changed fails the job with both reasons', async () => {
    const image = await add()
    p.arm({ failpoints: (at) => void (at === 'install/image:before' && publish(build(9), build(1))) })
    afterDownload = () => {
      published.away = true
    }
    const { job } = await order(image.id, nodeB)
    expect(job).toMatchObject({ state: 'failed', errorCode: 'checksum_mismatch' })
    expect(job.errorMessage).toMatch(/has changed, and its current build is not known: .*cloud\.debian\.org/)
  })
  test('that is away for two days is told of, and no longer when it is back', async () => {
    const image = await add()
    published.away = true
    for (let hours = 0; hours <= 42; hours += 7) {
      p.turnClock(7 * hour)
      await renew()
    }
    expect(await attention()).not.toContain('New builds of Debian 13 are not found.')
    p.turnClock(7 * hour)
    await renew()
    expect(await attention()).toContain('New builds of Debian 13 are not found.')
    expect((await imageOf(image.id)).checkFailure).toContain('cloud.debian.org')
    published.away = false
    await p.admin('POST', `/admin/images/${image.id}/actions/refresh`)
    expect(await attention()).not.toContain('New builds of Debian 13 are not found.')
    expect((await imageOf(image.id)).checkFailure).toBeNull()
  })
})

test('an imported image has one build, and no distribution to ask', async () => {
  const { status, body } = await p.call(p.owner, 'POST', `/admin/images/${p.image}/actions/refresh`)
  expect([status, body.error.code]).toEqual([409, 'not_from_catalogue'])
})
