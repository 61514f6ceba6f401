// The worker of long reads (wiring/reader.ts), in its thread.
import type { FromReader, ToReader } from '../kernel/reader/protocol.ts'
import { registry } from './features.ts'
import { readerOf } from './wiring/reader.ts'

declare const self: Worker

/** Serves reads of the database at `path` until the controller ends the thread. */
export function readerThread(path: string) {
  const say = (message: FromReader, bytes?: ArrayBuffer) => self.postMessage(message, bytes ? [bytes] : [])
  const { heard } = readerOf(path, registry, say)
  self.addEventListener('message', ({ data }: MessageEvent<ToReader>) => heard(data))
}
