// How each service is started on a machine without systemd.
import { existsSync } from 'node:fs'
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { controllerEnv, type Paths } from '../machine/paths.ts'

export type Launch = {
  command: string[]
  env: Record<string, string>
  cwd: string
  /** Exit codes after which it is not started again: its settings cannot work, and it has said why. */
  final: readonly number[]
  /** The address of a socket that outlives the process and is passed to it as descriptor 3. */
  listen?: string
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
    command: [...asUser('berth', '--no-new-privs'), paths.program, 'serve'],
    env: withSettings(paths, 'controller'),
    final: [2],
    ...(existsSync(controllerEnv(paths)) && { listen: listenSetting(paths) }),
  }),
  'berth-agent': (paths) => ({
    command: [paths.program, 'agent', 'run'],
    env: withSettings(paths, 'agent'),
    final: [2],
  }),
  caddy: ({ caddyMain }) => ({
    command: [...asUser('caddy', ...mayListen), 'caddy', 'run', '--config', caddyMain, '--adapter', 'caddyfile'],
    env: { HOME: '/var/lib/caddy' },
  }),
  'berth-http-proxy': () => ({
    command: [...asUser('caddy', ...mayListen), 'caddy', 'run', '--config', '/run/berth-http-proxy/caddy.json'],
    env: { HOME: '/var/lib/berth-http-proxy' },
  }),
}

/** Throws for a service that there is not. */
export function launchOf(paths: Paths, name: string, all = launches): Launch {
  const { env = {}, cwd = '/', final = [], ...own } = all[name]!(paths)
  return { ...own, cwd, final, env: { ...ownEnv(), ...env } }
}
