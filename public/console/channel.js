// The WebSocket of a console. Binary frames are bytes of the server; text frames are between the page and the panel.
// @ts-check

/**
 * The channel as noVNC expects one: bytes that come before somebody listens wait. `on.open` is called when the server's
 * end is there, `on.pong` with the milliseconds of a round trip, `on.end` once.
 * @param {string} path @param {string[]} protocols
 * @param {{ open(): void, pong(ms: number): void, end(code: number, reason: string): void }} on
 */
export function openChannel(path, protocols, on) {
  const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + path, protocols)
  socket.binaryType = 'arraybuffer'
  /** @type {((event: { data: ArrayBuffer }) => void) | null} */
  let listener = null
  /** @type {ArrayBuffer[]} */
  const early = []
  let askedAt = 0
  let n = 0
  const channel = {
    binaryType: 'arraybuffer',
    protocol: '',
    /** @type {(() => void) | null} */
    onopen: null,
    /** @type {((event: object) => void) | null} */
    onclose: null,
    onerror: null,
    get readyState() {
      return socket.readyState
    },
    get onmessage() {
      return listener
    },
    set onmessage(next) {
      listener = next
      for (const data of early.splice(0)) next?.({ data })
    },
    send: (/** @type {any} */ bytes) => socket.readyState === WebSocket.OPEN && socket.send(bytes),
    close: () => socket.close(1000),
    /** Measures a round trip to the node. */
    ping() {
      askedAt = performance.now()
      channel.send(JSON.stringify({ type: 'ping', n: ++n }))
    },
  }
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return listener ? listener({ data }) : early.push(data)
    const frame = JSON.parse(data)
    if (frame.type === 'open') on.open()
    else if (frame.type === 'pong' && frame.n === n) on.pong(performance.now() - askedAt)
  }
  socket.onclose = ({ code, reason }) => {
    on.end(code, reason)
    channel.onclose?.({ code, reason, wasClean: true })
  }
  return channel
}
