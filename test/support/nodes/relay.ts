// relay.ts FROM TO: hands on each connection to FROM to TO; each is a port on loopback or the path of a socket. Two of
// them lead out of a network namespace: the file system is the same on both sides.
const [from = '', to = ''] = process.argv.slice(2)
type End = Bun.Socket<{ other?: End; waiting: Uint8Array[] }>
const at = (where: string) => (where.startsWith('/') ? { unix: where } : { hostname: '127.0.0.1', port: Number(where) })

/** Bytes that the other end does not take yet wait for its `drain`. */
function send(end: End, bytes: Uint8Array) {
  const { waiting } = end.data
  const sent = waiting.length ? 0 : end.write(bytes)
  if (sent < bytes.length) waiting.push(Uint8Array.from(bytes.subarray(Math.max(0, sent))))
}
const handlers: Bun.SocketHandler<End['data']> = {
  data: (end, bytes) => (end.data.other ? send(end.data.other, bytes) : void end.data.waiting.push(bytes)),
  drain(end) {
    const waiting = end.data.waiting.splice(0)
    for (const bytes of waiting) send(end, bytes)
  },
  close: (end) => void end.data.other?.end(),
  error: (end) => void end.data.other?.end(),
}

Bun.listen<End['data']>({
  ...(at(from) as { unix: string }),
  socket: {
    ...handlers,
    open(end) {
      end.data = { waiting: [] }
      void Bun.connect<End['data']>({
        ...(at(to) as { unix: string }),
        data: { other: end, waiting: [] },
        socket: handlers,
      }).then(
        (other) => {
          const early = end.data.waiting.splice(0)
          end.data.other = other
          for (const bytes of early) send(other, bytes)
        },
        () => end.end(),
      )
    },
  },
})
console.log('ready')
