// Lines in root's `authorized_keys` of a source hypervisor. The file is appended to, so that its owner, mode and labels
// stay; only a line that an import wrote itself is ever taken out again.
import { quoted } from '../../../protocol/shell-quote.ts'
import { type ImportKey, importKeyLine, importKeyMark } from '../../../protocol/values/source-hosts.ts'
import { prelude } from './marks.ts'

/** Finds the file as the SSH server there does. Its first name counts, as for a person who adds a key. */
const FIND = `
find_file() {
  named=$(sshd -T 2>/dev/null </dev/null | sed -n 's/^authorizedkeysfile //p' | head -n 1 | cut -d ' ' -f 1)
  case $named in '' | none) named=.ssh/authorized_keys ;; esac
  named=$(printf '%s' "$named" | sed -e "s|%h|$HOME|g" -e 's|%u|root|g' -e 's|%U|0|g' -e 's|%%|%|g')
  case $named in /*) file=$named ;; *) file=$HOME/$named ;; esac
}
without() { # MARK [KEY]: writes the file anew without lines that end with the mark, and have the key.
  cp -p "$file" "$file.berth" &&
    awk -v mark="$1" -v key="$2" '
      substr($0, length($0) - length(mark) + 1) == mark && (key == "" || index($0, key)) { next } { print }
    ' "$file" >"$file.berth" && mv -f "$file.berth" "$file"
}
`

const ADD = `
add_key() { # LINE KEY MARK
  grep -qxF -e "$1" "$file" && { present=$((present + 1)); return; }
  own=$(grep -F -e "$2" "$file" | grep -v '^[[:space:]]*#' | awk -v mark="$3" '
    substr($0, length($0) - length(mark) + 1) != mark' | head -n 1)
  [ -z "$own" ] || { present=$((present + 1)); return; }
  if grep -qF -e "$3" "$file"; then without "$3" || return 1; fi
  before=
  if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then before='
'; fi
  printf '%s%s\\n' "$before" "$1" >>"$file" && grep -qxF -e "$1" "$file" && added=$((added + 1))
}
`

const markOfLine = (nodeId: string) => ` ${importKeyMark(nodeId)}`
/** The line, the key in it, and its end. */
const wordsOf = (key: ImportKey) =>
  [importKeyLine(key), key.publicKey.split(' ')[1]!, markOfLine(key.nodeId)].map(quoted).join(' ')

/** Adds the lines. The section `keys` has two numbers where it could: those that it added, and those that it found. */
export const addingScript = (nonce: string, keys: readonly ImportKey[]): string => `${prelude(nonce)}${FIND}${ADD}
add_all() {
  find_file
  folder=\${file%/*}
  new=
  [ -d "$folder" ] || { new=1; mkdir -p "$folder" || return; }
  [ -e "$file" ] || { new=1; : >"$file" || return; }
  file=$(readlink -f "$file" 2>/dev/null || printf '%s' "$file")
  added=0 present=0
${keys.map((key) => `  add_key ${wordsOf(key)} || return`).join('\n')}
  [ -z "$new" ] || ! command -v restorecon >/dev/null || restorecon -R "$folder"
  mark keys
  printf '%s %s\\n' "$added" "$present"
}
main() {
  mark words
  add_all 2>&1 </dev/null
  mark end
}
main
`

const REMOVE = `
remove_of() { # MARK
  if grep -qF -e "$1" "$file"; then without "$1"; fi
}
`

/** Removes the lines of these nodes. The section `keys` has the number of lines. */
export const removingScript = (nonce: string, nodeIds: readonly string[]): string => `${prelude(nonce)}${FIND}${REMOVE}
remove_all() {
  find_file
  file=$(readlink -f "$file" 2>/dev/null || printf '%s' "$file")
  before=$(grep -c '' "$file")
${nodeIds.map((id) => `  remove_of ${quoted(markOfLine(id))} || return`).join('\n')}
  after=$(grep -c '' "$file")
  mark keys
  printf '%s\\n' "$((before - after))"
}
main() {
  mark words
  remove_all 2>&1 </dev/null
  mark end
}
main
`
