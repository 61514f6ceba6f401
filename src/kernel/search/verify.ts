// Compares the texts of the search and their index with what they are made of, and makes them anew.
import type { Database } from 'bun:sqlite'

/** `what`: the text is missing, is left over, differs, or the index is not that of the texts (no kind and id then). */
export type Difference = { kind: string | null; id: string | null; what: 'missing' | 'left over' | 'differs' | 'index' }

/** Some differences, at most `most`. It takes the lock of writers: of 400,000 things for about two seconds. */
export function differencesIn(file: Database, most = 1000): Difference[] {
  const found = file
    .query<Difference, [number]>(
      `SELECT coalesce(v.kind, t.kind) AS kind, coalesce(v.id, t.id) AS id,
         iif(t.id IS NULL, 'missing', iif(v.id IS NULL, 'left over', 'differs')) AS what
       FROM all_search_texts v FULL JOIN search_texts t ON t.kind = v.kind AND t.id = v.id
       WHERE v.text IS NOT t.text OR v.listed IS NOT t.listed OR v.owner_id IS NOT t.owner_id
         OR t.doc >> 40 <> (SELECT number FROM search_kinds k WHERE k.kind = t.kind)
       LIMIT ?`,
    )
    .all(most)
  return isIndexRight(file) ? found : [...found, { kind: null, id: null, what: 'index' }]
}

function isIndexRight(file: Database): boolean {
  try {
    file.run("INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)")
    return true
  } catch (error) {
    if (!/^SQLITE_CORRUPT/.test((error as { code?: string }).code ?? '')) throw error
    return false
  }
}

/** Mends every text that differs and makes the index anew, in one transaction. Answers how many texts differed. */
export function rebuildIn(file: Database): number {
  return file
    .transaction(() => {
      const differing = file
        .query<{ id: string; kind: string }, []>(
          `SELECT coalesce(v.kind, t.kind) AS kind, coalesce(v.id, t.id) AS id
           FROM all_search_texts v FULL JOIN search_texts t ON t.kind = v.kind AND t.id = v.id
           WHERE v.text IS NOT t.text OR v.listed IS NOT t.listed OR v.owner_id IS NOT t.owner_id
             OR t.doc >> 40 <> (SELECT number FROM search_kinds k WHERE k.kind = t.kind)`,
        )
        .all()
      const drop = file.prepare('DELETE FROM search_texts WHERE kind = ? AND id = ?')
      const add = file.prepare(
        `INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
         SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc >> 40 = k.number), k.number << 40) + 1,
           v.kind, v.id, v.owner_id, v.listed, v.text
         FROM all_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.kind = ? AND v.id = ?`,
      )
      for (const { kind, id } of differing) {
        drop.run(kind, id)
        add.run(kind, id)
      }
      file.run("INSERT INTO search_index (search_index) VALUES ('rebuild')")
      return differing.length
    })
    .immediate()
}
