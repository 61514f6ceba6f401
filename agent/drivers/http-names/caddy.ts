// Names of HTTP ports by Caddy, which is a service of its own and serves on without the agent. The agent writes its
// configuration and asks it to take that; a service that is down reads the file when it starts.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { makePassage, replaceFile } from '../../host/directories.ts'
import { find, run } from '../../host/exec.ts'
import type { HttpNamesOfHost, HttpScheme } from '../../protocol/gpu.ts'
import { serialQueue } from '../../serial-queue.ts'
import { type ProxySettings, proxyConfig, type Tls } from './config.ts'
import type { HttpNames } from './http-names.ts'

/** The socket of the service that install.sh makes. */
export const ADMIN_SOCKET = '/run/berth-http-proxy/admin.sock'
const SERVICE = 'berth-http-proxy'
const NAMES = 'names.json'
const CONFIG = 'caddy.json'

export type CaddyOptions = Omit<ProxySettings, 'tls'> & {
  /** The names that were set last, and the configuration. */
  dir: string
  /** Read each time, because certificates are renewed. Throws where a file cannot be read. */
  tls: () => Tls
}

/** The service's own places on a host. */
export const caddyOfHost = (dataDir: string): CaddyOptions => ({
  dir: join(dataDir, 'http-names'),
  runningDir: '/run/berth-http-names',
  adminSocket: ADMIN_SOCKET,
  storage: '/var/lib/berth-http-proxy',
  httpPort: 80,
  httpsPort: 443,
  tls: tlsOfHost,
})

/** As `agent.local.env` says: files of a certificate, `PANEL_AGENT_HTTP_PLAIN=1` for a lab, or else by ACME. */
function tlsOfHost(env = process.env): Tls {
  if (env['PANEL_AGENT_HTTP_PLAIN'] === '1') return 'plain'
  const [certificate, key] = [env['PANEL_AGENT_HTTP_CERTIFICATE'], env['PANEL_AGENT_HTTP_KEY']]
  if (!certificate && !key) return 'acme'
  if (!certificate || !key)
    throw new Failure(
      'http_proxy_refused',
      'PANEL_AGENT_HTTP_CERTIFICATE and PANEL_AGENT_HTTP_KEY go together: one of them is missing',
    )
  return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') }
}

export class CaddyHttpNames implements HttpNames {
  private readonly inTurn = serialQueue()

  constructor(private options: CaddyOptions) {
    if (this.find()?.domain) makePassage(options.runningDir)
  }

  async problems() {
    if (!this.find()?.domain) return []
    if (!find('caddy'))
      return ['Instances have no names for their HTTP ports: run install.sh --agent --gpu, which installs caddy.']
    if (!existsSync(this.options.adminSocket))
      return [`Instances cannot be reached by their names: start the service ${SERVICE}; its journal says more.`]
    return []
  }

  set(names: HttpNamesOfHost): Promise<{ scheme: HttpScheme }> {
    return this.inTurn(async () => {
      const tls = this.tls()
      const before = this.find()
      if (!before && names.domain === null) return { scheme: schemeOf(tls) }
      await this.apply(names, tls)
      replaceFile(join(this.options.dir, NAMES), JSON.stringify(names))
      return { scheme: schemeOf(tls) }
    })
  }

  opened(workload: string) {
    if (!this.find()?.domain) return
    makePassage(this.options.runningDir)
    writeFileSync(join(this.options.runningDir, workload), '', { mode: 0o644 })
  }

  closed(workload: string) {
    rmSync(join(this.options.runningDir, workload), { force: true })
  }

  openedOnly(running: ReadonlySet<string>) {
    const { runningDir } = this.options
    if (existsSync(runningDir))
      for (const workload of readdirSync(runningDir)) if (!running.has(workload)) this.closed(workload)
    for (const workload of running) if (!existsSync(join(runningDir, workload))) this.opened(workload)
  }

  ensure(): Promise<boolean> {
    return this.inTurn(async () => {
      const names = this.find()
      return names !== undefined && (await this.apply(names, this.tls()))
    })
  }

  /**
   * Validates the configuration, replaces the file, and tells the proxy. A configuration that Caddy refuses replaces
   * nothing. Answers whether the file was another one.
   */
  private async apply(names: HttpNamesOfHost, tls: Tls): Promise<boolean> {
    const { dir, adminSocket } = this.options
    if (!find('caddy'))
      throw new Failure('no_http_proxy', 'Caddy is not installed on this node: install.sh --agent --gpu brings it')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const path = join(dir, CONFIG)
    const text = proxyConfig(names, { ...this.options, tls })
    const isOther = !existsSync(path) || readFileSync(path, 'utf8') !== text
    if (isOther) {
      const candidate = join(dir, `new-${CONFIG}`)
      writeFileSync(candidate, text, { mode: 0o600 })
      const { code, err } = await this.caddy(['validate', '--config', candidate])
      if (code !== 0) throw new Failure('http_proxy_refused', `Caddy refuses the names: ${lastWords(err)}`)
      renameSync(candidate, path)
    }
    // A proxy that has this configuration already changes nothing. One that is down reads the file when it starts.
    if (!existsSync(adminSocket)) return isOther
    const { code, err } = await this.caddy(['reload', '--config', path, '--address', `unix/${adminSocket}`])
    if (code !== 0 && !/connection refused|no such file/.test(err))
      throw new Failure('http_proxy_refused', `Caddy does not take the names: ${lastWords(err)}`)
    return isOther
  }

  /** Its own directories would be those of root. */
  private caddy(args: readonly string[]) {
    const env = { HOME: this.options.dir, XDG_DATA_HOME: this.options.dir, XDG_CONFIG_HOME: this.options.dir }
    return run('caddy', [...args], { env, mayFail: true, quietly: true, limitSeconds: 60 })
  }

  private tls(): Tls {
    try {
      return this.options.tls()
    } catch (error) {
      if (error instanceof Failure) throw error
      throw new Failure('http_proxy_refused', `the certificate cannot be read: ${wordsOf(error)}`)
    }
  }

  private find(): HttpNamesOfHost | undefined {
    const path = join(this.options.dir, NAMES)
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as HttpNamesOfHost) : undefined
  }
}

const schemeOf = (tls: Tls): HttpScheme => (tls === 'plain' ? 'http' : 'https')

/** The last line of what Caddy says, which has the error. */
const lastWords = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
