// The markup of table rows, kept while the record of a row stays the same: a list is put together from texts that were rendered before.

type Kept = { record: string; text: string }

/** Holds `most` rows; the one used longest ago makes room for the next. */
export class KeptMarkup {
  private readonly rows = new Map<string, Kept>()
  constructor(private readonly most: number) {}

  /**
   * The markup that `render` answers. It is rendered again when `record`, the JSON of the row, is another: the markup may show the record
   * only, and `key` has to say the row, the table, and everything about the reader on which the markup depends.
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
