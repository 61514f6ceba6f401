// The scripts about one server at its source. The pattern of a domain's name lets nothing end a word, and no name of a
// domain begins like an option.
import { quoted } from '../../../protocol/shell-quote.ts'
import { toldPrelude } from './commands.ts'

/** At the source, for root alone. */
const KEPT_DIR = '/root/berth-import'
const RETRY_SHUTDOWN_SECONDS = 15

/**
 * `domain` and the path of its kept definition. virsh takes a name of digits for the number of a domain that runs:
 * `target` is such a one's UUID.
 */
const about = (nonce: string, domain: string) => `${toldPrelude(nonce)}
domain=${quoted(domain)} dir=${KEPT_DIR}
file=$dir/$domain.xml
is_kept() { [ -s "$file" ] && [ "$(name_in "$file")" = "$domain" ]; }
target=$domain
case $domain in *[!0-9]*) ;; *) is_kept && target=$(uuid_in "$file") ;; esac
state_of() { # NAME: sets state to one of libvirt's, or to absent, or to unknown
  run "$1" virsh domstate --domain "$target"
  case $code.$said in
  0.*) state=$said ;;
  *'omain not found'* | *'no domain with matching'* | *'ailed to get domain'*) state=absent ;;
  *) state=unknown ;;
  esac
  mark "state $1"
  printf '%s\\n' "$state"
}
`
const withMain = (main: string) => `main() {
  run version virsh version || { mark end; return; }
${main}
  mark end
}
main </dev/null 2>/dev/null
`

/**
 * Keeps the definition. Section `kept`: `yes`; `other` with the UUID of the domain that is kept under this name; `no`.
 * Section `definition`: without its passwords. `out info`: of dominfo.
 */
export const saveScript = (nonce: string, domain: string) => `${about(nonce, domain)}
keep() {
  mkdir -p -m 700 "$dir" && chmod 700 "$dir" || return
  rm -f "$file.part" "$file.new"
  into=$file.part
  run xml virsh dumpxml --inactive --security-info --domain "$target" || return
  [ "$(name_in "$file.part")" = "$domain" ] && grep -q '</domain>' "$file.part" || { kept=named; return; }
  if [ -s "$file" ] && [ "$(uuid_in "$file")" != "$(uuid_in "$file.part")" ]; then
    kept="other $(uuid_in "$file")"; rm -f "$file.part"; return
  fi
  # It is on the disk before the domain is stopped.
  dd if="$file.part" of="$file.new" conv=fsync && chmod 600 "$file.new" && mv -f "$file.new" "$file" && kept=yes
  rm -f "$file.part"
}
${withMain(`  kept=no
  state_of before
  if [ "$state" = absent ]; then is_kept && kept=yes
  else run info virsh dominfo --domain "$target" && keep 2>&1
  fi
  mark kept
  printf '%s\\n' "$kept"
  mark definition
  [ "$kept" = yes ] && sed -e "s/ passwd='[^']*'//g" -e 's/ passwd="[^"]*"//g' "$file"`)}`

/**
 * Asks it to shut down. Section `kept`: `no` where nothing was done. `staysOff`: before that it is noted that the host
 * starts it at its boot, and that ends: it would run twice once it runs elsewhere.
 */
export const shutdownScript = (nonce: string, domain: string, staysOff: boolean) => `${about(nonce, domain)}
${withMain(`  is_kept || { mark kept; printf 'no\\n'; mark end; return; }
  state_of before
${
  staysOff
    ? `  if virsh dominfo --domain "$target" | grep -q '^Autostart: *enable'; then
    (umask 077; : >"$dir/$domain.autostart") && sync && run autostart virsh autostart --disable --domain "$target"
  fi`
    : ''
}
  case $state in running* | idle* | 'no state'*) run shutdown virsh shutdown --domain "$target" ;; esac`)}`

/** Waits until it is off, and ends it when its time is over. `grace`: seconds. */
export const waitScript = (nonce: string, domain: string, grace: number) => `${about(nonce, domain)}
is_on() {
  now=$(virsh domstate --domain "$target" 2>&1 </dev/null)
  case $now in
  *'shut off'* | crashed* | *'omain not found'* | *'no domain with matching'* | *'ailed to get domain'*) return 1 ;;
  paused* | pmsuspended*) waited=${grace}; return 0 ;;
  *) return 0 ;;
  esac
}
${withMain(`  waited=0
  while is_on && [ "$waited" -lt ${grace} ]; do
    sleep 1
    waited=$((waited + 1))
    # A guest that is only just starting does not listen.
    [ $((waited % ${RETRY_SHUTDOWN_SECONDS})) -ne 0 ] || run "shutdown $waited" virsh shutdown --domain "$target"
  done
  if is_on; then run destroy virsh destroy --domain "$target"; fi
  state_of after`)}`

/** Section `kept`: whether its definition is. `out info`: of dominfo, unless it is absent. */
export const lookScript = (nonce: string, domain: string) => `${about(nonce, domain)}
${withMain(`  mark kept
  if is_kept; then printf 'yes\\n'; else printf 'no\\n'; fi
  state_of now
  [ "$state" = absent ] || run info virsh dominfo --domain "$target"`)}`

/** Undefines it. One that is on goes on, and is transient from then on: `state after`. */
export const undefineScript = (nonce: string, domain: string) => `${about(nonce, domain)}
${withMain(`  state_of before
  [ "$state" = absent ] || run undefine virsh undefine --domain "$target"
  state_of after`)}`

/** Defines it from its kept definition unless it is persistent. `definition`: where none is kept. */
export const defineScript = (nonce: string, domain: string, definition: string, isAutostarted: boolean) =>
  `${about(nonce, domain)}
${putBack(nonce, definition)}
${withMain(`  state_of before
  if ! virsh dominfo --domain "$target" | grep -q '^Persistent: *yes'; then
    is_kept || { mark words; put_back 2>&1; }
    run define virsh define "$file"
  fi
${isAutostarted ? '  run autostart virsh autostart --domain "$target"' : ''}
  state_of after`)}`

const putBack = (nonce: string, definition: string) => `put_back() {
  mkdir -p -m 700 "$dir" && chmod 700 "$dir" && cat >"$file.new" <<'definition-${nonce}' && mv -f "$file.new" "$file"
${definition}
definition-${nonce}
}`

/** Starts it, and lets its host start it at a boot again where it did. `definition`: where none is kept. */
export const startScript = (nonce: string, domain: string, definition: string) => `${about(nonce, domain)}
${putBack(nonce, definition)}
${withMain(`  state_of before
  case $state in
  'shut off'* | crashed*) run start virsh start --domain "$target" ;;
  absent)
    is_kept || { mark words; put_back 2>&1; }
    run create virsh create "$file" ;;
  esac
  if [ -e "$dir/$domain.autostart" ] && run autostart virsh autostart --domain "$target"; then
    rm -f "$dir/$domain.autostart"
  fi
  state_of after`)}`

/** Deletes the kept definition. Section `kept`: `no` when it is gone. */
export const forgetScript = (nonce: string, domain: string) => `${toldPrelude(nonce)}
file=${quoted(`${KEPT_DIR}/${domain}.xml`)}
main() {
  [ -e "$file" ] && run forget rm -f -- "$file"
  rm -f -- "\${file%.xml}.autostart"
  rmdir ${KEPT_DIR}
  mark kept
  if [ -e "$file" ]; then printf 'yes\\n'; else printf 'no\\n'; fi
  mark end
}
main </dev/null 2>/dev/null
`

/**
 * Section `state now`. Section `written`: of a file, when it was written last, its size, and what it takes in blocks of
 * 512 bytes.
 */
export const stateScript = (nonce: string, domain: string, path: string) => `${about(nonce, domain)}
path=${quoted(path)}
${withMain(`  state_of now
  mark written
  [ ! -f "$path" ] || stat -L -c '%y %s %b' -- "$path"`)}`
