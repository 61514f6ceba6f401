// A release on its way to an agent: of an honest controller, and of one that somebody stole.
import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { Failure } from '../../../agent/failure.ts'
import { makePatch } from '../../../agent/protocol/release/patch.ts'
import { compressed, file, manifestOf, next, offerOf, patch, programOf, second, stranger, updating } from './hostile.ts'

const asJson = (value: unknown) => () => Response.json(value)
const bytes = (content: Uint8Array) => () => new Response(content as BodyInit)
/** Files from any byte on, as the real controller sends them. */
const ranged = (content: Uint8Array) => (request: Request) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get('range') ?? '')?.[1] ?? Number.NaN)
  if (Number.isNaN(from)) return new Response(content as BodyInit)
  const headers = { 'Content-Range': `bytes ${from}-${content.length - 1}/${content.length}` }
  return new Response(content.subarray(from) as BodyInit, { status: 206, headers })
}

describe('a release of the controller', () => {
  test('is fetched as a patch, and the engine gets the program of the manifest', async () => {
    const one = updating({ offer: asJson(offerOf(manifestOf(), { patchBytes: patch.length })), patch: bytes(patch) })
    expect(await one.look()).toMatchObject({ state: 'switching', version: '1.21.0' })
    const { sha256 } = manifestOf().programs[0]!
    expect(one.started).toMatchObject([{ version: '1.21.0', sha256, sha256Found: sha256, trialSeconds: 100 }])
    expect(one.told).toEqual(['fetching', 'switching'])
    expect(patch.length).toBeLessThan(next.length / 100)
    expect(one.left()).toEqual(['before.json'])
  })
  test('is fetched whole where there is no patch, or one that leads elsewhere', async () => {
    const forged = await makePatch(programOf('other'), next)
    for (const answer of [undefined, bytes(forged), bytes(patch.subarray(0, -20)), bytes(gzipSync(next))]) {
      const offer = asJson(offerOf(manifestOf(), { patchBytes: 5_000 }))
      const one = updating({ offer, file: ranged(compressed), ...(answer && { patch: answer }) })
      expect(await one.look()).toMatchObject({ state: 'switching' })
      expect(one.started[0]!.sha256Found).toBe(manifestOf().programs[0]!.sha256)
      expect(one.left()).toEqual(['before.json'])
    }
  })
  test('goes on where its download broke off', async () => {
    let broken = 0
    const whole = ranged(compressed)
    const one = updating({
      offer: asJson(offerOf(manifestOf())),
      file: async (request) => {
        const answer = await whole(request).arrayBuffer()
        if (broken++ >= 2) return whole(request)
        const half = new Uint8Array(answer).subarray(0, answer.byteLength / 2)
        const status = request.headers.has('range') ? 206 : 200
        const { headers } = whole(request)
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(half)
            await Bun.sleep(50)
            controller.error(new Error('broken off on purpose'))
          },
        })
        return new Response(body, { status, headers })
      },
    })
    expect(await one.look()).toMatchObject({ state: 'switching' })
    const ranges = one.requests.filter(({ path }) => path.endsWith(file)).map(({ range }) => range)
    expect(ranges.length).toBe(3)
    expect(ranges[0]).toBeNull()
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]/.test(range ?? ''))).toBe(true)
  })
  test('goes on with what a killed agent left of it, and what it left of others is removed', async () => {
    const { sha256 } = manifestOf().programs[0]!
    const one = updating({ offer: asJson(offerOf(manifestOf())), file: ranged(compressed) })
    one.leave(`${sha256.slice(0, 16)}.gz`, compressed.subarray(0, 10_000))
    one.leave('0123456789abcdef.gz', compressed)
    expect(await one.look()).toMatchObject({ state: 'switching' })
    expect(one.requests.at(-1)!.range).toBe('bytes=10000-')
    expect(one.started[0]!.sha256Found).toBe(sha256)
    expect(one.left()).toEqual(['before.json'])
  })
  test('is not asked for by an agent that is updated otherwise, and nothing follows from none', async () => {
    const none = updating({ offer: () => new Response(null, { status: 204 }) })
    expect(await none.look()).toBeUndefined()
    const older = updating({ offer: () => new Response('not found', { status: 404 }) })
    expect(await older.look()).toBeUndefined()
    expect([...none.started, ...older.started]).toEqual([])
  })
  test('is not tried again after the agent went back from it, unless the controller says so', async () => {
    const back = { state: 'went_back', version: '1.21.0', at: 0, code: 'not_accepted', reason: 'x' } as const
    const one = updating({ offer: asJson(offerOf(manifestOf())), file: bytes(compressed) }, back)
    await one.look()
    expect(one.started).toEqual([])
    await one.look({ wanted: true })
    expect(one.started.length).toBe(1)
  })
  test('whose switch did not begin is not fetched again and again, unless the controller says so', async () => {
    const start = async () => {
      throw new Failure('release_not_started', 'nobody watches')
    }
    const one = updating(
      { offer: asJson(offerOf(manifestOf())), file: ranged(compressed) },
      { state: 'none' },
      { start },
    )
    const fetched = () => one.requests.filter(({ path }) => path.endsWith(file)).length
    expect(await one.look()).toMatchObject({ state: 'failed', code: 'release_not_started' })
    // As at each connection.
    expect(await one.look()).toMatchObject({ state: 'failed', code: 'release_not_started' })
    expect(fetched()).toBe(1)
    await one.look({ wanted: true })
    expect(fetched()).toBe(2)
  })
  test('is not on trial for longer than two minutes, whatever the controller says', async () => {
    const offer = asJson({ ...offerOf(manifestOf()), trialSeconds: 3600 })
    const one = updating({ offer, file: bytes(compressed) })
    await one.look()
    expect(one.started).toMatchObject([{ trialSeconds: 105 }])
  })
})

describe('a controller that somebody stole', () => {
  const good = bytes(compressed)
  type Answers = Parameters<typeof updating>[0]
  const cases: Record<string, { answers: Answers; code: string; state?: 'failed' }> = {
    'without a signature': {
      answers: { offer: asJson({ ...offerOf(manifestOf()), signature: undefined }), file: good },
      code: 'release_not_signed',
    },
    'signed by a stranger': {
      answers: { offer: asJson(offerOf(manifestOf({}, stranger), { by: stranger })), file: good },
      code: 'release_key_not_trusted',
    },
    'signed by a stranger in the name of a trusted key': {
      answers: { offer: asJson(offerOf(manifestOf(), { by: stranger })), file: good },
      code: 'release_signature_wrong',
    },
    'signed by the other key than it names': {
      answers: { offer: asJson(offerOf(manifestOf(), { by: second })), file: good },
      code: 'release_signature_wrong',
    },
    'with an altered manifest': {
      answers: {
        offer: () => {
          const offer = offerOf(manifestOf())
          return Response.json({ ...offer, manifest: offer.manifest.replace('1.21.0', '1.22.0') })
        },
        file: good,
      },
      code: 'release_signature_wrong',
    },
    'replayed, of an older version': {
      answers: { offer: asJson(offerOf(manifestOf({ version: '1.19.0' }))), file: good },
      code: 'release_too_old',
    },
    'of the version that runs': {
      answers: { offer: asJson(offerOf(manifestOf({ version: '1.20.0' }))), file: good },
      code: 'release_too_old',
    },
    'that does not follow this version': {
      answers: { offer: asJson(offerOf(manifestOf({ minimumVersion: '1.20.5' }))), file: good },
      code: 'release_too_new',
    },
    'for another machine': {
      answers: { offer: asJson(offerOf(manifestOf({ program: { platform: 'linux-riscv64' } }))), file: good },
      code: 'release_wrong_platform',
    },
    'whose manifest points elsewhere': {
      answers: { offer: asJson(offerOf(manifestOf({ program: { file: '../../etc/passwd' } }))), file: good },
      code: 'release_invalid',
    },
    'whose program has another size': {
      answers: { offer: asJson(offerOf(manifestOf({ program: { sizeBytes: next.length - 1 } }))), file: good },
      code: 'release_checksum_differs',
    },
    'whose program is another one': {
      answers: { offer: asJson(offerOf(manifestOf())), file: bytes(gzipSync(programOf('other'))) },
      code: 'release_checksum_differs',
    },
    'whose program is cut short': {
      answers: { offer: asJson(offerOf(manifestOf())), file: bytes(compressed.subarray(0, 100_000)) },
      code: 'release_checksum_differs',
    },
    'whose program unpacks without end': {
      answers: {
        offer: asJson(offerOf(manifestOf({ program: { sizeBytes: 1_000_000 } }))),
        file: bytes(gzipSync(Buffer.alloc(50_000_000))),
      },
      code: 'release_checksum_differs',
    },
    'whose program comes without end': {
      answers: {
        offer: asJson(offerOf(manifestOf())),
        file: () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                await Bun.sleep(1)
                controller.enqueue(programOf('endless', 64_000))
              },
            }),
          ),
      },
      code: 'release_checksum_differs',
    },
    'whose program drips': {
      answers: {
        offer: asJson(offerOf(manifestOf())),
        file: () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                await Bun.sleep(20)
                controller.enqueue(Buffer.from('.'))
              },
            }),
          ),
      },
      code: 'release_not_fetched',
      state: 'failed',
    },
    'whose program is a redirect to somewhere else': {
      answers: {
        offer: asJson(offerOf(manifestOf())),
        file: () => Response.redirect('http://127.0.0.1:1/berth.gz', 302),
      },
      code: 'release_not_fetched',
      state: 'failed',
    },
    'that is no offer': { answers: { offer: asJson({ manifest: 7 }), file: good }, code: 'release_invalid' },
    'that is an offer without end': {
      answers: { offer: () => new Response(' '.repeat(1_000_000)), file: good },
      code: 'release_invalid',
    },
  }
  for (const [what, { answers, code, state = 'refused' }] of Object.entries(cases))
    test(`with a release ${what} changes nothing, and facts say ${code}`, async () => {
      const one = updating(answers)
      expect(await one.look()).toMatchObject({ state, code, reason: expect.stringMatching(/./) })
      expect(one.started).toEqual([])
      expect(one.left()).toEqual([])
    })
  test('cannot accept a program that is not on trial', () => {
    const one = updating({ offer: asJson(offerOf(manifestOf())) })
    one.updates.accept('1.20.0')
    expect(one.updates.facts()).toMatchObject({ agentVersion: '1.20.0', updatedBy: 'itself' })
    expect(one.updates.facts().update).toBeUndefined()
  })
  test('is followed again once it is honest', async () => {
    let offer = asJson(offerOf(manifestOf({}, stranger), { by: stranger }))
    const one = updating({ offer: () => offer(), file: bytes(compressed) })
    expect(await one.look()).toMatchObject({ state: 'refused' })
    offer = asJson(offerOf(manifestOf({}, second), { by: second }))
    expect(await one.look()).toMatchObject({ state: 'switching' })
  })
})
