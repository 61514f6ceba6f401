// One request, byte for byte, over a connection of its own: TCP, TLS or a unix socket.
import net from 'node:net'
import tls from 'node:tls'

export type Target = { port: number; tls?: { ca: string } } | { unix: string }
export type RawResponse = { status: number; headers: Record<string, string>; text: string; alpn: string }

/** Resolves when the server has closed the connection, or a second after the last byte. Status 0: no response. */
export function rawRequest(target: Target, lines: readonly string[], body = ''): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>()
  const chunks: Buffer[] = []
  const socket: net.Socket =
    'unix' in target
      ? net.connect(target.unix)
      : target.tls
        ? tls.connect({ port: target.port, host: '127.0.0.1', ca: target.tls.ca, ALPNProtocols: ['h2', 'http/1.1'] })
        : net.connect(target.port, '127.0.0.1')
  socket.setTimeout(1000, () => socket.destroy())
  socket.on('data', (chunk) => chunks.push(chunk as Buffer))
  socket.on('error', (error) => (chunks.length || /ECONNRESET/.test(String(error)) ? undefined : reject(error)))
  socket.on('close', () => {
    const all = Buffer.concat(chunks).toString()
    const end = all.indexOf('\r\n\r\n')
    const [first = '', ...rest] = all.slice(0, Math.max(end, 0)).split('\r\n')
    const headers = Object.fromEntries(
      rest.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const text = end < 0 ? '' : all.slice(end + 4)
    resolve({ status: Number(first.split(' ')[1] ?? 0), headers, text, alpn: String((socket as any).alpnProtocol) })
  })
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return promise
}
