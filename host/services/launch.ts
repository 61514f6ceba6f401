// How each service is started on a machine without systemd.
import { chownSync, existsSync } from 'node:fs'
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { Exec } from '../machine/exec.ts'
import { makeDirectory } from '../machine/machine.ts'
import { agentProgram, controllerEnv, hostProgram, type Paths } from '../machine/paths.ts'

export type Launch = {
  command: string[]
  env: Record<string, string>
  cwd: string
  /** Exit codes after which it is not started again: its settings cannot work, and it has said why. */
  final: readonly number[]
  /** The address of a socket that outlives the process and is passed to it as descriptor 3. */
  listen?: string
  /** Done before each start; one that fails is tried again later. */
  prepare?: () => Promise<void>
  /** It is killed where it does not stop in time, as systemd does: what it runs for guests is no part of it. */
  isKilled?: boolean
}

const asUser = (user: string, ...more: string[]) => [
  'setpriv',
  `--reuid=${user}`,
  `--regid=${user}`,
  '--init-groups',
  ...more,
]
/** Caddy listens on ports below 1024. */
const mayListen = ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service']

/** Nothing of the shell that started the supervisor counts, such as proxies and authorities. */
const dropped = /^(BUN_OPTIONS|BUN_BE_BUN|(http|https|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|LISTEN_.*)$/i
const ownEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (dropped.test(name) ? [] : [[name, value!]])),
  )

/** The address of the controller's listener, as its settings say. */
export const listenSetting = (paths: Paths) => withSettings(paths, 'controller')['PANEL_LISTEN'] ?? '127.0.0.1:8080'

/** The settings that install.sh wrote, then the operator's own, which win. */
const withSettings = ({ settings }: Paths, name: string) => ({
  ...settingsIn(`${settings}/${name}.env`),
  ...settingsIn(`${settings}/${name}.local.env`),
})

/** How each service is started. `network` is none: the bridge is there or not. */
export const launches: Readonly<Record<string, (paths: Paths) => Partial<Launch> & Pick<Launch, 'command'>>> = {
  virtlogd: () => ({ command: ['virtlogd'] }),
  // libvirt waits for its helpers' end: tini collects them at once, many containers' first process does not.
  libvirtd: () => ({ command: ['tini', '-s', '--', 'libvirtd'] }),
  berth: (paths) => ({
    prepare: () => beforeStart(paths, 'berth'),
    command: [...asUser('berth', '--no-new-privs'), paths.program, 'serve'],
    env: withSettings(paths, 'controller'),
    final: [2],
    isKilled: true,
    ...(existsSync(controllerEnv(paths)) && { listen: listenSetting(paths) }),
  }),
  'berth-agent': (paths) => ({
    prepare: () => beforeStart(paths, 'berth-agent'),
    command: [agentProgram(paths), 'agent', 'run'],
    env: withSettings(paths, 'agent'),
    final: [2],
    isKilled: true,
  }),
  caddy: ({ caddyMain }) => ({
    command: [...asUser('caddy', ...mayListen), 'caddy', 'run', '--config', caddyMain, '--adapter', 'caddyfile'],
    env: { HOME: '/var/lib/caddy' },
  }),
  'berth-http-proxy': (paths) => ({
    prepare: async () => giveNames(paths),
    command: [...asUser('caddy', ...mayListen), 'caddy', 'run', '--config', '/run/berth-http-proxy/caddy.json'],
    env: { HOME: '/var/lib/berth-http-proxy' },
  }),
}

/**
 * The last good program puts an upgrade on or back. A process of its own, because the supervisor goes on meanwhile, and
 * may be older than that program. Rejects where the service must not be started now.
 */
async function beforeStart(paths: Paths, service: string) {
  const { code, err } = await new Exec().later(hostProgram(paths) as '/', ['host', 'before-start', service])
  if (code !== 0) throw new Error(err.trim())
}

/** The proxy reads a copy of its own: the agent's file is root's. Throws where that cannot be. */
function giveNames({ agentState }: Paths) {
  const exec = new Exec()
  const [, , uid, gid] = exec.ask('getent', ['passwd', 'caddy']).out.split(':')
  for (const dir of ['/run/berth-http-proxy', '/var/lib/berth-http-proxy']) {
    makeDirectory(dir)
    chownSync(dir, Number(uid), Number(gid))
  }
  const files = [`${agentState}/http-names/caddy.json`, '/run/berth-http-proxy/caddy.json']
  const { code, err } = exec.ask('install', ['-o', 'caddy', '-m', '400', ...files])
  if (code !== 0) throw new Error(err.trim())
}

/** Throws for a service that there is not. */
export function launchOf(paths: Paths, name: string, all = launches): Launch {
  const { env = {}, cwd = '/', final = [], ...own } = all[name]!(paths)
  return { ...own, cwd, final, env: { ...ownEnv(), ...env } }
}
