// The reader of long reads in the thread of the test: a worker of each panel would load the product for a second. What
// passes between both ends is copied, as between threads.
import { readerOf } from '../../../src/app/wiring/reader.ts'
import type { FromReader, StartReader, ToReader } from '../../../src/kernel/reader/protocol.ts'
import type { Registry } from '../../../src/kernel/registry.ts'

export const inThisThread =
  (registry: Registry) =>
  (path: string): StartReader =>
  ({ heard }) => {
    let isEnded = false
    const hear = (message: FromReader, bytes?: ArrayBuffer) => {
      const copy = structuredClone(message, { transfer: bytes ? [bytes] : [] })
      setImmediate(() => !isEnded && heard(copy))
    }
    const reader = readerOf(path, registry, hear)
    return {
      send(message) {
        const copy: ToReader = structuredClone(message)
        setImmediate(() => !isEnded && reader.heard(copy))
      },
      end() {
        isEnded = true
        reader.close()
      },
    }
  }
