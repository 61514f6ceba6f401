// install.sh on two clean machines, as a hosting company has them: a controller, first as a lab on plain HTTP and then
// under a name with Caddy in front, and a node that joins it from another address. Both are machines (clean-machine.sh)
// that see each other's own address.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { CleanMachine, checkout, type Ended, possible, printed, spawn } from './clean-machine.ts'

setDefaultTimeout(180_000)
const program = process.env['BERTH_PROGRAM'] ?? join(checkout, 'dist/berth')
const NAME = 'berth.internal'

describe.skipIf(!possible)('install.sh for a controller and a node on two machines', () => {
  let panel: CleanMachine
  let node: CleanMachine
  let at: { own: string; outside: string }
  let nodeAddress = ''
  let first: Ended
  let token = ''
  let nodeId = ''
  const plain = () => `http://${at.own}:8080`

  beforeAll(async () => {
    panel = await CleanMachine.make('bookworm')
    at = await panel.addresses()
    const other = async () => {
      node = await CleanMachine.make('bookworm')
      nodeAddress = (await node.addresses()).own
      await node.bringRelease(program)
      await node.must(`echo '${at.own} ${NAME}' >>/etc/hosts`)
    }
    const controller = async () => {
      await panel.bringRelease(program)
      first = await panel.install('--controller')
    }
    await Promise.all([other(), controller()])
  })

  // In this order: the first of them notes how this machine forwarded packets before.
  afterAll(async () => {
    await node?.remove()
    await panel?.remove()
  })

  // ---------------------------------------------------------------- what the tests ask
  const admin = async (words: string, machine = panel) =>
    JSON.parse(
      await machine.must(
        'set -a; . /etc/berth/controller.env; cd /; exec setpriv --reuid=berth --regid=berth --init-groups berth ' +
          `admin ${words}`,
      ),
    )
  const enrolment = async () => {
    const { data } = await admin('locations.list')
    const locationId = data[0]?.id ?? (await admin(`locations.create '{"name":"Lab"}'`)).id
    return admin(`nodes.enroll '{"locationId":"${locationId}"}'`)
  }
  const nodes = async (machine = panel) =>
    (await admin('nodes.list', machine)).data as { id: string; name: string; connected: boolean }[]
  const lastLine = async (operation: string) =>
    (await admin('audit.list')).data.find((l: any) => l.operation === operation)

  async function connected(id: string, is = true, machine = panel) {
    const until = Date.now() + 40_000
    for (;;) {
      const all = await nodes(machine)
      if (all.find((n) => n.id === id)?.connected === is) return
      if (Date.now() > until)
        throw new Error(
          `${id} is not ${is ? '' : 'dis'}connected: ` +
            `${JSON.stringify(all)}\n${(await node.run('tail -n 20 /var/log/berth/berth-agent.log')).out}`,
        )
      await Bun.sleep(200)
    }
  }

  /** curl from this machine, under the panel's name. */
  const curl = (...args: string[]) =>
    spawn([
      'curl',
      '-sS',
      '--max-time',
      '20',
      ...[80, 443].flatMap((port) => ['--resolve', `${NAME}:${port}:${at.own}`]),
      ...args,
    ])
  const trusting = () => ['--cacert', join(panel.dir, 'root/etc/berth/lab-ca.crt')]
  const signIn = (email: string, password: string, ...more: string[]) =>
    curl(
      ...[
        ...trusting(),
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '-H',
        'Content-Type: application/json',
        '-H',
        `Origin: https://${NAME}`,
      ],
      ...['-d', JSON.stringify({ email, password }), ...more, `https://${NAME}/api/v1/sessions`],
    )

  /** Files and process ids that a second run must leave alone. */
  const untouched = (machine: CleanMachine) =>
    machine.must(`find /etc/berth /etc/caddy /usr/local/lib/berth /usr/local/bin/berth \\
        /var/lib/berth-agent/agent.json /var/lib/berth-agent/node.key -type f 2>/dev/null | sort | xargs sha256sum
      for p in /proc/[0-9]*; do
        case $(readlink $p/exe) in */berth | */caddy | */libvirtd) echo "$p $(readlink $p/exe)";; esac; done`)
  /** Files that an uninstallation leaves behind. */
  const left = (machine: CleanMachine) =>
    machine.must(
      'ls -d /usr/local/bin/berth /usr/local/lib/berth /etc/berth /var/lib/berth /var/lib/berth-agent ' +
        '/var/log/berth /sys/class/net/berthbr0 2>/dev/null; (nft list tables; getent passwd berth) 2>/dev/null; true',
    )

  // ---------------------------------------------------------------- a lab on plain HTTP
  test('a controller on plain HTTP says that it is a lab and that nodes elsewhere are refused', () => {
    expect(first.err).toBe('')
    expect(first.code).toBe(0)
    expect(first.out).toContain(`  Panel          ${plain()}\n`)
    expect(first.out).toContain('This is a lab on plain HTTP')
    expect(first.out).toContain('nodes on other machines are refused; --insecure lets them in, in a lab')
  })

  test('a node refuses a controller on plain HTTP, says what to do, and puts nothing on its machine', async () => {
    token = (await enrolment()).token
    const { code, out, err } = await node.install(`--agent --controller ${plain()} --token-file <(printf %s ${token})`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`${plain()} is not encrypted`)
    expect(err).toContain('./install.sh --controller --domain NAME')
    expect(err).toContain('add --insecure here and on the controller')
    expect(await left(node)).toBe('')
  })

  test('an address without a controller is named before anything is installed', async () => {
    const { code, err } = await node.install(
      `--agent --controller http://${at.own}:81 --token-file <(printf %s ${token}) --insecure`,
    )
    expect(code).toBe(1)
    expect(err).toContain(`The controller at http://${at.own}:81 cannot be reached`)
    expect(await left(node)).toBe('/var/log/berth')
  })

  test('a controller without --insecure refuses a node on plain HTTP, says what to do, keeps its token', async () => {
    const { id, token, command } = await enrolment()
    expect(command).not.toContain('--insecure')
    const { code, err } = await node.install(
      `--agent --controller ${plain()} --token-file <(printf %s ${token}) --insecure`,
    )
    expect(code).toBe(1)
    expect(err).toContain('✗ Enrolment')
    expect(err).toContain('The controller refused: Nodes enroll over HTTPS only.')
    expect(err).toContain('./install.sh --controller --insecure there')
    expect((await admin(`nodes.enrollment '{"id":"${id}"}'`)).state).toBe('waiting')
    expect(await nodes()).toEqual([])
  })

  test('with --insecure on both the node is connected, and the audit log has its address', async () => {
    const again = await panel.install('--controller --insecure')
    expect(again.out).toMatch(/^✓ Service berth: started anew/m)
    expect(again.out).toContain('Nodes may join over plain HTTP too (--insecure)')
    expect((await enrolment()).command).toEndWith(' --insecure')
    // With the script alone: the program comes from the controller.
    await node.must('mv /opt/berth/berth /opt/kept')
    const { code, out, err } = await node.install(
      `--agent --controller ${plain()} --token-file <(printf %s ${token}) --insecure --name n1`,
    )
    await node.must('mv /opt/kept /opt/berth/berth && cmp /opt/berth/berth /usr/local/bin/berth')
    expect(out).toContain(`✓ Program from ${plain()}: `)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`This machine is node n1 of ${plain()}.`)
    const [listed] = await nodes()
    expect(listed?.name).toBe('n1')
    nodeId = listed!.id
    await connected(nodeId)
    expect((await lastLine('nodes.enrolled')).from).toBe(nodeAddress)
  })

  test('run again, the node line changes nothing, with its used token or with none', async () => {
    const before = await untouched(node)
    for (const line of [
      `--agent --controller ${plain()} --token-file <(printf %s ${token}) --insecure --name n1`,
      '--agent',
    ]) {
      const { code, out, err } = await node.install(line)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^✓ Service berth-agent: already running/m)
      expect(await untouched(node)).toBe(before)
    }
    await connected(nodeId)
    expect(await nodes()).toHaveLength(1)
  })

  // ---------------------------------------------------------------- the same controller, under a name
  test(
    '--domain puts Caddy in front: its configuration is valid, the panel says https and hides its own ' + 'port',
    async () => {
      const named = await panel.install(`--controller --domain ${NAME}`)
      expect([named.code, named.err]).toEqual([0, ''])
      expect(named.out).toMatch(/^✓ Caddy for berth\.internal, certificate of its own authority/m)
      expect(named.out).toContain(`  Panel          https://${NAME}\n`)
      expect(named.out).not.toContain('plain HTTP')
      expect(named.out).toContain('/etc/berth/lab-ca.crt')
      await panel.must(
        'setpriv --reuid=caddy --regid=caddy --init-groups env HOME=/var/lib/caddy caddy validate --config ' +
          '/etc/caddy/Caddyfile --adapter caddyfile',
      )
      const settings = await panel.must('cat /etc/berth/controller.env')
      expect(settings).toContain(`PANEL_PUBLIC_URL="https://${NAME}"`)
      expect(settings).toContain('PANEL_TRUSTED_PROXIES="127.0.0.1/32,::1/128"')
      expect(settings).toContain('PANEL_LISTEN="127.0.0.1:8080"')
      expect(settings).not.toContain('PANEL_AGENT_INSECURE')
      expect((await curl(`${plain()}/login`)).code).toBe(7)
      expect(await panel.must('/usr/local/lib/berth/services status berth caddy')).toBe('berth runs\ncaddy runs')
    },
  )

  test(
    'the sign-in page comes over HTTPS, under a certificate of that authority, with each security header ' + 'once',
    async () => {
      const { code, out } = await curl(...trusting(), '-i', `https://${NAME}/login`)
      expect(code).toBe(0)
      expect(out).toContain('<title>Sign in')
      const names = out
        .slice(0, out.indexOf('\r\n\r\n'))
        .split('\r\n')
        .map((line) => line.split(':')[0]!.toLowerCase())
      for (const header of [
        'strict-transport-security',
        'content-security-policy',
        'x-content-type-options',
        'referrer-policy',
        'permissions-policy',
      ])
        expect([header, names.filter((n) => n === header).length]).toEqual([header, 1])
      expect((await curl(`https://${NAME}/login`)).code).toBe(60)
    },
  )

  test('plain HTTP leads to HTTPS', async () => {
    const { out } = await curl(
      '-o',
      '/dev/null',
      '-w',
      '%{http_code} %{redirect_url}',
      `http://${NAME}/login?next=%2Fadmin`,
    )
    expect(out).toBe(`308 https://${NAME}/login?next=%2Fadmin`)
  })

  test('audit log and limits know who calls, whatever the caller says in its headers', async () => {
    const [, email] = /Staff sign-in +(\S+)/.exec(first.out) ?? []
    const [, password] = /Password +(\S+)/.exec(first.out) ?? []
    const claims = (n: number) => [
      '-H',
      `X-Forwarded-For: 203.0.113.${n}`,
      '-H',
      `X-Real-IP: 203.0.113.${n}`,
      '-H',
      `Forwarded: for=203.0.113.${n}`,
    ]
    expect((await signIn(email!, password!, ...claims(1))).out).toBe('201')
    expect((await lastLine('sessions.create')).from).toBe(at.outside)
    // Another account each time: guesses at one are slowed for themselves.
    const tries = await Promise.all(
      Array.from({ length: 24 }, (_, n) => signIn(`nobody${n}@example.com`, 'wrong', ...claims(n))),
    )
    expect(
      tries
        .map((t) => t.out)
        .toSorted()
        .at(-1),
    ).toBe('429')
    // Somebody else is not behind the same limit.
    const elsewhere = await node.must(
      `curl -sS -k -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d ` +
        `'{"email":"somebody@example.com","password":"wrong"}' https://${NAME}/api/v1/sessions`,
    )
    expect(elsewhere).toBe('401')
    expect((await lastLine('sessions.create')).from).toBe(nodeAddress)
  })

  test(
    'a node does not trust the certificate until it is given the authority; then the same node is connected ' +
      'over HTTPS',
    async () => {
      const redirected = await node.install(`--agent --controller http://${NAME} --insecure`)
      expect(redirected.err).toContain(`Use --controller https://${NAME}`)
      const before = await untouched(node)
      const refused = await node.install(`--agent --controller https://${NAME}`)
      expect(refused.code).toBe(1)
      expect(refused.err).toContain(`The certificate of https://${NAME} is not trusted here`)
      expect(refused.err).toContain('add --ca lab-ca.crt')
      expect(await untouched(node)).toBe(before)
      await connected(nodeId, false)
      await spawn(['cp', join(panel.dir, 'root/etc/berth/lab-ca.crt'), join(node.dir, 'root/root/lab-ca.crt')])
      const moved = await node.install(`--agent --controller https://${NAME} --ca /root/lab-ca.crt`)
      expect([moved.code, moved.err]).toEqual([0, ''])
      expect(moved.out).toMatch(/^✓ Service berth-agent: started anew/m)
      await connected(nodeId)
      expect(await node.must('cat /etc/berth/agent.env')).not.toContain('PANEL_AGENT_INSECURE')
      expect(await node.must('ss -Htn state established')).toContain(`${at.own}:443`)
    },
  )

  test('a new token for a node that is one already is refused in words', async () => {
    const { token } = await enrolment()
    const { code, err } = await node.install(
      `--agent --controller https://berth.internal:443 --token-file <(printf %s ${token}) --ca /root/lab-ca.crt`,
    )
    expect(code).toBe(1)
    expect(err).toContain(`This machine is a node of https://${NAME} already, under the name n1`)
  })

  test('--uninstall takes the agent off and keeps the node; --purge leaves nothing', async () => {
    const removed = await node.install('--uninstall')
    expect([removed.code, removed.err]).toEqual([0, ''])
    expect(removed.out).toContain('Data stays in /var/lib/berth-agent, settings in /etc/berth')
    expect(await node.must('ls -d /usr/local/bin/berth /var/lib/berth-agent/agent.json 2>/dev/null; true')).toBe(
      '/var/lib/berth-agent/agent.json',
    )
    await connected(nodeId, false)
    const back = await node.install('--agent')
    expect([back.code, back.err]).toEqual([0, ''])
    await connected(nodeId)
    const purged = await node.install('--uninstall --purge')
    expect([purged.code, purged.err]).toEqual([0, ''])
    expect(purged.out).toContain(`This machine was node n1 of https://${NAME}: remove it there too, under Nodes.`)
    expect(await left(node)).toBe('')
  })

  test('a removed node joins anew through Caddy: enrolment, signed WebSocket, address in the audit log', async () => {
    // The line of the panel alone: script, program and authority come with it or from the controller.
    const { command } = await enrolment()
    const line = command.replace('| sudo ', '| ')
    const join = () => node.run(`mkdir -p /root/new && cd /root/new && ${line} --name n2`)
    const refused = await join()
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('This machine is the node n1 already.')
    await admin(`nodes.remove '{"id":"${nodeId}"}'`)
    const { code, out, err } = await join()
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^✓ Program from https:\/\/berth\.internal: .*checksum verified/m)
    expect(await node.must('cmp /root/new/berth-install.sh /opt/berth/install.sh; ls /root/new')).toBe(
      'berth-ca.crt\nberth-install.sh',
    )
    const listed = (await nodes()).find((n) => n.name === 'n2')!
    nodeId = listed.id
    await connected(nodeId)
    expect((await lastLine('nodes.enrolled')).from).toBe(nodeAddress)
    expect((await nodes()).map((n) => [n.name, n.connected])).toEqual([['n2', true]])
  })

  test('a WebSocket without a signature reaches the controller through Caddy and is refused there', async () => {
    const { out } = await curl(
      ...[
        ...trusting(),
        '--http1.1',
        '-i',
        '-H',
        'Connection: Upgrade',
        '-H',
        'Upgrade: websocket',
        '-H',
        'Sec-WebSocket-Version: 13',
      ],
      ...['-H', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `https://${NAME}/agent/v1/connect`],
    )
    expect(out).toMatch(/^HTTP\/1\.1 401 /)
    expect(out).toContain('node_not_known')
  })

  test('a killed Caddy comes back by itself, and so does the node', async () => {
    const pid = await panel.must(
      'for p in /proc/[0-9]*; do case $(readlink $p/exe) in */caddy) basename $p;; esac; done',
    )
    await panel.must(`kill -9 ${pid}`)
    await connected(nodeId, false)
    await connected(nodeId)
    expect((await curl(...trusting(), '-o', '/dev/null', '-w', '%{http_code}', `https://${NAME}/login`)).out).toBe(
      '200',
    )
  })

  test('run again, the controller line changes nothing', async () => {
    const before = await untouched(panel)
    const { code, out, err } = await panel.install(`--controller --domain ${NAME}`)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('✓ Service berth: already running')
    expect(await untouched(panel)).toBe(before)
    await connected(nodeId)
  })

  // ---------------------------------------------------------------- away again, and beside an operator's own sites
  const caddyfile = () => panel.must('cat /etc/caddy/Caddyfile; ls /etc/caddy')
  const own = (text: string) => panel.must(`printf '%s' '${text}' >/etc/caddy/Caddyfile`)
  const ownSite = 'http://mine.internal:8090 {\n  respond "still here"\n}'
  const asksOwnSite = () =>
    spawn(['curl', '-sS', '--resolve', `mine.internal:8090:${at.own}`, 'http://mine.internal:8090/'])

  test('--uninstall leaves Caddy as its package brought it, and stopped', async () => {
    const { code, err } = await panel.install('--uninstall')
    expect([code, err]).toEqual([0, ''])
    expect(await panel.must('dpkg --verify caddy')).toBe('')
    expect(await panel.must('ls /etc/caddy')).toBe('Caddyfile')
    expect((await curl(`https://${NAME}/login`)).code).toBe(7)
    expect(await panel.must('ls /var/lib/berth/berth.db')).toContain('berth.db')
  })

  test('a Caddyfile that cannot take Berth stays as it is, and the words say so', async () => {
    await own('http://mine.internal:8090\nrespond "still here"\n')
    const before = await caddyfile()
    const { code, err } = await panel.install(`--controller --domain ${NAME}`)
    expect(code).toBe(1)
    expect(err).toContain('Caddy does not take /etc/caddy/Caddyfile with a line for Berth in it')
    expect(await caddyfile()).toBe(before.replace('\nCaddyfile', '\nCaddyfile\nberth.caddyfile'))
  })

  test('a web server that is there already is named', async () => {
    await panel.must(
      "setsid --fork perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => 443, Listen => 5, " +
        'ReuseAddr => 1) or die; open P, ">/tmp/taker"; print P $$; close P; sleep 600\' </dev/null >/dev/null 2>&1; ' +
        'until [ -s /tmp/taker ]; do sleep 0.1; done',
    )
    const { code, err } = await panel.install(`--controller --domain ${NAME}`)
    await panel.must('kill $(cat /tmp/taker); rm /tmp/taker')
    expect(code).toBe(1)
    expect(err).toContain('Port 443 is taken by perl (process ')
  })

  test("an operator's own site stays beside Berth, and goes on when Berth is uninstalled", async () => {
    await own(ownSite)
    const { code, err } = await panel.install(`--controller --domain ${NAME}`)
    expect([code, err]).toEqual([0, ''])
    expect((await asksOwnSite()).out).toBe('still here')
    expect((await curl(...trusting(), '-o', '/dev/null', '-w', '%{http_code}', `https://${NAME}/login`)).out).toBe(
      '200',
    )
    await connected(nodeId)
    const removed = await panel.install('--uninstall')
    expect([removed.code, removed.err]).toEqual([0, ''])
    expect(await panel.must('cat /etc/caddy/Caddyfile')).toBe(ownSite)
    expect(await panel.must('ls /etc/caddy')).not.toContain('berth')
    const until = Date.now() + 10_000
    while ((await asksOwnSite()).out !== 'still here' && Date.now() < until) await Bun.sleep(200)
    expect((await asksOwnSite()).out).toBe('still here')
    expect((await curl(`https://${NAME}/login`)).code).not.toBe(0)
  })

  test('--uninstall --purge leaves nothing of the controller, and leaves the operator the Caddyfile', async () => {
    const { code, out, err } = await panel.install('--uninstall --purge')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('start it yourself for your own sites')
    expect(await left(panel)).toBe('')
    expect(await panel.must('cat /etc/caddy/Caddyfile')).toBe(ownSite)
  })

  // ---------------------------------------------------------------- both on one machine, under a name
  test(
    '--all-in-one goes from plain HTTP to --domain with its own node connected, and run again nothing ' + 'changes',
    async () => {
      expect((await node.install('--uninstall --purge')).code).toBe(0)
      const lab = await node.install('--all-in-one --no-first-guest')
      expect([lab.code, lab.err]).toEqual([0, ''])
      const [listed] = await nodes(node)
      await connected(listed!.id, true, node)
      const named = await node.install(`--all-in-one --no-first-guest --domain ${NAME}`)
      expect([named.code, named.err]).toEqual([0, ''])
      expect(named.out).not.toMatch(/first server|API token/)
      const before = await untouched(node)
      const again = await node.install(`--all-in-one --no-first-guest --domain ${NAME}`)
      expect([again.code, again.err]).toEqual([0, ''])
      expect(await untouched(node)).toBe(before)
      await connected(listed!.id, true, node)
      expect(await nodes(node)).toHaveLength(1)
      expect((await spawn(['curl', '-sS', `http://${nodeAddress}:8080/login`])).code).toBe(7)
      const signIn = [
        '--cacert',
        join(node.dir, 'root/etc/berth/lab-ca.crt'),
        '--resolve',
        `${NAME}:443:${nodeAddress}`,
        `https://${NAME}/login`,
      ]
      expect((await spawn(['curl', '-sS', ...signIn])).out).toContain('<title>Sign in')
    },
  )

  // No name server knows a lab's name. The image is none that boots: these tests end with the order.
  describe('the first server under the name of a lab', () => {
    const order = async (line: string) => JSON.parse(await node.must(line)) as { serverId: string }
    const ownerOf = async (id: string) => (await admin(`servers.get '{"id":"${id}"}'`, node)).owner.id
    let customerId = ''
    let ordered = ''

    test('is ordered by the lines that the installation prints, for the customer that it made', async () => {
      await node.must(`sed -i '/${NAME}$/d' /etc/hosts
        install -d -m 750 -o berth -g berth /var/lib/berth/incoming
        qemu-img create -q -f qcow2 /var/lib/berth/incoming/blank.qcow2 100M
        chown berth:berth /var/lib/berth/incoming/blank.qcow2`)
      const blank = '{"file":"blank.qcow2","name":"Blank","format":"qcow2","minDiskGb":1,"published":true}'
      await admin(`images.import '${blank}'`, node)
      const named = await node.install(`--all-in-one --domain ${NAME}`)
      expect([named.code, named.err]).toEqual([0, ''])
      expect(named.out).toContain('orders, resizes, suspends, reinstalls and terminates their servers')
      const [customer] = (await admin('customers.list', node)).data
      customerId = customer.id
      // A later customer is not the one that the installation made.
      await admin(`customers.create '{"name":"Later","email":"later@example.com"}'`, node)
      // Without the domain it remembers that the certificate is a lab's.
      const again = await node.install('--all-in-one')
      expect([again.code, again.err]).toEqual([0, ''])
      const line = printed(again.out, 'curl')
      expect(line).toContain(`--cacert /etc/berth/lab-ca.crt --resolve ${NAME}:443:${nodeAddress} `)
      expect(JSON.parse(/-d '(.*)'/.exec(line)![1]!).ownerId).toBe(customerId)
      const refused = await node.run(line)
      expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([22, 'invalid_token'])
      const token = await node.must(printed(again.out, 'sudo berth').replace('sudo ', ''))
      ordered = (await order(line.replace('Bearer TOKEN', `Bearer ${token}`))).serverId
      expect(await ownerOf(ordered)).toBe(customerId)
    })

    test('is not spoken of any more once it is ordered', async () => {
      const again = await node.install(`--all-in-one --domain ${NAME}`)
      expect([again.code, again.err]).toEqual([0, ''])
      expect(again.out).not.toMatch(/first server|curl|TOKEN|The API token/)
    })

    test('goes with its node', async () => {
      expect((await node.install('--uninstall --purge --force')).code).toBe(0)
      expect(await left(node)).toBe('')
      expect(await node.must('ls /etc/caddy')).toBe('Caddyfile')
    })
  })
})
