// A cluster of Ceph on this machine: one monitor, one manager, one OSD on a sparse file, without systemd and cephx. It
// is gone with `stop`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/waiting/eventually.ts'

const POOL = 'berth'

/** Why no cluster can be started here; undefined when one can. */
export function cephMissing(): string | undefined {
  if (process.env['BERTH_LONG'] !== '1') return 'BERTH_LONG is not 1'
  const absent = ['ceph-mon', 'ceph-mgr', 'ceph-osd'].filter((program) => !Bun.which(program))
  return absent.length ? `${absent.join(', ')} not installed` : undefined
}

async function call(program: string, args: string[]) {
  const child = Bun.spawn([program, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${err || out}`)
  return out
}

/** Starts the cluster with its data in `dir` and makes its pool. Returns the configuration file. */
export async function startCeph(dir: string, port: number) {
  const fsid = crypto.randomUUID()
  const conf = join(dir, 'ceph.conf')
  const of = (path: string) => join(dir, path)
  for (const path of ['run', 'log', 'mon', 'mgr', 'osd']) mkdirSync(of(path), { recursive: true })
  const settings = [
    '[global]',
    `fsid = ${fsid}`,
    `mon host = [v2:127.0.0.1:${port},v1:127.0.0.1:${port + 1}]`,
    ...['auth cluster required = none', 'auth service required = none', 'auth client required = none'],
    ...['osd pool default size = 1', 'osd pool default min size = 1', 'osd crush chooseleaf type = 0'],
    ...['mon allow pool size one = true', 'mon warn on pool no redundancy = false', 'mon data avail crit = 0'],
    ...['public addr = 127.0.0.1', 'cluster addr = 127.0.0.1', 'osd objectstore = bluestore'],
    ...[
      'bluestore block size = 10737418240',
      'osd pool default pg num = 8',
      'osd pool default pg autoscale mode = off',
    ],
    ...[`run dir = ${of('run')}`, `admin socket = ${of('run')}/$name.asok`, `log file = ${of('log')}/$name.log`],
    ...[`mon data = ${of('mon')}`, `mgr data = ${of('mgr')}`, `osd data = ${of('osd')}`],
    ...['osd memory target = 939524096', 'rbd default features = 61'],
  ]
  writeFileSync(conf, `${settings.join('\n')}\n`)
  const children: Bun.Subprocess[] = []
  const daemon = (program: string, id: string) => {
    const args = ['-c', conf, '-i', id, '-f', '--setuser', 'root', '--setgroup', 'root']
    children.push(Bun.spawn([program, ...args], { stdout: 'ignore', stderr: 'ignore' }))
  }
  const stop = async () => {
    for (const child of children.toReversed()) child.kill('SIGKILL')
    await Promise.all(children.map((child) => child.exited))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    const map = of('monmap')
    const address = `[v2:127.0.0.1:${port},v1:127.0.0.1:${port + 1}]`
    await call('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', address, map])
    const asRoot = ['--setuser', 'root', '--setgroup', 'root']
    await call('ceph-mon', ['-c', conf, '--mkfs', '-i', 'a', '--monmap', map, ...asRoot])
    daemon('ceph-mon', 'a')
    const ceph = (...args: string[]) => call('ceph', ['--conf', conf, '--connect-timeout', '60', ...args])
    await ceph('osd', 'create')
    daemon('ceph-mgr', 'a')
    await call('ceph-osd', ['-c', conf, '-i', '0', '--mkfs', ...asRoot])
    await ceph('osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=h1')
    daemon('ceph-osd', '0')
    await ceph('osd', 'pool', 'create', POOL, '8')
    await call('rbd', ['--conf', conf, 'pool', 'init', POOL])
    // The manager counts a new pool some seconds later.
    await eventually(async () => (await ceph('df', '--format', 'json')).includes(`"name":"${POOL}"`), 60)
  } catch (error) {
    await stop()
    throw error
  }
  return { conf, pool: POOL, stop }
}
