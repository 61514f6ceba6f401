// An upgrade of a controller that has a replica and a standby: what a trial does is not in the replica, so that going
// back leaves no standby ahead, and a standby that took over has the database that counts.
import { Database } from 'bun:sqlite'
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { freePort } from '../../support/world/program.ts'
import { built } from './builds.ts'
import { releaseOf } from './fleet.ts'
import { Lab, possible } from './lab.ts'

setDefaultTimeout(240_000)

const REAL = '/usr/local/share/berth-builds'
const REPLICA = '/var/lib/replica'
const STANDBY = '/var/lib/berth-standby'
const script = (version: string, first = '') => `#!/bin/sh\n${first}\nexec ${REAL}/${version} "$@"\n`

describe.skipIf(!possible)('a controller with a standby', () => {
  const files = temporary('replica')
  const builds: Record<string, string> = {}
  let lab: Lab
  let url = ''

  beforeAll(async () => {
    builds['1.0.0'] = await built('1.0.0')
    const migration = { name: '9999_made', sql: 'CREATE TABLE made_by_the_new (a INTEGER) STRICT' }
    builds['1.1.0'] = await built('1.1.0', [migration])
  })
  afterEach(() => lab?.remove())

  const must = async (command: string) => {
    const { code, out, err } = await lab.run(command)
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}\n${err}`)
    return out
  }
  const isUp = () =>
    eventually(
      () =>
        fetch(`${url}/api/v1/status`, { keepalive: false }).then(
          ({ ok }) => ok,
          () => false,
        ),
      60,
    )
  const add = (name: string) => must(`berth admin locations.create '{"name":"${name}"}'`)
  /** The settings of both; `other`: of the standby. */
  const settings = (port: number, dataDir: string) => ({
    ...{ PANEL_LISTEN: `127.0.0.1:${port}`, PANEL_DATA_DIR: dataDir, PANEL_PUBLIC_URL: `http://127.0.0.1:${port}` },
    PANEL_REPLICA: REPLICA,
  })

  async function begin() {
    const port = freePort()
    url = `http://127.0.0.1:${port}`
    lab = await Lab.make(builds['1.0.0']!)
    mkdirSync(lab.at(REAL), { recursive: true })
    for (const [version, build] of Object.entries(builds)) linkSync(build, lab.at(`${REAL}/${version}`))
    for (const path of ['/usr/local/bin/berth', '/usr/local/lib/berth/berth-host'])
      lab.write(path, script('1.0.0'), 0o755)
    lab.write('/etc/berth/services', 'berth\n')
    const lines = Object.entries(settings(port, '/var/lib/berth')).map(([name, value]) => `${name}="${value}"\n`)
    lab.write('/etc/berth/controller.env', lines.join(''))
    await must(`install -d -o berth -g berth -m 700 ${REPLICA} ${STANDBY}; touch ${REPLICA}/.berth-backups`)
    expect(await lab.services('start')).toMatchObject({ code: 0, err: '' })
    await isUp()
    await add('First')
    await must(`install -o berth -g berth -m 600 /var/lib/berth/secret.key ${STANDBY}/`)
    const env = Object.entries(settings(freePort(), STANDBY)).map(([name, value]) => `${name}=${value}`)
    await must(
      `setsid setpriv --reuid=berth --regid=berth --clear-groups env ${env.join(' ')} ${REAL}/1.1.0 serve --standby \\
        >/var/tmp/standby.log 2>&1 </dev/null &`,
    )
    await follows()
  }
  /** When the last change was that the standby has; 0: none. */
  const standbyAt = () => JSON.parse(lab.read(`${STANDBY}/standby.db.state`) || '{"at":0}').at as number
  /** The standby has what there is now. */
  async function follows() {
    const now = Date.now()
    await eventually(() => standbyAt() >= now, 60)
    expect(standbyAt()).toBeGreaterThanOrEqual(now)
  }
  const replica = () =>
    readdirSync(lab.at(REPLICA), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
  function release(first = '') {
    const program = join(files, 'program')
    writeFileSync(program, script('1.1.0', first))
    writeFileSync(
      lab.at('/var/tmp/release'),
      readFileSync(releaseOf(program, '1.1.0', join(files, 'release'), { schema: '9999_made' })),
    )
    return '/var/tmp/release'
  }
  /** The controller is lost, and the standby takes over. Answers its locations. */
  async function takeOver() {
    await lab.services('stop')
    const taken = await must(
      `PANEL_DATA_DIR=${STANDBY} PANEL_REPLICA=${REPLICA} ${REAL}/1.1.0 takeover --even-if-alive`,
    )
    expect(taken).toContain('This host is the controller now')
    const db = new Database(lab.at(`${STANDBY}/berth.db`))
    const found = db.query<{ name: string }, []>('SELECT name FROM locations ORDER BY rowid').all()
    expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']])
    db.close()
    return found.map(({ name }) => name)
  }

  test('ships nothing in a trial, and ships on when it went back: the standby is not ahead', async () => {
    await begin()
    // It answers, and hangs in its trial.
    const hangs = 'case $1 in serve) (sleep 6; kill -STOP $$) & ;; esac'
    const ended = lab.run(`berth upgrade ${release(hangs)} --trial 60`)
    await eventually(() => lab.journal('berth')?.answeredAt !== undefined, 90)
    const [before, at] = [replica(), standbyAt()]
    await eventually(() => lab.journal('berth')?.state !== 'trying', 90)
    expect(replica()).toEqual(before)
    expect(standbyAt()).toBe(at)
    expect(await ended).toMatchObject({ code: 1, err: expect.stringContaining('stopped_answering') })
    await isUp()
    await add('Second')
    await follows()
    expect(await takeOver()).toEqual(['First', 'Second'])
  })

  test('that goes on with the new version ships it, and a way back by hand leads the standby back, too', async () => {
    await begin()
    expect(await lab.run(`berth upgrade ${release()} --trial 2`)).toMatchObject({ code: 0, err: '' })
    await isUp()
    await add('Newer')
    await follows()
    expect(await lab.run('berth upgrade --go-back --discard-newer')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The controller is Berth 1.0.0'),
    })
    await isUp()
    await add('After')
    await follows()
    expect(await takeOver()).toEqual(['First', 'After'])
  })
})
