// A cluster of Ceph on this machine: one monitor, one manager, and OSDs on sparse files, without systemd. It has cephx,
// and for the agent a user with the rights that docs/storage.md gives it, unless `cephx` is false. It is gone with
// `stop`.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../../support/waiting/eventually.ts'

const POOL = 'berth'
const USER = 'berth'
/** The rights that docs/storage.md grants. */
const CAPS = ['mon', 'profile rbd', 'osd', `profile rbd pool=${POOL}`, 'mgr', `profile rbd pool=${POOL}`]
const ADMIN_CAPS = ['mon', 'osd', 'mgr'].flatMap((what) => ['--cap', what, 'allow *'])
const DAEMON_CAPS = {
  mgr: ['mon', 'allow profile mgr', 'osd', 'allow *'],
  osd: ['mon', 'allow profile osd', 'mgr', 'allow profile osd', 'osd', 'allow *'],
}
const AS_ROOT = ['--setuser', 'root', '--setgroup', 'root']

/** Why no cluster can be started here; undefined when one can. */
export function cephMissing(): string | undefined {
  if (process.env['BERTH_LONG'] !== '1') return 'BERTH_LONG is not 1'
  const absent = ['ceph-mon', 'ceph-mgr', 'ceph-osd'].filter((program) => !Bun.which(program))
  return absent.length ? `${absent.join(', ')} not installed` : undefined
}

async function callOn(inside: readonly string[], program: string, args: string[], stdin?: string) {
  const child = Bun.spawn([...inside, program, ...args], {
    ...{ stdin: stdin === undefined ? 'ignore' : new TextEncoder().encode(stdin), stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${err || out}`)
  return out
}

export type Ceph = Awaited<ReturnType<typeof startCeph>>

/** `inside`: the start of a command that runs where `host` is its address. */
type Options = { cephx?: boolean; osds?: number; host?: string; inside?: readonly string[] }
/**
 * Starts the cluster with its data in `dir` and makes its pool, each object of which is on every OSD, and is written
 * while all but one of them are there.
 */
export async function startCeph(
  dir: string,
  port: number,
  { cephx = true, osds = 1, host = '127.0.0.1', inside = [] }: Options = {},
) {
  const call = (program: string, args: string[], stdin?: string) => callOn(inside, program, args, stdin)
  const fsid = crypto.randomUUID()
  const address = `[v2:${host}:${port},v1:${host}:${port + 1}]`
  const of = (...path: string[]) => join(dir, ...path)
  const [conf, clientConf, keyring] = [of('ceph.conf'), of('client.conf'), of('berth.keyring')]
  const data = ['mon', 'mgr', ...Array.from({ length: osds }, (_, id) => `osd.${id}`)]
  for (const path of ['run', 'log', ...data]) mkdirSync(of(path), { recursive: true })
  const common = ['[global]', `fsid = ${fsid}`, `mon host = ${address}`]
  for (const what of ['cluster', 'service', 'client'])
    common.push(`auth ${what} required = ${cephx ? 'cephx' : 'none'}`)
  writeFileSync(clientConf, `${common.join('\n')}\n`)
  const settings = [
    ...common,
    ...[`osd pool default size = ${osds}`, `osd pool default min size = ${Math.max(1, osds - 1)}`],
    ...['osd crush chooseleaf type = 0', 'mon allow pool size one = true', 'mon warn on pool no redundancy = false'],
    ...['mon data avail crit = 0', `public addr = ${host}`, `cluster addr = ${host}`, 'osd objectstore = bluestore'],
    ...[
      'bluestore block size = 10737418240',
      'osd pool default pg num = 8',
      'osd pool default pg autoscale mode = off',
    ],
    ...[`run dir = ${of('run')}`, `admin socket = ${of('run')}/$name.asok`, `log file = ${of('log')}/$name.log`],
    ...[`mon data = ${of('mon')}`, `mgr data = ${of('mgr')}`, `osd data = ${of('osd')}.$id`],
    ...['osd memory target = 939524096', 'rbd default features = 61'],
    ...['[client.admin]', `keyring = ${of('admin.keyring')}`],
  ]
  writeFileSync(conf, `${settings.join('\n')}\n`)
  const children = new Map<string, Bun.Subprocess>()
  const start = (type: 'mon' | 'mgr' | 'osd', id: string) => {
    const args = [`ceph-${type}`, '-c', conf, '-i', id, '-f', ...AS_ROOT]
    children.set(`${type}.${id}`, Bun.spawn([...inside, ...args], { stdout: 'ignore', stderr: 'ignore' }))
  }
  const kill = async (name: string) => {
    const child = children.get(name)
    child?.kill('SIGKILL')
    await child?.exited
  }
  const stop = async () => {
    for (const name of [...children.keys()].reverse()) await kill(name)
    rmSync(dir, { recursive: true, force: true })
  }
  const ceph = (...args: string[]) => call('ceph', ['--conf', conf, '--connect-timeout', '60', ...args])
  const keyOf = async (name: string, caps: string[], path: string) =>
    cephx ? void (await ceph('auth', 'get-or-create', name, ...caps, '-o', path)) : undefined
  try {
    const [map, keys] = [of('monmap'), of('mon.keyring')]
    await call('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', address, map])
    await call('ceph-authtool', ['--create-keyring', keys, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *'])
    await call('ceph-authtool', [
      '--create-keyring',
      of('admin.keyring'),
      '--gen-key',
      '-n',
      'client.admin',
      ...ADMIN_CAPS,
    ])
    await call('ceph-authtool', [keys, '--import-keyring', of('admin.keyring')])
    await call('ceph-mon', ['-c', conf, '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keys, ...AS_ROOT])
    start('mon', 'a')
    await keyOf('mgr.a', DAEMON_CAPS.mgr, of('mgr', 'keyring'))
    start('mgr', 'a')
    for (let id = 0; id < osds; id++) {
      await ceph('osd', 'create')
      await keyOf(`osd.${id}`, DAEMON_CAPS.osd, of(`osd.${id}`, 'keyring'))
      await call('ceph-osd', ['-c', conf, '-i', String(id), '--mkfs', ...AS_ROOT])
      await ceph('osd', 'crush', 'add', `osd.${id}`, '1.0', 'root=default', 'host=h1')
      start('osd', String(id))
    }
    await ceph('osd', 'pool', 'create', POOL, '8')
    await call('rbd', ['--conf', conf, 'pool', 'init', POOL])
    await keyOf(`client.${USER}`, CAPS, keyring)
    if (cephx) chmodSync(keyring, 0o600)
    // The manager counts a new pool some seconds later.
    await eventually(async () => (await ceph('df', '--format', 'json')).includes(`"name":"${POOL}"`), 60)
  } catch (error) {
    await stop()
    throw error
  }
  const secretUuid = crypto.randomUUID()
  const secret =
    `<secret ephemeral='yes' private='yes'><uuid>${secretUuid}</uuid>` +
    `<usage type='ceph'><name>client.${USER} ${secretUuid}</name></usage></secret>`
  const virsh = (on: readonly string[], args: string[], stdin?: string) =>
    callOn(on, 'virsh', ['-c', 'qemu:///system', ...args], stdin)
  return {
    conf,
    pool: POOL,
    /** As in pools.json. */
    entry: {
      ...{ kind: 'rbd', pool: POOL, configFile: clientConf },
      ...(cephx && { user: USER, keyringFile: keyring, secretUuid }),
    },
    access: { configFile: clientConf, ...(cephx && { auth: { user: USER, keyringFile: keyring, secretUuid } }) },
    ceph,
    start,
    kill,
    pause: (name: string) => void children.get(name)!.kill('SIGSTOP'),
    goOn: (name: string) => void children.get(name)!.kill('SIGCONT'),
    rbd: async (...args: string[]) => JSON.parse(await call('rbd', ['--conf', conf, ...args, '--format', 'json'])),
    /** Gives libvirt the key, as docs/storage.md says: the one that answers there. */
    async defineSecret(on: readonly string[] = []) {
      if (!cephx) return
      await virsh(on, ['secret-define', '--file', '/dev/stdin'], secret)
      const key = await ceph('auth', 'get-key', `client.${USER}`)
      await virsh(on, ['secret-set-value', secretUuid, '--file', '/dev/stdin'], key)
    },
    async stop() {
      if (cephx && !inside.length) await virsh([], ['secret-undefine', secretUuid]).catch(() => {})
      await stop()
    },
  }
}
