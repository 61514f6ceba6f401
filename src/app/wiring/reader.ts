// The thread of long reads: this program once more, in a worker that runs the reader and nothing else.
import { nodeIds } from '../../fleet/node-records/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, openReader } from '../../kernel/db/open.ts'
import { UnkeptRows } from '../../kernel/db/rendered.ts'
import { contactWithAll } from '../../kernel/nodes/contact.ts'
import type { FromReader, StartReader, ToReader } from '../../kernel/reader/protocol.ts'
import { serveReads } from '../../kernel/reader/serving.ts'
import type { Registry } from '../../kernel/registry.ts'
import { brandFor } from '../../platform/settings/brand.ts'

type Say = (message: FromReader, bytes?: ArrayBuffer) => void

/** Serves what is read in the database at `path`. Answers what to call with each message, and the end. */
export function readerOf(path: string, registry: Registry, say: Say) {
  const db = openReader(path)
  const { heard } = serveReads(db, { registry, brandFor, renderedRows: new UnkeptRows(0) }, say)
  say({ type: 'ready' })
  return { heard, close: () => db.$client.close() }
}

/** Starts a worker for the database at `path`; what is sent before it is ready waits. */
export const inWorker =
  (path: string): StartReader =>
  ({ heard, ended }) => {
    const main = Bun.isStandaloneExecutable ? Bun.main : new URL('../../main.ts', import.meta.url).href
    const worker = new Worker(main, { argv: [path], ref: false })
    let waiting: ToReader[] | undefined = []
    worker.addEventListener('message', ({ data }: MessageEvent<FromReader>) => {
      if (data.type === 'ready') {
        for (const message of waiting ?? []) worker.postMessage(message)
        waiting = undefined
      }
      heard(data)
    })
    worker.addEventListener('error', (event) => ended(event.message))
    worker.addEventListener('close', () => ended('its thread ended'))
    return {
      send: (message) => (waiting ? void waiting.push(message) : worker.postMessage(message)),
      end: () => worker.terminate(),
    }
  }

/** A read is told this about nodes. */
export const contactOf = (nodes: AppContext['nodes']) => (tx: Db) => contactWithAll(nodes, nodeIds(tx))
