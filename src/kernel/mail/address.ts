// One form for e-mail addresses: what billing systems hold is taken, and no two mail programs read it differently.
import { domainToASCII } from 'node:url'

/** RFC 5322 without quoted texts and comments, about which mail libraries disagree. */
const ATEXT = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
const localPart = new RegExp(`^(?!-)${ATEXT}(?:\\.${ATEXT})*$`)
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** At least two labels, of which the last is no number: `a@b` and `x@1.2` reach nobody. */
const domainName = new RegExp(`^(?:${label}\\.)+(?=[a-z0-9-]*[a-z])${label}$`)

/**
 * The address in lower case and trimmed, its domain as DNS has it (`xn--…`); undefined when it is none. Some programs
 * take a hyphen at the start for an option, and decode `=?…?=`.
 */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed.length > 320) return undefined
  const at = trimmed.lastIndexOf('@')
  const local = trimmed.slice(0, Math.max(at, 0)).toLowerCase()
  if (!localPart.test(local) || local.length > 64 || local.includes('=?')) return undefined
  const typed = trimmed.slice(at + 1)
  // Of a name with anything else, such as a slash or a percent sign, a parser of URLs would make another name.
  if (!/^(?:[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61\u00b7-]|\u200c|\u200d)+$/u.test(typed)) return undefined
  const domain = domainToASCII(typed).toLowerCase()
  const address = `${local}@${domain}`
  return domainName.test(domain) && address.length <= 254 ? address : undefined
}
