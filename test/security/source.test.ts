// Constructs that our code must not contain. Each rule is tried on a line that breaks it.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'

const root = new URL('../..', import.meta.url).pathname
const files = [...new Glob('{src,agent,backup-server,host,views,public}/**/*.{ts,tsx,js}').scanSync({ cwd: root })].map(
  (path) => ({
    path,
    // Comments may name what is forbidden.
    text: readFileSync(root + path, 'utf8').replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, ''),
  }),
)
const having = (rule: RegExp) => files.filter(({ text }) => rule.test(text)).map(({ path }) => path)

const rules: readonly [string, RegExp, string][] = [
  [
    'S2: nothing puts text into a page as markup',
    new RegExp(
      [
        String.raw`\.(?:inner|outer)HTML\b|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write`,
        String.raw`x-html|hx-on|js:\{|\beval\(|new Function\b`,
      ].join('|'),
    ),
    'place.innerHTML = text',
  ],
  [
    'S4: no shell reads a command',
    /\bBun\.\$|child_process|\bshell: *true|['"](?:ba|da)?sh['"], *\[? *['"]-c['"]/,
    "Bun.spawn(['sh', '-c', line])",
  ],
  // A group that begins with a dot of its own cannot be read in two ways.
  ['S9: no regular expression repeats what it repeats', /\((?!\\\.)[^()\n]*[+*]\)[+*{](?!\?)/, '/^(a+)+$/'],
  ['S29: no answer has a CORS header', /access-control-/i, "headers.set('Access-Control-Allow-Origin', '*')"],
]

/** The only places that ask the host for its clock; all others are handed the product's time. */
const readsHostClock: Readonly<Record<string, string>> = {
  'agent/protocol/monotonic-clock.ts': "the product's time is made of it",
  'src/identity/auth/identity-provider/provider.ts': 'its library reads the clock itself',
  'src/app/commands/admin.ts': 'a process of its own, for one call',
  'src/app/commands/backup.ts': 'the name of a file',
  'src/app/commands/release.ts': 'the date in a manifest',
  'agent/drivers/source-host/moving/kept-copy.ts': 'days since a copy ended, over restarts',
  'agent/drivers/source-removal/host-removals.ts': 'the name of a folder',
  'agent/drivers/source-removal/fake.ts': 'the name of a folder',
  'src/kernel/crypto/key-file.ts': 'the number of a new key',
  'agent/update/updates.ts': 'when an update was tried, over restarts',
  'agent/update/fake.ts': 'when an update was tried, over restarts',
  'host/upgrade/ending.ts': 'a line of the history, by a process of its own',
  'host/upgrade/go-back.ts': 'a line of the history, by a process of its own',
  'host/upgrade/prepare.ts': 'a line of the history, by a process of its own',
  'host/upgrade/request.ts': 'a line of the history, by a process of its own',
  'host/services/service.ts': 'the lines of a log have a time',
  'backup-server/logins.ts': 'compares it with the times of files',
  'src/kernel/db/migrate.ts': 'before there is a controller',
  'src/kernel/db/health.ts': 'when a trouble began, and the name of a file',
  'src/kernel/log.ts': 'the journal is compared with those of other programs',
  'agent/log.ts': 'the journal is compared with those of other programs',
  'agent/controller-link/controller.ts': "compares it with the controller's",
  'agent/controller-link/connection.ts': 'tells it to the controller',
  'agent/probe.ts': 'tells the controller since when nothing answers',
  'agent/drivers/storage/storage.ts': 'tells since when a pool does not answer',
  'agent/drivers/hypervisor/libvirt.ts': 'the time of an event that has none',
  'agent/drivers/hypervisor/fake.ts': 'the start of a vm, over restarts',
  'agent/drivers/container/fake.ts': 'the start of a container, over restarts',
  'agent/drivers/container/podman/podman.ts': 'the start of a container, over restarts, and the time of its end',
  'agent/drivers/container/podman/images.ts': 'days since an image was used, over restarts',
  'agent/drivers/transfer/fake.ts': 'the end of a transfer is a time of the controller, over restarts',
  'agent/drivers/transfer/ssh/run-directory.ts': 'the end of a transfer is a time of the controller, over restarts',
  'agent/drivers/transfer/ssh/ssh-transfers.ts': 'the end of a transfer is a time of the controller, over restarts',
  'agent/host/startup.ts': 'the end of a transfer is a time of the controller, over restarts',
  'agent/host/fake-host.ts': 'the boot of a fake host',
  'agent/host/metering.ts': 'days of traffic are those of the calendar, over restarts',
  'agent/host/doctor.ts': 'checks it',
}

describe('our own code', () => {
  test('S55: reads the clock of the host in the places that are listed here, and measures no duration with it', () => {
    const rule = /\bDate\.now\b|\bnew Date\(\)/
    expect('const began = Date.now()').toMatch(rule)
    expect(
      having(rule)
        .filter((path) => !path.startsWith('public/'))
        .toSorted(),
    ).toEqual(Object.keys(readsHostClock).toSorted())
    // A duration is a difference of two readings.
    expect(having(/Date\.now\(\) - (?:began|opened|this)|(?:until|deadline|expires) = Date\.now/)).toEqual([])
  })
  test('S12: the controller calls other hosts through the egress guard only, which has one HTTP client', () => {
    const rule = /(?<![.\w]|async )fetch\(|\bnew WebSocket\(|\bBun\.connect\(|from 'node:(?:http|https|net|tls|http2)'/
    expect('const list = await fetch(url)').toMatch(rule)
    const calling = files.filter(
      ({ path, text }) =>
        /^(src|agent\/protocol)\//.test(path) && rule.test(text.replace(/import \{ isIP \} from 'node:net'/g, '')),
    )
    expect(calling.map(({ path }) => path).toSorted()).toEqual([
      'agent/protocol/net/pinned-request.ts', // the client, for addresses that its caller has allowed
      'src/app/commands/admin.ts', // its own controller, over the socket file
      'src/app/commands/data-dir.ts', // the same
      'src/app/commands/takeover.ts', // the standby of this host, over the socket file
      'src/app/wiring/upgrade-trial.ts', // its own listener, before an upgrade counts
      'src/kernel/net/authorities.ts', // calls nobody: it reads the authorities that TLS trusts
      'src/network/reverse-dns/rfc2136.ts', // to an address that the guard has allowed
    ])
  })
  test('S47: dependencies have one version and a hash each, and run nothing when they are installed', () => {
    const { dependencies, devDependencies, trustedDependencies } = JSON.parse(
      readFileSync(`${root}package.json`, 'utf8'),
    )
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)])
    expect(trustedDependencies).toEqual([])
    const lock = readFileSync(`${root}bun.lock`, 'utf8')
    const packages = [...lock.slice(lock.indexOf('"packages": {')).matchAll(/^ {4}"[^"]+": \[(.*)\],?$/gm)]
    expect(packages.length).toBeGreaterThan(50)
    for (const [, one] of packages) expect(one).toMatch(/"sha512-[A-Za-z0-9+/]{86}=="$/)
  })
  test('is found', () => expect(files.length).toBeGreaterThan(100))
  for (const [words, rule, broken] of rules)
    test(words, () => {
      expect(broken).toMatch(rule)
      expect(having(rule)).toEqual([])
    })
  test('S4: starts programs at one place of each half, from a list of arguments', () => {
    const starting = having(/\bBun\.spawn(?:Sync)?\(/).filter((path) => !path.startsWith('public/'))
    expect(starting.toSorted()).toEqual([
      'agent/host/exec.ts',
      'host/machine/exec.ts',
      // A command of developers: it asks the program that they built.
      'src/app/commands/release.ts',
      'src/kernel/processes/exec.ts',
    ])
    for (const path of having(/\bBun\.spawn(?:Sync)?\(/))
      expect(readFileSync(root + path, 'utf8')).not.toMatch(/Bun\.spawn(?:Sync)?\(\s*[`'"]/)
    // Through this one function, so that none outlives the agent.
    expect(readFileSync(root + 'agent/host/exec.ts', 'utf8').match(/\bBun\.spawn\(/g)).toHaveLength(1)
  })
  test('S3: no SQL is put together from what a call sent', () => {
    // A statement's holes may hold columns and conditions of ours, never `query`, `body` or `params`.
    const holes = files.flatMap(({ path, text }) =>
      [...text.matchAll(/`[^`]*\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|ORDER BY)\b[^`]*`/g)].flatMap(([sql]) =>
        [...sql.matchAll(/\$\{([^}]*)\}/g)].map(([, hole]) => `${path}: ${hole}`),
      ),
    )
    expect(holes.length).toBeGreaterThan(5)
    for (const hole of holes) expect(hole).not.toMatch(/\b(?:query|body|params)\b/)
  })
})
