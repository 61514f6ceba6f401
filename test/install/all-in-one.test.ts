// install.sh on a clean Debian without systemd, as an operator runs it: from nothing to a server that answers SSH,
// twice, and away again. The machine is made of namespaces (clean-machine.sh); packages come through the registries'
// ordinary clients.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { presets } from '../../src/identity/tokens/presets.ts'
import { CleanMachine, checkout, type Ended, possible, printed, spawn } from './clean-machine.ts'

setDefaultTimeout(600_000)

let machine: CleanMachine
const inside = (command: string) => machine.run(command)
const mustInside = (command: string) => machine.must(command)
const install = (flags: string) => machine.install(flags)

/** Waits for SSH at the guest and runs a command there. */
async function guest(address: string, command: string, limitSeconds = 90): Promise<string> {
  const ssh =
    'ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ' +
    `ConnectTimeout=2 -o BatchMode=yes root@${address} ${command}`
  const until = Date.now() + limitSeconds * 1000
  for (;;) {
    const { code, out, err } = await inside(ssh)
    if (code === 0) return out.trim()
    if (Date.now() > until) throw new Error(`no SSH at ${address}: ${err}\n${await state()}`)
    await Bun.sleep(300)
  }
}

/** Printed when a test of this file fails. */
const state = async () => (await inside('virsh list --all; tail -n 20 /var/log/berth/*.log')).out

/** Files, identity and processes that a second run must leave alone. */
const untouched = () =>
  mustInside(`sha256sum /usr/local/bin/berth /etc/berth/* /usr/local/lib/berth/* /var/lib/berth-agent/agent.json
    for p in /proc/[0-9]*; do
      case $(readlink $p/exe) in */berth | */libvirtd | */qemu*) echo "$p $(readlink $p/exe)";; esac; done`)

// Debian 12 always, Debian 13 in the long run.
describe.skipIf(!possible).each(process.env['BERTH_LONG'] ? ['bookworm', 'trixie'] : ['bookworm'])(
  'install.sh --all-in-one on a clean Debian %s',
  (suite) => {
    let first: Ended
    let ordered: { serverId: string; ipv4: string }
    let boot = ''
    /** Printed at the end. */
    const figures: string[] = []
    const seconds = (began: number) => `${((performance.now() - began) / 1000).toFixed(1)} s`
    const admin = async (words: string) => JSON.parse(await mustInside(`berth admin ${words}`))
    const addresses: string[] = []
    const orderOf = (hostname: string) =>
      printed(first.out, 'curl').replace('Key: first', `Key: ${hostname}`).replace('"web01"', `"${hostname}"`)
    // Six guests that boot at a time share two processors.
    const bootOf = (address: string) => guest(address, 'cat /proc/sys/kernel/random/boot_id', 240)
    const answersAnew = async (address: string, before: string) => {
      const until = Date.now() + 240_000
      while ((await bootOf(address)) === before)
        if (Date.now() > until) throw new Error(`${address} has not started anew\n${await state()}`)
        else await Bun.sleep(300)
    }
    /** Waits for what the node reports every ten seconds. */
    async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
      for (const end = Date.now() + 60_000; ; await Bun.sleep(500)) {
        const found = await look()
        if (found) return found
        if (Date.now() > end) throw new Error(`${what}\n${await state()}`)
      }
    }

    beforeAll(async () => {
      machine = await CleanMachine.make(suite, 200)
      await machine.bringCheckout()
      const ssh = join(machine.dir, 'root/root/.ssh')
      await spawn([
        'bash',
        '-c',
        `mkdir -m 700 ${ssh} && ssh-keygen -q -t ed25519 -N '' -C operator -f ${ssh}/id_ed25519`,
      ])
      const began = performance.now()
      first = await install('--all-in-one')
      figures.push(`install ${seconds(began)}`)
      console.log(first.out + first.err)
    })

    afterAll(async () => {
      await machine?.remove()
      console.log(`${suite}: ${figures.join(', ')}`)
    })

    test('prints each step and ends with the address, the staff sign-in and how to create the first server', () => {
      expect(first.err).toBe('')
      expect(first.code).toBe(0)
      const steps = [
        'Packages for the controller',
        'Bun',
        'Building dist/berth',
        'Service berth',
        'First staff sign-in',
        'libvirt',
        'Enrolment',
        'Service berth-agent',
        'Image',
        'Rescue system',
        'Node is connected',
      ]
      for (const step of steps) expect(first.out).toMatch(new RegExp(`^✓ ${step}`, 'm'))
      expect(first.out).toContain('tiny Linux was built from Debian packages')
      expect(first.out).toMatch(/^✓ Rescue system: Berth Tiny Linux/m)
      expect(first.out).toContain('This is a lab on plain HTTP')
      expect(first.out).toMatch(/^ {2}Panel +http:\/\/10\.213\.\d+\.2:8080$/m)
      expect(first.out).toMatch(/^ {2}Staff sign-in +\S+@\S+$/m)
      expect(first.out).toMatch(/^ {2}Password +\S{20,}/m)
    })

    test('says what the API token may do and when it ends, and that is when it ends', async () => {
      const [, ends] = /^It ends on (\d{4}-\d\d-\d\d)\. End it earlier in the panel/m.exec(first.out) ?? []
      expect(first.out).toContain('orders, resizes, suspends, reinstalls and terminates their servers')
      const db = new Database(join(machine.dir, 'root/var/lib/berth/berth.db'), { readonly: true })
      const token = db.query('SELECT expires_at AS at, scopes FROM tokens WHERE name = ?').get('install.sh') as any
      db.close()
      expect(new Date(token.at).toISOString().slice(0, 10)).toBe(ends!)
      expect(Math.round((token.at - Date.now()) / 86_400_000)).toBe(30)
      expect(JSON.parse(token.scopes).toSorted()).toEqual([...presets.billing].toSorted())
    })

    test('the panel answers at the address that was printed, and the sign-in works', async () => {
      const panel = /Panel +(\S+)/.exec(first.out)?.[1] ?? ''
      expect((await fetch(`${panel}/api/v1/status`)).status).toBe(200)
      const [, email] = /Staff sign-in +(\S+)/.exec(first.out) ?? []
      const [, password] = /Password +(\S+)/.exec(first.out) ?? []
      const signedIn = await fetch(`${panel}/api/v1/sessions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: panel },
        body: JSON.stringify({ email, password }),
      })
      expect(signedIn.ok).toBe(true)
      const Cookie = signedIn.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
      const overview = await (await fetch(`${panel}/admin`, { headers: { Cookie: Cookie.join('; ') } })).text()
      expect(overview).toContain('sudo ./install.sh --controller --domain panel.example.com')
    })

    test('the curl line orders a server that answers SSH', async () => {
      const line = printed(first.out, 'curl')
      expect(line).toContain('curl -sS --fail-with-body -X POST')
      ordered = JSON.parse(await mustInside(line))
      // A line that was sent twice, for example because its answer was lost, orders once.
      expect(JSON.parse(await mustInside(line))).toEqual(ordered)
      // With another key: what is wrong is shown, beside curl's own failure.
      const refused = await inside(line.replace('Key: first', 'Key: other').replace('"packageId":"', '"packageId":"x'))
      expect(refused.code).toBe(22)
      expect(JSON.parse(refused.out).error.code).toBe('validation_failed')
      expect(ordered.ipv4).toBe('10.88.0.10')
      const began = performance.now()
      expect(await guest(ordered.ipv4, 'hostname')).toBe('web01')
      figures.push(`order to SSH ${seconds(began)}`)
      boot = await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')
    })

    test('the guest reaches the outside through the host', async () => {
      expect(
        await guest(ordered.ipv4, `ping -c 1 -W 3 ${await mustInside("ip route show default | cut -d' ' -f3")}`),
      ).toContain(' 0% packet loss')
    })

    test('no command of the installation was missing, and guests reach the panel', async () => {
      expect(await mustInside('grep "command not found" /var/log/berth/install.log || true')).toBe('')
      expect(await mustInside('cat /etc/berth/agent.env')).toContain('PANEL_AGENT_HOST_PORTS="80,443,8080"')
    })

    test('run again it changes nothing', async () => {
      const before = await untouched()
      const again = await install('--all-in-one')
      expect(again.err).toBe('')
      expect(again.code).toBe(0)
      expect(again.out).not.toMatch(/Password +\S/)
      expect(again.out).not.toContain('pnl_')
      expect(again.out).not.toMatch(/first server|curl|TOKEN/)
      expect(await untouched()).toBe(before)
      expect(await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')).toBe(boot)
    })

    test('a changed program is put in place and started, and the guest goes on', async () => {
      await mustInside(
        'printf \'\\n// changed\\n\' >>/opt/berth/src/main.ts; sed -i \'s/"version": ".*"/"version": "9.9.9"/\' ' +
          '/opt/berth/package.json',
      )
      const upgraded = await install('--all-in-one')
      expect(upgraded.err).toBe('')
      expect(upgraded.out).toMatch(/^✓ Service berth: started anew/m)
      expect(upgraded.out).toMatch(/^✓ Service berth-agent: started anew/m)
      expect(await mustInside('berth version')).toContain('9.9.9')
      expect(await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')).toBe(boot)
    })

    test('a killed controller and agent come back by themselves, and the guest does not notice', async () => {
      await mustInside(
        'for p in /proc/[0-9]*; do case $(readlink $p/exe) in */berth) kill -9 $(basename $p);; esac; done; ' +
          'sleep 4; /usr/local/lib/berth/services status',
      )
      const panel = /Panel +(\S+)/.exec(first.out)?.[1] ?? ''
      expect((await fetch(`${panel}/api/v1/status`)).status).toBe(200)
      expect(await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')).toBe(boot)
    })

    test('six guests start anew after a restart of the container, whose boot id is the same', async () => {
      addresses.push(ordered.ipv4)
      for (const n of [2, 3, 4, 5, 6]) addresses.push(JSON.parse(await mustInside(orderOf(`web0${n}`))).ipv4)
      const ordering = performance.now()
      const boots = await Promise.all(addresses.map(bootOf))
      figures.push(`five more to SSH ${seconds(ordering)}`)
      const kernel = await mustInside('cat /proc/sys/kernel/random/boot_id')
      await machine.restart()
      const began = performance.now()
      expect(await mustInside('cat /proc/sys/kernel/random/boot_id; virsh list --name 2>/dev/null; true')).toBe(kernel)
      await mustInside('/usr/local/lib/berth/services start')
      await Promise.all(addresses.map((address, i) => answersAnew(address, boots[i]!)))
      figures.push(`restart of the container to SSH on six guests ${seconds(began)}`)
    })

    test('a guest whose QEMU is killed starts again, and its activity says so', async () => {
      const before = await bootOf(ordered.ipv4)
      const began = performance.now()
      await mustInside(`for p in /proc/[0-9]*; do case $(readlink $p/exe) in
        */qemu*) ! grep -qs ${ordered.serverId} $p/cmdline || kill -9 \${p#/proc/};; esac; done`)
      await answersAnew(ordered.ipv4, before)
      figures.push(`QEMU killed to SSH ${seconds(began)}`)
      const lines = await until('a line in the activity', async () => {
        const { data } = await admin(`servers.activity '{"id":"${ordered.serverId}"}'`)
        const found = data.filter((line: any) => JSON.stringify(line).includes('crash'))
        return found.length > 0 && found
      })
      expect(lines).toHaveLength(1)
      boot = await bootOf(ordered.ipv4)
    })

    test('a disk that something else fills is warned of, then takes no orders, and guests go on', async () => {
      const fill = '/var/lib/berth-agent/something-else'
      const leave = (percent: number) =>
        mustInside(`rm -f ${fill}
          read -r size free unit < <(stat -fc '%b %a %S' /var/lib/berth-agent)
          fallocate -l $(((free - size * ${percent} / 100) * unit)) ${fill}`)
      const attention = (words: string) =>
        until(words, async () => (await admin('overview.get')).attention.find((a: any) => a.effect.includes(words)))
      await leave(15)
      expect(await attention('At 90 % it takes no new disks')).toMatchObject({ level: 'warn' })
      await leave(5)
      expect(await attention('It takes no new disks')).toMatchObject({ level: 'bad' })
      const refused = await inside(orderOf('web07'))
      expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([22, 'no_capacity'])
      for (const address of addresses) await guest(address, 'sync')
      expect(await bootOf(ordered.ipv4)).toBe(boot)
      await mustInside(`rm ${fill}`)
      await until('an order', async () => (await inside(orderOf('web07'))).code === 0)
    })

    test('the lines of docs/backup.md make a backup and put it back, and the controller can read it', async () => {
      const text = await Bun.file(join(checkout, 'docs/backup.md')).text()
      const lines = [...text.matchAll(/^sudo (berth .*)$/gm)].map(([, line]) => line!)
      const [create, rotate, restore] = ['backup create', 'secrets rotate', 'backup restore'].map(
        (words) => lines.find((l) => l.includes(words))!,
      )
      await mustInside(create!)
      await mustInside(rotate!)
      await mustInside('/usr/local/lib/berth/services stop berth')
      const file = await mustInside('ls /var/backups/berth-*.db')
      expect(await mustInside(restore!.replace(/\/var\/backups\S+/, file))).toContain('Restored.')
      await mustInside(
        '/usr/local/lib/berth/services start berth; for i in $(seq 50); do curl -fsS ' +
          '127.0.0.1:8080/api/v1/status && break; sleep 0.2; done',
      )
      expect(await mustInside("stat -c '%U %a' /var/lib/berth/berth.db /var/lib/berth/secret.key")).toBe(
        'berth 600\nberth 600',
      )
      expect(JSON.parse(await mustInside('berth admin staff.list')).total).toBe(1)
    })

    test('a setting that cannot work is said once, and not tried again', async () => {
      const started = () =>
        inside('/usr/local/lib/berth/services restart berth; sleep 3; /usr/local/lib/berth/services status berth')
      await mustInside(
        `echo 'PANEL_LISTENS="x"' >/etc/berth/controller.local.env; echo marked >>/var/log/berth/berth.log`,
      )
      expect((await started()).out).toContain('berth does not run')
      const said = (await mustInside("sed '1,/^marked$/d' /var/log/berth/berth.log")).match(
        /There is no setting PANEL_LISTENS/g,
      )
      expect(said).toHaveLength(1)
      await mustInside('rm /etc/berth/controller.local.env')
      expect((await started()).out).toContain('berth runs')
    })

    test('--uninstall leaves the guest and the data; --purge refuses while guests are there', async () => {
      const removed = await install('--uninstall')
      expect(removed.err).toBe('')
      expect(await mustInside('ls /usr/local/bin/berth 2>/dev/null || echo gone')).toBe('gone')
      expect(await mustInside('ls /var/lib/berth/berth.db /var/lib/berth-agent/agent.json')).toContain('agent.json')
      expect(await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')).toBe(boot)
      const refused = await install('--uninstall --purge')
      expect(refused.code).toBe(1)
      expect(refused.err).toContain(ordered.serverId)
      expect(await guest(ordered.ipv4, 'cat /proc/sys/kernel/random/boot_id')).toBe(boot)
    })

    test('--uninstall --purge --force leaves nothing', async () => {
      expect((await install('--uninstall --purge --force')).code).toBe(0)
      const left =
        'ls -d /usr/local/bin/berth /usr/local/lib/berth /etc/berth /var/lib/berth /var/lib/berth-agent ' +
        '/var/log/berth /sys/class/net/berthbr0 2>/dev/null; nft list tables; getent passwd berth; true'
      // A file system of its own is left, empty.
      expect(await mustInside(left)).toBe('/var/lib/berth-agent')
      expect(await mustInside('ls -A /var/lib/berth-agent')).toBe('')
    })
  },
)

describe('what install.sh refuses', () => {
  test.each([
    ['--nonsense', 'There is no flag --nonsense'],
    ['--controller --agent', 'do not go together'],
    ['--agent', '--agent needs --controller URL and --token-file FILE'],
    ['--agent --controller https://panel.example.com --token-file /no/such', '--token-file /no/such cannot be read'],
    ['--agent --controller https://panel.example.com --token-file /dev/null', '--token-file /dev/null is empty'],
    ['--agent --controller http://192.0.2.1:8080 --token enr_x', 'can read --token in the list of processes'],
    ['--controller --listen 8080', '--listen is ADDRESS:PORT'],
    ['--all-in-one --subnet 10.88.0.0/33', '--subnet is an IPv4 network'],
    ['--all-in-one --domain localhost', 'is not a full domain name'],
    ['--all-in-one --domain 10.0.0.1', 'is not a full domain name'],
    ['--all-in-one --lab-certificate', '--lab-certificate goes with --domain'],
    ['--agent --controller panel.example.com --token enr_x', 'it starts with https://'],
    ['--agent --controller http://192.0.2.1:8080 --token enr_x', 'is not encrypted'],
    [
      '--agent --controller https://panel.example.com --token enr_x --ca /etc/hostname',
      'is not a file with a certificate in it',
    ],
    ['--controller --ca /etc/hostname', '--ca goes with --agent'],
    ['--agent --controller https://panel.example.com --token enr_x --uplink ../x', 'is not an interface name'],
    ['--all-in-one --vlans 20', '--vlans needs --uplink'],
    ['--all-in-one --uplink eno1 --vlans 20,4095', '--vlans takes all, or numbers and ranges from 1 to 4094'],
    ['--all-in-one --uplink eno1 --vlans 30-20', '--vlans takes all, or numbers and ranges from 1 to 4094'],
    ['--controller --uplink eno1', '--uplink is for a node'],
    ['--controller --purge', '--purge goes with --uninstall'],
  ])('%s', async (flags, words) => {
    const { code, err, out } = await spawn([join(checkout, 'install.sh'), ...flags.split(' ')])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(words)
  })

  test('--help names every flag', async () => {
    const { code, out } = await spawn([join(checkout, 'install.sh'), '--help'])
    expect(code).toBe(0)
    const labels = (await Bun.file(join(checkout, 'install.sh')).text()).match(/^ {6}--[a-z-]+.*\)/gm) ?? []
    const flags = new Set(labels.flatMap((label) => label.slice(0, label.indexOf(')')).match(/--[a-z-]+/g) ?? []))
    expect(flags.size).toBeGreaterThan(15)
    for (const flag of flags) expect(out).toContain(flag)
  })
})
