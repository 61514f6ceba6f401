// The notes of a release: headings with lists, as in CHANGELOG.md. Everything else is a line of text.

export type Notes = { title: string; entries: { what: string; words: string }[] }

/** `## New`, then `- **What.** More words.`; lines that go on are joined. Text before a heading has no title. */
export function notesFrom(text: string): Notes[] {
  const parts: Notes[] = []
  let entry: string[] = []
  const add = () => {
    const words = entry.join(' ')
    entry = []
    if (!words) return
    if (!parts.length) parts.push({ title: '', entries: [] })
    parts.at(-1)!.entries.push(entryFrom(words))
  }
  for (const line of text.split('\n').map((one) => one.trim())) {
    const heading = /^#{1,6}\s+(.+)$/.exec(line)?.[1]
    const item = /^[-*]\s+(.+)$/.exec(line)?.[1]
    if (heading || item || !line) add()
    if (heading) parts.push({ title: heading, entries: [] })
    else if (line) entry.push(item ?? line)
  }
  add()
  return parts.filter(({ entries }) => entries.length)
}

/** The first sentence stands out, or what is set in bold. */
function entryFrom(text: string): { what: string; words: string } {
  const [, what = text, words = ''] = /^\*\*(.+?)\*\*:?\s*(.*)$/.exec(text) ?? /^(.+?[.:])\s+(.*)$/.exec(text) ?? []
  return { what: what.replace(/[.:]$/, ''), words }
}
