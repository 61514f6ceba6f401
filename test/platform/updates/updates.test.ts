// The panel shows updates of the controller, and asks root for one.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { requestFrom } from '../../../agent/protocol/release/upgrade.ts'
import { audit } from '../../../src/kernel/audit/tables.ts'
import { day } from '../../../src/kernel/db/clock.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { auditEnded } from '../../../src/platform/updates/audit.ts'
import { handOver } from '../../../src/platform/updates/start.ts'
import { LATER, type Machine, machine, NEXT, path, stranger, wentBack } from './lab.ts'

const handing = (p: Machine) => handOver({ db: p.db, app: p.controller.app })
const codeOf = async (call: Promise<{ status: number; body: any }>) => (await call).body.error?.code
const start = (p: Machine, version = NEXT) => p.call(p.owner, 'POST', `${path}/actions/start`, { version })
const bad = (findings: { result: string; what: string }[]) =>
  findings.filter(({ result }) => result === 'bad').map(({ what }) => what)
const attention = async (p: Machine) =>
  (await p.admin('GET', '/admin/overview')).attention
    .filter(({ href }: { href: string }) => href === '/admin/controller/updates')
    .map(({ what, effect }: { what: string; effect: string }) => `${what} ${effect}`)

describe('the folder of releases', () => {
  test('offers the newest that follows, with the facts of its manifest', async () => {
    using p = await machine()
    expect(await p.shown()).toMatchObject({ version: VERSION, available: null, releases: [], upgrade: null })
    p.release(NEXT, { notes: '## New\n- **Servers move.** Live.' })
    p.release('9.0.0', { minimumVersion: '8.0.0' })
    const { available, releases, refusedFiles } = await p.shown()
    expect(available).toBe(NEXT)
    expect(releases.map(({ version, refused }: any) => [version, refused === null])).toEqual([
      ['9.0.0', false],
      [NEXT, true],
    ])
    expect(releases[1]).toMatchObject({ key: expect.stringContaining('2 of 2'), date: '2026-11-24' })
    expect(refusedFiles).toEqual([])
  })
  test('says why a forged, an unsigned and a cut file do not count, and reads what replaces one', async () => {
    using p = await machine()
    p.release('5.0.0', { by: stranger })
    p.release('6.0.0', { isSigned: false })
    writeFileSync(`${p.incoming}/cut.release`, readFileSync(p.release(LATER)).subarray(0, 700))
    rmSync(`${p.incoming}/berth-${LATER}.release`)
    symlinkSync(p.release(NEXT), `${p.incoming}/link.release`) // Not followed.
    const { refusedFiles, releases } = await p.shown()
    expect(refusedFiles.map(({ file, code }: any) => `${file} ${code}`).toSorted()).toEqual([
      'berth-5.0.0.release release_key_not_trusted',
      'berth-6.0.0.release release_not_signed',
      'cut.release release_invalid',
    ])
    expect(releases.map(({ file }: any) => file)).toEqual([`berth-${NEXT}.release`])
    p.release('6.0.0')
    expect((await p.shown()).available).toBe('6.0.0')
  })
})

describe('a check', () => {
  test('says what would happen, is remembered with who made it, and changes nothing', async () => {
    using p = await machine()
    p.release(NEXT)
    const { status, body } = await p.call(p.owner, 'POST', `${path}/actions/check`, { version: NEXT })
    expect([status, bad(body.findings)]).toEqual([200, []])
    expect(body.findings.map(({ what }: any) => what)).toContain(`${VERSION} can be updated to ${NEXT}`)
    expect((await p.shown()).check).toEqual(body)
    expect(body.by).toBe('Ada')
    handing(p)
    expect(existsSync(p.request)).toBe(false)
  })
  test('finds what is in the way, all of it at once', async () => {
    using p = await machine({ host: { disk: () => ({ bsize: 1, blocks: 9, bfree: 9, bavail: 9 }) } })
    p.release('9.0.0', { minimumVersion: '8.0.0', schema: '0001_first' })
    rmSync(`${p.root}/berth-host`)
    p.journal('trying')
    const { findings } = await p.admin('POST', `${path}/actions/check`, { version: '9.0.0' })
    expect(bad(findings)).toEqual([
      `${VERSION} cannot be updated to 9.0.0`,
      'Its database is older',
      'There is not enough space',
      'Nothing carries out the update here',
      'Another update is under way',
    ])
  })
  test('reads the whole release: one whose program was altered is refused, and so is an update to it', async () => {
    using p = await machine()
    const file = p.release(NEXT)
    const content = readFileSync(file)
    content[content.length - 20_000]! ^= 1
    writeFileSync(file, content)
    const { findings } = await p.admin('POST', `${path}/actions/check`, { version: NEXT })
    expect(bad(findings)).toEqual(['The release is refused'])
    expect(await codeOf(start(p))).toBe('update_refused')
    handing(p)
    expect(existsSync(p.request)).toBe(false)
  })
  test('warns where agents have to be updated before they can be used', async () => {
    using p = await machine()
    p.release(NEXT, { protocol: 99 })
    const { findings } = await p.admin('POST', `${path}/actions/check`, { version: NEXT })
    expect(findings.at(-1)).toMatchObject({ result: 'warn', what: expect.stringContaining('99') })
  })
})

describe('an update', () => {
  test('is handed to root once, with who asked, after its line is in the audit log', async () => {
    using p = await machine()
    p.release(NEXT)
    expect((await start(p)).status).toBe(202)
    expect((await p.shown()).upgrade).toMatchObject({ state: 'waiting', from: VERSION, to: NEXT, by: 'Ada' })
    handing(p)
    // As root reads it.
    expect(requestFrom(readFileSync(p.request, 'utf8'))).toEqual({
      format: 1,
      file: `berth-${NEXT}.release`,
      by: 'Ada',
      at: expect.any(String),
    })
    expect(p.db.select().from(audit).all().at(-1)).toMatchObject({ operation: 'updates.start', result: 'done' })
    rmSync(p.request)
    handing(p)
    expect(existsSync(p.request)).toBe(false)
    expect((await p.shown()).upgrade.state).toBe('checking')
    p.journal('trying')
    expect((await p.shown()).upgrade.state).toBe('trying')
    p.journal('done')
    p.history({})
    expect(await p.shown()).toMatchObject({ upgrade: null, history: [{ result: 'done', stoppedSeconds: 14 }] })
  })
  test('that root took and never answered stands in nobody’s way after five minutes', async () => {
    using p = await machine()
    p.release(NEXT)
    await start(p)
    handing(p)
    rmSync(p.request)
    expect(await codeOf(start(p))).toBe('update_under_way')
    p.turnClock(5 * 60_000 + 1000)
    expect((await p.shown()).upgrade).toBe(null)
    expect((await start(p)).status).toBe(202)
  })
  test('is not begun twice, nor beside one of the command line', async () => {
    using p = await machine()
    p.release(NEXT)
    await start(p)
    expect(await codeOf(start(p))).toBe('update_under_way')
    await p.admin('POST', `${path}/actions/withdraw`)
    p.journal('switching')
    expect(await codeOf(start(p))).toBe('update_under_way')
    handing(p)
    expect(existsSync(p.request)).toBe(false)
  })
  test('is withdrawn while it waits, and not when root has begun', async () => {
    using p = await machine()
    p.release(NEXT)
    await start(p)
    handing(p)
    await p.admin('POST', `${path}/actions/withdraw`)
    expect([existsSync(p.request), (await p.shown()).upgrade]).toEqual([false, null])
    p.journal('switching')
    expect(await codeOf(p.call(p.owner, 'POST', `${path}/actions/withdraw`))).toBe('update_not_waiting')
  })
  test('needs a person who may change settings, and no token may ask for it', async () => {
    using p = await machine()
    p.release(NEXT)
    const by = (who: any) => codeOf(p.call(who, 'POST', `${path}/actions/start`, { version: NEXT }))
    expect(await by(p.token(p.owner.id, ['settings:write']))).toBe('token_not_allowed')
    expect(await by(p.staff(['nodes.read']))).toBe('forbidden')
    expect(await by(p.customer)).toBe('forbidden')
    expect((await p.shown()).upgrade).toBe(null)
    expect(await codeOf(p.call(p.customer, 'GET', path))).toBe('forbidden')
  })
  test('to a release that is not there, or does not follow, is refused', async () => {
    using p = await machine()
    p.release('0.0.9')
    expect(await codeOf(start(p, '7.0.0'))).toBe('release_not_found')
    expect(await codeOf(start(p, '0.0.9'))).toBe('update_refused')
    expect((await p.shown()).upgrade).toBe(null)
  })
})

describe('the history', () => {
  test('has the newest first, and leaves out a line that was cut short', async () => {
    using p = await machine()
    p.history({ to: '0.0.8' }, wentBack)
    writeFileSync(`${p.root}/berth/history.jsonl`, '{"to":"0.0', { flag: 'a' })
    expect((await p.shown()).history.map(({ to, result, reason }: any) => [to, result, reason])).toEqual([
      [NEXT, 'went_back', `${wentBack.reason.words}.`],
      ['0.0.8', 'done', null],
    ])
  })
  test('is in the audit log, each line once, with who asked and why it ended so', async () => {
    using p = await machine()
    const noting = () => auditEnded({ db: p.db, app: p.controller.app })
    const lines = () =>
      p.db
        .select()
        .from(audit)
        .all()
        .filter(({ operation }) => operation === 'updates.start')
        .map(({ result, details }) => [result, JSON.stringify(details).includes(wentBack.reason.words)])
    noting()
    expect(lines()).toEqual([])
    p.history({ endedAt: '2026-11-24T10:00:00.000Z' }, { ...wentBack, endedAt: '2026-11-25T10:00:00.000Z' })
    noting()
    noting()
    expect(lines()).toEqual([
      ['done', false],
      ['update_refused', true],
    ])
  })
  test('brings an update that went back under Needs attention, until one succeeds or two weeks are over', async () => {
    using p = await machine()
    p.history(wentBack)
    expect(await attention(p)).toEqual([
      `The update of the controller to ${NEXT} took itself back. ${wentBack.reason.words}. ${VERSION} runs, with the ` +
        'database of before.',
    ])
    p.history(wentBack, { result: 'refused', to: '' })
    expect(await attention(p)).toHaveLength(1)
    p.history(wentBack, {})
    expect(await attention(p)).toEqual([])
    p.history(wentBack)
    expect(await attention(p)).toHaveLength(1)
    p.turnClock(15 * day)
    expect(await attention(p)).toEqual([])
  })
})
