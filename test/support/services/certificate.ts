// Certificates for tests: one that nobody has signed but itself, and one of an authority.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Writes `NAME.key` and `NAME.crt` into the directory; answers their paths and the certificate as PEM. */
export async function selfSigned(dir: string, name = 'panel', names = 'DNS:localhost,IP:127.0.0.1') {
  const files = { key: `${dir}/${name}.key`, cert: `${dir}/${name}.crt` }
  const made = Bun.spawn(
    [
      'openssl',
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`],
      ...['-keyout', files.key, '-out', files.cert],
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  if (await made.exited) throw new Error(await new Response(made.stderr).text())
  return { ...files, pem: readFileSync(files.cert, 'utf8') }
}

/** A certificate for `host` and the authority of its own that signed it; all three as PEM. */
export function issued(dir: string, host: string): { ca: string; cert: string; key: string } {
  const at = (name: string) => `${dir}/${name}`
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const steps = [
    ['req', '-x509', ...newKey, '-subj', '/CN=Test authority', '-keyout', at('ca.key'), '-out', at('ca.crt')],
    ['req', ...newKey.slice(0, -2), '-subj', `/CN=${host}`, '-keyout', at('host.key'), '-out', at('host.csr')],
    ['x509', '-req', '-in', at('host.csr'), '-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial'].concat([
      ...['-days', '2', '-extfile', at('host.ext'), '-out', at('host.crt')],
    ]),
  ]
  mkdirSync(dir, { recursive: true })
  writeFileSync(at('host.ext'), `subjectAltName=DNS:${host}\n`)
  for (const step of steps) {
    const { exitCode, stderr } = Bun.spawnSync(['openssl', ...step], { stderr: 'pipe' })
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
  const [ca, cert, key] = ['ca.crt', 'host.crt', 'host.key'].map((name) => readFileSync(at(name), 'utf8'))
  return { ca: ca!, cert: cert!, key: key! }
}
