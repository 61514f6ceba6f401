// A certificate for this machine that nobody has signed but itself.
import { readFileSync } from 'node:fs'

/** Writes `NAME.key` and `NAME.crt` into the directory; answers their paths and the certificate as PEM. */
export async function selfSigned(dir: string, name = 'panel') {
  const files = { key: `${dir}/${name}.key`, cert: `${dir}/${name}.crt` }
  const made = Bun.spawn(
    [
      'openssl',
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
      ...['-keyout', files.key, '-out', files.cert],
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  if (await made.exited) throw new Error(await new Response(made.stderr).text())
  return { ...files, pem: readFileSync(files.cert, 'utf8') }
}
