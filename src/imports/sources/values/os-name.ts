// The name of a template as people read it: "ubuntu-22.04-x86_64" is "Ubuntu 22.04".
import { text } from './scalars.ts'

/** The longer names come before those that they begin with. */
const systems: readonly (readonly [written: string, name: string])[] = [
  ['almalinux', 'AlmaLinux'],
  ['alma', 'AlmaLinux'],
  ['rockylinux', 'Rocky Linux'],
  ['rocky', 'Rocky Linux'],
  ['centos-stream', 'CentOS Stream'],
  ['centosstream', 'CentOS Stream'],
  ['centos', 'CentOS'],
  ['ubuntu', 'Ubuntu'],
  ['debian', 'Debian'],
  ['fedora', 'Fedora'],
  ['opensuse', 'openSUSE'],
  ['suse', 'SUSE Linux'],
  ['oraclelinux', 'Oracle Linux'],
  ['oracle', 'Oracle Linux'],
  ['cloudlinux', 'CloudLinux'],
  ['freebsd', 'FreeBSD'],
  ['openbsd', 'OpenBSD'],
  ['archlinux', 'Arch Linux'],
  ['arch', 'Arch Linux'],
  ['alpine', 'Alpine Linux'],
  ['gentoo', 'Gentoo'],
  ['windows', 'Windows'],
]
/** Parts that say how the template was made and not which system it is. */
const noise: ReadonlySet<string> = new Set(
  (
    'x86 x64 64 amd64 i386 kvm xen gpt uefi bios cloud cloudimg genericcloud server linux img qcow2 raw virtualizor ' +
    'solus solusvm minimal lts os template default latest v1 v2 v3 v4'
  ).split(' '),
)
const kept: Readonly<Record<string, string>> = { server: 'Server', lts: 'LTS', minimal: 'Minimal' }
const ENDING = /\.(img|qcow2|raw|gz|xz|tar|iso)$/

/**
 * A readable name of a template; null where there is none. A name that people wrote, with spaces and capital letters,
 * stays as it is, and so does one that is not known.
 */
export function osName(template: unknown): string | null {
  const written = text(template, 120)
  if (written === null) return null
  if (/\s/.test(written) && /\p{Lu}/u.test(written)) return written
  let rest = written.toLowerCase().replace(/\s+/g, '-')
  while (ENDING.test(rest)) rest = rest.replace(ENDING, '')
  rest = rest.replace(/[-_]?x86_64/g, '').replace(/_64$/, '')
  const system = systems.find(([name]) => rest === name || (rest.startsWith(name) && !/[a-z]/.test(rest[name.length]!)))
  if (!system) return written
  const parts = rest
    .slice(system[0].length)
    .split(/[-_]/)
    .filter((part) => part !== '')
  const names = parts.flatMap((part) => {
    if (system[1] === 'Windows' && part in kept) return [kept[part]!]
    return noise.has(part) || part.length > 20 ? [] : [/\d/.test(part) ? part : part[0]!.toUpperCase() + part.slice(1)]
  })
  return [system[1], ...names].join(' ')
}

/** Does the name of a template or a system say that it is Windows? */
export const isWindowsName = (value: unknown): boolean => {
  const written = text(value)?.toLowerCase() ?? ''
  return /windows|(^|[^a-z])win(-|_|20|10|11)/.test(written)
}
