// Which program install.sh goes on with, and beside which script it looks for one. The paths of the machine lead into a
// folder of the test; what fetches and what builds are stand-ins.
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporary } from '../agent/temporary.ts'

const installer = readFileSync('install.sh', 'utf8')
const ABLE = '#!/bin/bash\n[ "$1 $2" = "host help" ]\n'
/** The program of a release before `berth host`. */
const OLD = '#!/bin/bash\necho \'There is no command "host".\' >&2\nexit 2\n'

/** A machine with these files; `beside/` is the folder of the script, which everybody may enter. */
function machine(files: Record<string, string>, script = 'install.sh', mode = 0o755) {
  const root = temporary('found')
  for (const [name, text] of Object.entries({ 'beside/x': '', ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text, { mode: 0o755 })
  }
  const path = join(root, 'beside', script)
  const moved = installer
    .replaceAll(/^(program|library|settings|logs|agent_state)=\//gm, `$1=${root}/`)
    .replace('/usr/bin/berth;', `${root}/usr/bin/berth;`)
    .replace(/\nmain "\$@"\n$/, '\n')
  writeFileSync(path, moved)
  chmodSync(join(root, 'beside'), mode)
  return {
    /** The program that was taken, from the root of the machine, or the words of the failure. */
    find(as: 'agent' | 'controller' | 'uninstall', more = '') {
      const standIns = `fetch_program() { mkdir -p "\${1%/*}"; echo '#!/bin/bash' >"$1"; chmod 755 "$1"; }
        build() { mkdir -p "$here/dist"; echo '#!/bin/bash' >"$here/dist/berth"; chmod 755 "$here/dist/berth"; }`
      const lines = `. ${path}; ${standIns}
        log=/dev/null; exec 4>&2; trap 'say_failure $?' EXIT
        current='' mode=${as} token='' controller_url='' ca='' insecure=''; ${more}
        guard_folder; find_program; printf '%s\\n' "$from"`
      const { stdout, stderr } = Bun.spawnSync(['bash', '-c', lines])
      return stdout.length ? stdout.toString().trim().split('\n').at(-1)!.replace(root, '') : stderr.toString().trim()
    },
  }
}
const enrolled = { 'var/lib/berth-agent/agent.json': '{"controller": "https://panel.example.com"}' }
const program = 'usr/local/bin/berth'
const fetched = '/usr/local/lib/berth/fetched'

test('a node with an older program takes its controller’s with its token, and keeps one that is new enough', () => {
  const old = { ...enrolled, [program]: OLD }
  expect(machine(old, 'berth-install.sh').find('agent', 'token=enr_1')).toBe(fetched)
  expect(machine(old, 'berth-install.sh').find('agent')).toContain(
    'There is no program for this script, or none as new',
  )
  const able = machine({ ...enrolled, [program]: ABLE }, 'berth-install.sh')
  expect(able.find('agent', 'token=enr_1')).toBe(`/${program}`)
})

test('no program is fetched in the clear, also where the node alone knows its controller', () => {
  const plain = { 'var/lib/berth-agent/agent.json': '{"controller": "http://192.0.2.10:8080"}', [program]: OLD }
  expect(machine(plain, 'berth-install.sh').find('agent', 'token=enr_1')).toContain('is not encrypted')
})

test('a controller with an older program is not run with it', () => {
  expect(machine({ [program]: OLD }).find('controller')).toContain('none as new as it')
})

test('an uninstallation passes over older programs, and builds where none is new enough', () => {
  const stale = { 'beside/dist/berth': OLD, [program]: OLD }
  expect(machine({ ...stale, 'beside/src/main.ts': '' }).find('uninstall')).toBe('/beside/dist/berth')
  expect(machine({ ...stale, 'usr/local/lib/berth/berth-host': ABLE }).find('uninstall')).toBe(
    '/usr/local/lib/berth/berth-host',
  )
  expect(machine(stale).find('uninstall')).toContain('none as new as it')
})

test('root runs nothing that lies beside a script that was fetched', () => {
  for (const planted of ['beside/berth', 'beside/src/main.ts']) {
    const found = machine({ [planted]: ABLE }, 'berth-install.sh').find('agent', 'token=enr_1')
    expect([planted, found]).toEqual([planted, fetched])
  }
})

test('root runs nothing out of a folder into which everybody can write', () => {
  for (const mode of [0o777, 0o1777])
    for (const planted of ['beside/berth', 'beside/src/main.ts'])
      expect(machine({ [planted]: ABLE }, 'install.sh', mode).find('controller')).toMatch(
        /^Everybody can write into .*beside, so nothing there is run as root/,
      )
  expect(machine({ 'beside/dist/berth': ABLE }, 'install.sh', 0o1777).find('uninstall')).toContain('no program')
  expect(machine({ 'beside/berth': ABLE }).find('controller')).toBe('/beside/berth')
})
