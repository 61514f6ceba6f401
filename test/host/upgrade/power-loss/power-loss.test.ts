// The power goes at any moment of an upgrade, of the controller and of an agent. What an upgrade does with files is
// recorded once, and the disk is made as it is after each operation, with all of it, or without what was not flushed.
// From each such disk one of the two versions starts, whole, on a database of its own. BERTH_LONG=1: from every one.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UpgradedService } from '../../../../agent/protocol/release/upgrade.ts'
import { isUnderWay } from '../../../../agent/protocol/release/upgrade.ts'
import { temporary } from '../../../agent/temporary.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { freePort } from '../../../support/world/program.ts'
import { built } from '../builds.ts'
import { releaseOf } from '../fleet.ts'
import { Lab, possible } from '../lab.ts'
import { Disk, type Image, type Loss, losses, restore } from './disk.ts'
import { recorded, recording } from './recorded.ts'

setDefaultTimeout(1_200_000)

const isLong = process.env['BERTH_LONG'] === '1'
const canRecord = possible && !!Bun.which('strace')
if (possible && !canRecord) console.error('left out: upgrades whose power goes (need strace)')
/** A start of the whole controller takes some seconds. */
const MOST_USUALLY = 12
const PAGES_EACH = 40
const WHOLE_START_EACH = isLong ? 12 : 4

const REAL = '/usr/local/share/berth-builds'
const HOST = '/usr/local/lib/berth/berth-host'
/** Where an upgrade changes files, and the controller in its trial. */
const folders = ['/usr/local/bin', '/usr/local/lib/berth', '/var/lib/berth', '/var/lib/berth-agent']
/** The index of a write-ahead log is made anew; a socket is no file. */
const isNoData = (path: string) => path.endsWith('-shm') || path.endsWith('.sock')

/** A program that is the build of `version`, and small: each image of the disk has some of it. */
const script = (version: string, first = '') => `#!/bin/sh\n${first}\nexec ${REAL}/${version} "$@"\n`

type Cut = { words: string; image: Image }

/** Each disk once, from the first change that the engine makes on. */
function cutsOf(disk: Disk, trace: string, service: UpgradedService): Cut[] {
  const found = new Map<string, Cut>()
  let [at, begun] = [0, false]
  for (const operation of recorded(trace)) {
    if (!disk.apply(operation)) continue
    at++
    begun ||= operation.path.includes(`/upgrade/${service}`)
    // SQLite's own writes are many, and alike.
    const isPage = operation.is === 'write' && /\/berth\.db(-wal)?$/.test(operation.path)
    if (!begun || (isPage && at % PAGES_EACH !== 0)) continue
    for (const loss of Object.keys(losses) as Loss[]) {
      const image = disk.after(loss)
      const words = `after ${at}, ${operation.is} of ${operation.path}: ${loss} lost`
      if (!found.has(image.id)) found.set(image.id, { words, image })
    }
  }
  return [...found.values()]
}

/** As many as the usual run has time for, spread over the whole. */
const some = (cuts: readonly Cut[]) =>
  isLong ? cuts : cuts.filter((_, n) => n % Math.ceil(cuts.length / MOST_USUALLY) === 0)

describe.skipIf(!canRecord)('after a loss of power', () => {
  const files = temporary('power-loss')
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const builds: Record<string, string> = {}
  let lab: Lab

  beforeAll(async () => {
    builds['1.0.0'] = await built('1.0.0')
    // Its database is another one.
    builds['1.1.0'] = await built('1.1.0', [
      { name: '9999_made', sql: 'CREATE TABLE made_by_the_new (a INTEGER) STRICT' },
    ])
    lab = await Lab.make(builds['1.0.0'])
    mkdirSync(lab.at(REAL), { recursive: true })
    for (const [version, build] of Object.entries(builds)) linkSync(build, lab.at(`${REAL}/${version}`))
  })
  afterAll(() => lab?.remove())

  const place = (agentDoes: string) => {
    const to = (path: string, text: string) => {
      // It may be another name of one of the others.
      rmSync(lab.at(path), { force: true })
      lab.write(path, text, 0o755)
    }
    to('/usr/local/bin/berth', script('1.0.0'))
    to(HOST, script('1.0.0'))
    to('/usr/local/lib/berth/berth-agent', script('1.0.0', agentDoes))
  }
  const must = async (command: string) => {
    const { code, out, err } = await lab.run(command)
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}\n${err}`)
    return out
  }
  /** Runs the lines there, recorded, and answers the disks that there may be. */
  async function record(service: UpgradedService, lines: string): Promise<Cut[]> {
    const disk = new Disk(lab.at(''), folders, isNoData)
    lab.write('/var/tmp/work', `set -e\n${lines}\n`)
    await must(recording('/var/tmp/trace', `bash /var/tmp/work >/var/tmp/said 2>&1`)).catch((error) => {
      throw new Error(`${error}: ${lab.read('/var/tmp/said')}`)
    })
    return cutsOf(disk, lab.at('/var/tmp/trace'), service)
  }
  const wholeVersion = (path: string, first = '') =>
    Object.keys(builds).find((version) => lab.read(path) === script(version, first))

  describe('in an upgrade of the controller', () => {
    const status = () =>
      fetch(`${url}/api/v1/status`, { keepalive: false }).then(
        (response) => response.status,
        () => 0,
      )
    beforeAll(() => {
      lab.write('/etc/berth/services', 'berth\n')
      const settings = { PANEL_LISTEN: `127.0.0.1:${port}`, PANEL_DATA_DIR: '/var/lib/berth', PANEL_PUBLIC_URL: url }
      const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`)
      lab.write('/etc/berth/controller.env', lines.join(''))
    })

    async function recordUpgrade(version: string, first: string): Promise<Cut[]> {
      await lab.services('stop')
      await lab.run('rm -rf /usr/local/lib/berth/upgrade /var/lib/berth/* /var/lib/berth-agent/*')
      place('')
      await must(`${HOST} host services start`)
      await eventually(async () => (await status()) === 200, 60)
      await must(`berth admin locations.create '{"name":"Here"}'`)
      await lab.services('stop')
      const program = join(files, `${version}.sh`)
      writeFileSync(program, script(version, first))
      writeFileSync(
        lab.at('/var/tmp/release'),
        readFileSync(releaseOf(program, version, join(files, 'release'), { schema: '9999_made' })),
      )
      return record(
        'berth',
        `${HOST} host services start
        until curl -sf ${url}/api/v1/status; do sleep 0.2; done
        berth upgrade /var/tmp/release --trial 1 --answer-within 60 || true
        ${HOST} host services stop`,
      )
    }

    test.each([
      { is: 'that is accepted', first: '' },
      { is: 'that goes back', first: 'case $1 in serve) exit 2 ;; esac' },
    ])('$is, one of the two versions runs on its database', async ({ first }) => {
      const cuts = await recordUpgrade('1.1.0', first)
      expect(cuts.length).toBeGreaterThan(60)
      const ended = new Set<string>()
      for (const [n, { words, image }] of some(cuts).entries()) {
        restore(image, lab.at(''), folders)
        await lab.run('rm -rf /run/berth')
        const before = await lab.run(`${HOST} host before-start berth`)
        const version = ['1.0.0', '1.1.0'].find((each) =>
          [script(each), script(each, first)].includes(lab.read('/usr/local/bin/berth')),
        )
        const said = await lab.run('berth version')
        const database = soundDatabase()
        const state = lab.journal('berth')?.state
        // With the words of the cut, for whoever reads that it failed.
        expect({ words, before, said, ...database }).toEqual({
          words,
          before: { code: 0, out: '', err: '' },
          said: { code: 0, out: version!, err: '' },
          ...{ integrity: 'ok', strangers: [], locations: ['Here'], isNew: version === '1.1.0' && database.isNew },
        })
        if (version === '1.1.0') expect({ words, state }).toEqual({ words, state: 'done' })
        else if (state) expect([words, state]).toEqual([words, 'went_back'])
        expect(wholeVersion(HOST)).toBeDefined()
        ended.add(`${version} ${state}`)
        if (n % WHOLE_START_EACH === 0) {
          await must(`${HOST} host services start`)
          await eventually(async () => (await status()) === 200, 60)
          expect([words, (await (await fetch(`${url}/api/v1/status`)).json()).version]).toEqual([words, version])
          await lab.services('stop')
        }
      }
      console.log(`${some(cuts).length} of ${cuts.length} disks: ${[...ended].join(', ')}`)
      expect(ended).toContain('1.0.0 went_back')
      if (!first && isLong) expect(ended).toContain('1.1.0 done')
    })

    /** The content of the database as a program finds it, whose log is read with it. */
    function soundDatabase() {
      const copy = temporary('copied')
      for (const end of ['', '-wal'])
        if (existsSync(lab.at(`/var/lib/berth/berth.db${end}`)))
          writeFileSync(join(copy, `berth.db${end}`), readFileSync(lab.at(`/var/lib/berth/berth.db${end}`)))
      const db = new Database(join(copy, 'berth.db'))
      const column = (sql: string) =>
        db
          .query(sql)
          .values()
          .map(([value]) => value)
      const found = {
        integrity: column('PRAGMA integrity_check').join(),
        strangers: column('PRAGMA foreign_key_check'),
        locations: column('SELECT name FROM locations'),
        isNew: column("SELECT name FROM migrations WHERE name = '9999_made'").length > 0,
      }
      db.close()
      return found
    }
  })

  describe('in an update of an agent', () => {
    const AGENT = '/usr/local/lib/berth/berth-agent'
    const OFFERED = '/var/lib/berth-agent/update/program'
    const accepts = `case "$*" in 'agent run') sleep 0.5
      echo '{"version":"1.1.0"}' >/var/lib/berth-agent/update/accepted.json
      exec sleep 600 ;; esac`
    const stays = `case "$*" in 'agent run') exec sleep 600 ;; esac`
    test.each([
      { is: 'that is accepted', work: accepts },
      { is: 'that goes back', work: `case "$*" in 'agent run') exit 1 ;; esac` },
    ])('$is, one of the two versions runs', async ({ work }) => {
      await lab.services('stop')
      await lab.run(`rm -rf /usr/local/lib/berth/upgrade /var/lib/berth/* /var/lib/berth-agent/*
        rm -f /etc/berth/controller.env
        mkdir -p /var/lib/berth-agent/update`)
      lab.write('/etc/berth/services', 'berth-agent\n')
      lab.write('/etc/berth/agent.env', '')
      place(stays)
      const next = script('1.1.0', work)
      lab.write(OFFERED, next, 0o755)
      const sha256 = createHash('sha256').update(next).digest('hex')
      const cuts = await record(
        'berth-agent',
        `${HOST} host services start
        ${HOST} host upgrade-start berth-agent --program ${OFFERED} --version 1.1.0 --sha256 ${sha256} --trial 20
        until grep -qE 'done|went_back' /usr/local/lib/berth/upgrade/berth-agent/journal.json; do sleep 0.2; done
        while pgrep -f 'upgrade-watch berth-agent$' >/dev/null; do sleep 0.2; done
        ${HOST} host services stop`,
      )
      expect(cuts.length).toBeGreaterThan(30)
      const ended = new Set<string>()
      for (const { words, image } of some(cuts)) {
        restore(image, lab.at(''), folders)
        await lab.run('rm -rf /run/berth')
        const before = await lab.run(`${HOST} host before-start berth-agent`)
        const version = lab.read(AGENT) === next ? '1.1.0' : wholeVersion(AGENT, stays)
        const said = await lab.run(`${AGENT} version`)
        const journal = lab.journal('berth-agent')
        expect({ words, before, said }).toEqual({
          words,
          before: { code: 0, out: '', err: '' },
          said: { code: 0, out: version!, err: '' },
        })
        if (journal) expect([words, isUnderWay(journal)]).toEqual([words, false])
        if (version === '1.1.0') expect([words, journal?.state]).toEqual([words, 'done'])
        expect([script('1.0.0'), next]).toContain(lab.read(HOST))
        ended.add(`${version} ${journal?.state}`)
      }
      console.log(`${some(cuts).length} of ${cuts.length} disks: ${[...ended].join(', ')}`)
    })
  })
})
