// A place for copies of the controller's own data: objects by name, in a folder, over SFTP or in S3.

/** A name is a path of at most five parts of `A-Z a-z 0-9 . _ -`; a part begins with a letter or digit. */
export interface ObjectStore {
  /** For the journal and pages, without secrets. */
  readonly title: string
  /** The object is there whole, on disk, or not at all; one of this name is replaced. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Undefined where there is none. */
  get(name: string): Promise<Buffer | undefined>
  /** The names of all objects below a folder, sorted; none where there is no such folder. */
  list(folder: string): Promise<string[]>
  /** Nothing happens where there is none. */
  remove(name: string): Promise<void>
  close(): void
}

/** The store cannot be used now; the message is for the person who set it up, and says what to look at. */
export class StoreError extends Error {}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,4}$/
/** Throws for what is no name: none leads out of the store. */
export function mustBeName(name: string): string {
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 80))} is no name of an object`)
  return name
}

/** The start of the name of a file that is being written. */
export const INCOMING = '.incoming-'
