import type { RemovalPreview, RemovalScope, Removed, Restored } from '../../protocol/values/source-removal.ts'

/** The software of another panel on this host, whose servers were adopted. */
export interface SourceRemovals {
  /** Reads, and changes nothing. Throws `removal_libvirt_silent`. */
  look(scope: RemovalScope): Promise<RemovalPreview>
  /**
   * Stops and moves what the look shows, verifies the servers, and puts everything back where that fails. Sent again it
   * goes on where it was, and answers the same once it has ended. Throws `removal_libvirt_silent` and
   * `removal_foreign_domains`, when nothing was changed, `removal_undone` and `removal_half_restored`.
   */
  remove(removal: string, scope: RemovalScope): Promise<Removed>
  /** Puts back what a removal has done so far. Throws `removal_half_restored`. */
  restore(removal: string): Promise<Restored>
}
