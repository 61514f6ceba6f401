// One request to a panel and its answer, before anything of it is believed.

export type RawAnswer = {
  status: number
  /** By their names in small letters. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  body: Buffer
}

/** Sends one GET request. Throws `SourceFailure`. */
export type Send = (url: URL, headers: Readonly<Record<string, string>>) => Promise<RawAnswer>
