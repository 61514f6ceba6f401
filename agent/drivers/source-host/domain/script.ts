// The two scripts about servers: what libvirt says, by its connection that can only read, and what their drives are.
import { quoted } from '../../../protocol/shell-quote.ts'
import { markOf, prelude } from '../ssh/marks.ts'

const VIRSH = 'virsh -r -c qemu:///system'
const LIBVIRT_SECONDS = 20
/** virsh takes 50 ms to begin, and as many for all that it says about one server. */
const TOGETHER = 25
const TOGETHER_SECONDS = 60
/** The header of a qcow2 file with the name of its backing file, as QEMU writes it. */
export const HEAD_BYTES = 1024
/** A drive for cloud-init is small. */
export const MOST_SEED_BYTES = 64 << 20
/** The sector in which an ISO 9660 image has its label. */
export const LABEL_SECTOR = { at: 16, bytes: 2048 }

const QUESTIONS = { info: 'dominfo', xml: 'dumpxml', snapshots: 'snapshot-list' } as const
/** The words of one domain for virsh, each with its mark. The pattern of a domain's name lets nothing end a word. */
const wordsAbout = (nonce: string, domain: string, n: number) =>
  Object.entries(QUESTIONS).map(([name, word]) => `echo "${markOf(nonce, `${name} ${n}`)}"; ${word} ${domain}`)

/**
 * Sections `info N`, `xml N` and `snapshots N` for each domain; `libvirt` says yes where it answers. `each`: a domain
 * after which virsh says no more holds up no other one.
 */
export function domainsScript(nonce: string, domains: readonly string[], how: 'together' | 'each'): string {
  const size = how === 'each' ? 1 : TOGETHER
  const words = domains.flatMap((domain, n) => [wordsAbout(nonce, domain, n).join('; ')])
  const groups = Array.from({ length: Math.ceil(words.length / size) }, (_, i) => words.slice(i * size, (i + 1) * size))
  const seconds = how === 'each' ? LIBVIRT_SECONDS : TOGETHER_SECONDS
  return `${prelude(nonce)}
main() {
  mark libvirt
  if limited ${LIBVIRT_SECONDS} ${VIRSH} version 2>&1 >/dev/null; then
    printf 'yes\\n'
${groups.map((group) => `    limited ${seconds} ${VIRSH} ${quoted(group.join('; '))} 2>&1`).join('\n')}
  fi
  mark end
}
main </dev/null 2>/dev/null
`
}

export type DriveQuestion = { path: string } | { pool: string; volume: string }

const callAbout = (drive: DriveQuestion, n: number) =>
  'path' in drive ? `  about ${n} ${quoted(drive.path)}` : `  volume ${n} ${quoted(drive.pool)} ${quoted(drive.volume)}`

/**
 * Sections about each drive: `path N` as libvirt names it, `real N` without links, `stat N` with its kind and its
 * numbers, `head N`, and of a small one `label N`. Sections `lvs` and `zfs` about all volumes.
 */
export const drivesScript = (nonce: string, drives: readonly DriveQuestion[]): string => `${prelude(nonce)}
hex() { od -An -v -tx1; }
about() { # N PATH
  mark "path $1"; printf '%s\\n' "$2"
  mark "real $1"; readlink -f -- "$2"
  mark "stat $1"
  if [ -b "$2" ]; then bytes=$(blockdev --getsize64 "$2"); printf 'block %s\\n' "$bytes"
  elif [ -f "$2" ]; then
    bytes=$(stat -L -c '%s %b %B' -- "$2"); printf 'file %s\\n' "$bytes"
    bytes=\${bytes%% *}
  else return
  fi
  mark "head $1"; limited 10 dd if="$2" bs=${HEAD_BYTES} count=1 | hex
  case $bytes in '' | *[!0-9]*) return ;; esac
  [ "$bytes" -gt ${MOST_SEED_BYTES} ] && return
  mark "label $1"
  limited 10 dd if="$2" bs=${LABEL_SECTOR.bytes} skip=${LABEL_SECTOR.at} count=1 | hex
}
volume() { # N POOL VOLUME
  path=$(limited ${LIBVIRT_SECONDS} ${VIRSH} vol-path --pool "$2" --vol "$3" | head -n 1)
  case $path in /*) about "$1" "$path" ;; esac
}
main() {
${drives.map(callAbout).join('\n')}
  if command -v lvs >/dev/null; then
    mark lvs
    limited ${LIBVIRT_SECONDS} lvs --noheadings --nosuffix --units b --separator '|' \\
      -o vg_name,lv_name,lv_size,origin,data_percent
  fi
  if command -v zfs >/dev/null; then
    mark zfs
    limited ${LIBVIRT_SECONDS} zfs list -H -p -t volume -o name,volsize,used
    mark zfs-snapshots
    limited ${LIBVIRT_SECONDS} zfs list -H -t snapshot -o name
  fi
  mark end
}
main </dev/null 2>/dev/null
`
