// Expected ends of a command, shared by all programs: said in words with what to do next, never as a stack trace.
import { readFileSync } from 'node:fs'

/** A setting or an argument that cannot work. Its words on standard error, exit 2. */
export class SettingError extends Error {}

/** `code: message` on standard error, exit 1. */
export class CannotStart extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** The user of this process. Not what the environment says, which sudo and setpriv leave as it was. */
export const whoAmI = () => userName(process.getuid?.() ?? 0)

/** The name that /etc/passwd has for a user's number. */
export function userName(uid: number): string {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.split(':')[2] === String(uid))
  return line?.split(':')[0] ?? `number ${uid}`
}
