// A cache for the markup of table rows: a list renders only the rows whose record has changed.

type CachedMarkup = { record: string; text: string }

/** Holds at most `most` rows; the least recently used is dropped. */
export class MarkupCache {
  private readonly rows = new Map<string, CachedMarkup>()
  constructor(private readonly most: number) {}

  /**
   * The markup that `render` returns. A changed `record`, the JSON of the row, is rendered again. `key` names the row,
   * the table and everything about the reader on which the markup depends.
   */
  text(key: string, record: string, render: () => string): string {
    const kept = this.rows.get(key)
    // The order of a Map is that of insertion: what is used goes to its end.
    if (kept) this.rows.delete(key)
    const entry = kept?.record === record ? kept : { record, text: render() }
    this.rows.set(key, entry)
    if (this.rows.size > this.most) this.rows.delete(this.rows.keys().next().value!)
    return entry.text
  }
}
