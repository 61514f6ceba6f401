// Command lines that a person is shown, quoted so that they can be pasted. No shell of ours ever reads them.

/** One word of a command line. */
export const quoted = (word: string) =>
  /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A whole command line. */
export const asTyped = (program: string, args: readonly string[]) => [program, ...args].map(quoted).join(' ')
