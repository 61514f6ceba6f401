// The configuration of Caddy. It is JSON that is made here whole, of integers, ids and a domain that the protocol
// checks, so that no text of a customer gets into it.
import { type HttpNamesOfHost, httpLabel } from '../../protocol/gpu.ts'
import { networkOf } from '../access/addresses.ts'

/** The certificate that covers all names, as PEM. */
export type Pem = { certificate: string; key: string }
/** `acme`: Caddy gets a certificate for each name. `plain`: HTTP without TLS, for a lab. */
export type Tls = 'acme' | 'plain' | Pem

export type ProxySettings = {
  tls: Tls
  httpPort: number
  httpsPort: number
  /** The socket by which the proxy is told its configuration. */
  adminSocket: string
  /** Certificates that the proxy gets itself. */
  storage: string
  /** One file for each instance that runs, with its id as its name. */
  runningDir: string
  /** The address of the instance with this number; tests lead elsewhere. */
  addressOf?: (number: number) => string
}

/** A client that sends its headers slowly holds a connection no longer than this. */
const HEADER_LIMIT = '10s'
const IDLE_LIMIT = '2m'
const MOST_HEADER_BYTES = 64 << 10
const DIAL_LIMIT = '3s'

const words = {
  unknown: 'There is nothing under this name.',
  stopped: 'The instance is stopped.',
  silent: 'Nothing answers at this port of the instance. Its program may still be starting.',
}

const says = (status: number | string, body: string) => ({
  handler: 'static_response',
  status_code: status,
  headers: { 'Content-Type': ['text/plain; charset=utf-8'], 'Cache-Control': ['no-store'] },
  body: `${body}\n`,
})

/** The configuration as Caddy reads it. Without a domain it serves nothing, and waits for the next. */
export function proxyConfig({ domain, names }: HttpNamesOfHost, settings: ProxySettings): string {
  const { tls, adminSocket, storage } = settings
  const config = {
    admin: { listen: `unix/${adminSocket}`, config: { persist: false } },
    storage: { module: 'file_system', root: storage },
    logging: { logs: { default: { level: 'WARN' } } },
    apps:
      domain === null || !names.length
        ? {}
        : { http: httpApp(domain, names, settings), ...(tls !== 'plain' && { tls: tlsApp(tls) }) },
  }
  return `${JSON.stringify(config, null, 1)}\n`
}

const tlsApp = (tls: Exclude<Tls, 'plain'>) =>
  tls === 'acme'
    ? { automation: { policies: [{ issuers: [{ module: 'acme' }] }] } }
    : { certificates: { load_pem: [tls] } }

function httpApp(domain: string, names: HttpNamesOfHost['names'], settings: ProxySettings) {
  const { tls, httpPort, httpsPort } = settings
  const limits = {
    protocols: ['h1', 'h2'],
    read_header_timeout: HEADER_LIMIT,
    idle_timeout: IDLE_LIMIT,
    max_header_bytes: MOST_HEADER_BYTES,
  }
  const hosts = names.map(({ port, workload }) => `${httpLabel(port, workload)}.${domain}`)
  const proxy = {
    ...limits,
    routes: [...names.map((name, n) => routeTo(hosts[n]!, name, settings)), { handle: [says(404, words.unknown)] }],
    errors: { routes: [{ handle: [says('{http.error.status_code}', words.silent)] }] },
  }
  if (tls === 'plain')
    return {
      http_port: httpPort,
      https_port: httpsPort,
      servers: { names: { ...proxy, listen: [`:${httpPort}`], automatic_https: { disable: true } } },
    }
  return {
    http_port: httpPort,
    https_port: httpsPort,
    servers: {
      names: {
        ...proxy,
        listen: [`:${httpsPort}`],
        automatic_https: { disable_redirects: true, ...(tls !== 'acme' && { disable_certificates: true }) },
        tls_connection_policies: [{}],
      },
      // The challenges of certificate authorities are answered before its routes.
      redirect: {
        ...limits,
        listen: [`:${httpPort}`],
        automatic_https: { disable: true },
        routes: [
          {
            match: [{ host: hosts }],
            handle: [
              {
                handler: 'static_response',
                status_code: 308,
                headers: { Location: ['https://{http.request.host}{http.request.uri}'] },
              },
            ],
            terminal: true,
          },
          { handle: [says(404, words.unknown)] },
        ],
      },
    },
  }
}

/** Caddy trusts no proxy before it: it replaces the `X-Forwarded-…` that a client sends. */
function routeTo(
  host: string,
  { workload, number, port }: HttpNamesOfHost['names'][number],
  { runningDir, addressOf = (n) => networkOf(n).address }: ProxySettings,
) {
  const isRunning = { file: { root: runningDir, try_files: [`/${workload}`] } }
  return {
    match: [{ host: [host] }],
    terminal: true,
    handle: [
      {
        handler: 'subroute',
        routes: [
          { match: [{ not: [isRunning] }], handle: [says(503, words.stopped)], terminal: true },
          {
            handle: [
              {
                handler: 'reverse_proxy',
                upstreams: [{ dial: `${addressOf(number)}:${port}` }],
                transport: { protocol: 'http', dial_timeout: DIAL_LIMIT },
                // Streams such as those of language models are passed on as they come.
                flush_interval: -1,
              },
            ],
          },
        ],
      },
    ],
  }
}
