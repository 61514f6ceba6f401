// Command lines quoted for a shell: to be shown to a person, who can paste them, and for the shell that an SSH server
// gives a forced command. Berth itself never hands them to one.

/** Quotes one word of a command line. */
export const quoted = (word: string) =>
  /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A command line with every word quoted as needed. */
export const commandLine = (program: string, args: readonly string[]) => [program, ...args].map(quoted).join(' ')
