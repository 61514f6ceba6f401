/** Panels and directories of the test file; close-opened.ts closes what is left when the file ends. */
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
