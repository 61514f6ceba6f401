// The answers of a script: sections between marks that carry a number which nobody knew before. What comes before the
// first mark, such as the greetings of root's shell, is none of them.
import { Failure } from '../../../failure.ts'

/** Of one section, also for a program that ends no line. */
export const markOf = (nonce: string, name: string) => `#${nonce} ${name}#`
export const newNonce = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')

/** The start of each script: `mark NAME` begins a section. Nothing that it starts reads the script from its input. */
export const prelude = (nonce: string) => `
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
export PATH LC_ALL
umask 077
mark() { printf '\\n#${nonce} %s#\\n' "$*"; }
limited() { seconds=$1; shift; if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi; }
`

/** Sections by their names. Throws `source_invalid` where the script did not come to its end. */
export function sectionsIn(out: string, nonce: string, problem: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>()
  const [, ...parts] = out.split(`#${nonce} `)
  for (const part of parts) {
    const end = part.indexOf('#')
    if (end !== -1) sections.set(part.slice(0, end), part.slice(end + 1).replace(/^\n/, ''))
  }
  if (!sections.has('end')) throw new Failure('source_invalid', problem)
  return sections
}
