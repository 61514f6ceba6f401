/** What tests opened and did not close; close-opened.ts closes it when their file ends. */
const opened = new Set<() => void>()

/** Returns a function that calls `close` once; the end of the test file calls it if nothing else did. */
export function closedAtEnd(close: () => void): () => void {
  const once = () => {
    if (opened.delete(once)) close()
  }
  opened.add(once)
  return once
}

/** Newest first: what was opened last may need what was opened before. */
export function closeOpened() {
  for (const close of [...opened].reverse()) close()
}
