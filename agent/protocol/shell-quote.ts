// Command lines shown to a person, quoted so that they can be pasted. Berth itself never hands them to a shell.

/** Quotes one word of a command line. */
export const quoted = (word: string) =>
  /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A command line with every word quoted as needed. */
export const commandLine = (program: string, args: readonly string[]) => [program, ...args].map(quoted).join(' ')
