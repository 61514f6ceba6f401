import { describe, expect, test } from 'bun:test'
import { deviceIn } from '../../../../src/identity/auth/sessions/device.ts'
import { person, signIn, whoOf } from '../../../support/second-factor.ts'
import { panel } from '../../../support/world/panel.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const list = async (p: Awaited<ReturnType<typeof panel>>, who: object) =>
  (await p.call(who, 'GET', '/account/sessions')).body.data

describe('S19 the list of sessions', () => {
  test('shows the own ones with device and address, the current one marked, and never a value', async () => {
    using p = await panel()
    const cal = person(p)
    person(p)
    const other = whoOf(p, await signIn(p, cal.email, undefined, { 'User-Agent': firefox }))
    const data = await list(p, cal)
    expect(data.map((s: any) => [s.device, s.from, s.current])).toEqual([
      ['Firefox on Linux', '127.0.0.1', false],
      ['Unknown device', '127.0.0.1', true],
    ])
    expect(JSON.stringify(data)).not.toContain(other.cookie!)
  })
  test('leaves out those that are over', async () => {
    using p = await panel()
    const cal = person(p)
    p.turnClock(11 * 3_600_000)
    const late = whoOf(p, await signIn(p, cal.email))
    p.turnClock(2 * 3_600_000)
    expect(await list(p, late)).toHaveLength(1)
  })
  test('loses them by the clock, with sign-ins that were never completed; the time last seen stays known', async () => {
    using p = await panel()
    const [cal, ada, owner] = [person(p), person(p, 'staff'), p.staff()]
    const count = (table: string) =>
      p.db.$client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
    const left = () => ['sessions', 'sign_in_challenges', 'passkey_challenges', 'provider_sign_ins'].map(count)
    await signIn(p, ada.email)
    const seen = async () => (await p.admin('GET', '/admin/staff')).data.find((s: any) => s.id === ada.id).seenAt
    const before = await seen()
    expect(before).toBeString()
    await p.call(undefined, 'POST', '/sessions/passkey/actions/begin')
    p.db.$client.run(
      'INSERT INTO provider_sign_ins (token_hash, state_hash, issuer, encrypted, created_at, expires_at) ' +
        `VALUES ('a', 'b', 'c', 'd', 1, ${p.now() + 1000})`,
    )
    await p.deleteExpired()
    expect(left()).toEqual([4, 1, 1, 1])
    // An hour is all that staff have; customers have longer.
    p.turnClock(2 * 3_600_000)
    await p.deleteExpired()
    expect(left()).toEqual([1, 0, 0, 0])
    expect(await list(p, cal)).toHaveLength(1)
    expect(await seen()).toBe(before)
    p.turnClock(13 * 3_600_000)
    await p.deleteExpired()
    expect(left()).toEqual([0, 0, 0, 0])
    expect((await p.call(owner, 'GET', '/servers')).status).toBe(401)
  })
  test('ends one at once, and all others at once', async () => {
    using p = await panel()
    const cal = person(p)
    const [a, b, c] = [1, 2, 3].map(() => signIn(p, cal.email)).map(async (answer) => whoOf(p, await answer)) as any
    const [one, two] = [await a, await b]
    await c
    const ids = await list(p, one)
    const target = p.db.$client
      .query<{ id: string }, [string]>('SELECT id FROM sessions WHERE csrf = ?')
      .get(two.csrf)!.id
    expect(ids.map((s: any) => s.id)).toContain(target)
    expect((await p.call(cal, 'DELETE', `/account/sessions/${target}`)).status).toBe(200)
    expect((await p.call(two, 'GET', '/account/sessions')).status).toBe(401)
    expect((await p.call(cal, 'DELETE', '/account/sessions')).status).toBe(200)
    expect(await list(p, cal)).toHaveLength(1)
  })
  test("knows nobody else's", async () => {
    using p = await panel()
    const [cal, mal] = [person(p), person(p)]
    const [theirs] = await list(p, cal)
    const before = p.db.$client.query('SELECT count(*) AS n FROM sessions').get()
    const { status, body } = await p.call(mal, 'DELETE', `/account/sessions/${theirs.id}`)
    expect([status, body.error.code]).toEqual([404, 'session_not_found'])
    expect(p.db.$client.query('SELECT count(*) AS n FROM sessions').get()).toEqual(before)
  })
})

test('a device is said in words', () => {
  const chromium = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0'
  const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0'
  const said: Record<string, string> = {
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chromium} Safari/537.36 Edg/130.0.0.0`]: 'Edge on Windows',
    [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} Mobile/15E148 Safari/604.1`]: 'Safari on iPhone',
    [`Mozilla/5.0 (Linux; Android 15) ${chromium} Mobile Safari/537.36`]: 'Chrome on Android',
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Safari/605.1.15`]: 'Safari on macOS',
    'curl/8.5.0': 'curl',
    '': 'Unknown device',
    '<script>alert(1)</script>': 'Unknown device',
  }
  for (const [agent, words] of Object.entries(said)) expect(deviceIn(agent)).toBe(words)
})
