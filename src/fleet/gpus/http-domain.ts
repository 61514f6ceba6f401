// The domain under which a host serves HTTP ports of instances. What customers serve there may set cookies for every
// domain above it, so the panel and that domain must not be parts of each other.
import { DOMAIN, MOST_DOMAIN_CHARACTERS } from '../../../agent/protocol/gpu.ts'
import { invalid } from '../../kernel/api/errors.ts'

const pattern = new RegExp(DOMAIN)
const isUnder = (name: string, domain: string) => name === domain || name.endsWith(`.${domain}`)

/** The domain in the form in which it is stored; null: none. `*.` before it is left out. Throws `validation_failed`. */
export function httpDomainFrom(text: string | null, publicUrl: string): string | null {
  const domain = text?.trim().toLowerCase().replace(/^\*\./, '').replace(/\.$/, '') ?? ''
  if (!domain) return null
  const refused = (message: string) => invalid({ field: 'httpDomain', message })
  if (domain.length > MOST_DOMAIN_CHARACTERS || !pattern.test(domain))
    throw refused('must be a domain such as gpu1.example.com.')
  const panel = new URL(publicUrl).hostname
  if (isUnder(panel, domain)) throw refused(`must not be a domain to which the panel belongs: it is ${panel}.`)
  if (isUnder(domain, panel)) throw refused(`must not belong to the panel's own name, ${panel}.`)
  return domain
}
