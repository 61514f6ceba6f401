#!/.berth/bin/busybox sh
# end-sessions FINGERPRINT...: ends every SSH session that was not opened with one of these keys.
PATH=/.berth/bin
allowed=" $* "
server=/.berth/lib/dropbear

is_server() { [ "$(readlink "/proc/$1/exe")" = $server ]; }
parent_of() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null; }

for directory in /proc/[0-9]*; do
  pid=${directory##*/}
  parent=$(parent_of "$pid")
  # A session is a server whose parent is the one that listens.
  is_server "$pid" && [ -n "$parent" ] && is_server "$parent" || continue
  key=$(cat "/run/berth/sessions/$pid" 2>/dev/null)
  case $allowed in *" ${key:-none} "*) continue ;; esac
  for child in /proc/[0-9]*; do
    [ "$(parent_of "${child##*/}")" != "$pid" ] || kill -HUP "${child##*/}"
  done
  kill "$pid"
done
exit 0
