#!/.berth/bin/busybox sh
# start USER COMMAND...
# The first program of an instance, as its root: starts SSH, and Jupyter where it has a token, and then becomes the
# command as this user of the image. It is a static program, so that LD_PRELOAD of the image does not concern it.
set -u
user=$1
shift
image_path=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
PATH=/.berth/bin
run=/run/berth

main() {
  prepare
  ( serve_ssh </dev/null >/dev/null 2>&1 & )
  if [ -s /.berth/instance/jupyter_config.py ]; then
    ( serve_jupyter </dev/null >$run/jupyter.log 2>&1 & )
    # A second Jupyter of the image's would take the port, with another token.
    is_jupyter "$@" && stay
  fi
  is_bare_shell "$@" && stay
  become "$user" "$@"
}

stay() {
  become "$user" /.berth/bin/tail -f /dev/null
}

# The SSH server needs a user, a shell and directories, and the image may have nothing at all.
prepare() {
  mkdir -p /etc /root $run /tmp
  chmod go-w /root /root/.ssh
  local file line shell others
  # Podman gives an image without users a file of them that the instance's root cannot read.
  for file in /etc/passwd /etc/group; do cat $file >/dev/null 2>&1 || rm -f $file; done
  line=$(grep -m 1 '^root:' /etc/passwd 2>/dev/null)
  shell=${line##*:}
  case $shell in */nologin | */false) shell= ;; esac
  [ -n "$shell" ] && [ -x "$shell" ] || shell=/.berth/bin/sh
  case $line in
    root:*:0:*:/root:"$shell") ;;
    # In place: the engine may have mounted the file.
    *) others=$(grep -v '^root:' /etc/passwd 2>/dev/null)
      printf '%s\n' "root:x:0:0:root:/root:$shell" ${others:+"$others"} >/etc/passwd ;;
  esac
  [ -e /etc/group ] || echo root:x:0: >/etc/group
  grep -qxF "$shell" /etc/shells 2>/dev/null || printf '%s\n' /bin/sh "$shell" >>/etc/shells
}

serve_ssh() {
  export BERTH_PATH="$image_path" BERTH_PRELOAD="${LD_PRELOAD-}"
  unset LD_PRELOAD LD_AUDIT
  while :; do
    rm -rf $run/sessions
    mkdir -m 700 $run/sessions
    # A larger window than usual: without it a distant client gets a few MB/s.
    /.berth/lib/dropbear -F -E -s -e -K 60 -W 2097152 -p 22 -P $run/sshd.pid \
      -r /.berth/instance/host_key -c /.berth/sbin/session 2>&1 | note_sessions
    sleep 1
  done
}

# Notes the key of each session, so that it can be ended with its key.
note_sessions() {
  local line pid key
  while IFS= read -r line; do
    pid=${line#\[}
    pid=${pid%%\]*}
    case $pid in '' | *[!0-9]*) continue ;; esac
    case $line in
      *' Pubkey auth succeeded for '*' key '*)
        key=${line##* key }
        echo "${key%% *}" >"$run/sessions/$pid" ;;
      *' Exit '*) rm -f "$run/sessions/$pid" ;;
    esac
  done
}

serve_jupyter() {
  local program found
  for program in jupyter-lab jupyter-notebook; do
    found=$(PATH=$image_path command -v $program) && break
  done
  [ -n "$found" ] || { echo 'The image has neither jupyter-lab nor jupyter-notebook.'; return; }
  # Only the user whose program reads the token can read it.
  cp /.berth/instance/jupyter_config.py $run/jupyter_config.py
  chmod 600 $run/jupyter_config.py
  chown "$user" $run/jupyter_config.py
  cd /workspace || cd /
  while :; do
    ( become "$user" "$found" --config=$run/jupyter_config.py )
    sleep 5
  done
}

is_jupyter() {
  local word
  for word; do
    case $word in
      jupyter | */jupyter | *'jupyter lab'* | *'jupyter notebook'*) return 0 ;;
      *jupyter-lab* | *jupyter-notebook* | *start-notebook*) return 0 ;;
    esac
  done
  return 1
}

# A shell without a terminal would end at once, and the instance with it.
is_bare_shell() {
  local word last='' before=''
  for word; do before=$last last=$word; done
  case $before in -*) return 1 ;; esac
  case $last in '' | sh | bash | /bin/sh | /bin/bash | /usr/bin/bash) return 0 ;; esac
  return 1
}

# become USER COMMAND...: with the image's environment.
become() {
  local as=$1 name home
  shift
  case $as in
    '' | 0 | root | 0:* | root:*)
      export PATH="$image_path"
      exec "$@" ;;
  esac
  name=${as%%:*}
  case $name in
    *[!0-9]*) ;;
    # A number without a name.
    *) cut -d: -f3 /etc/passwd | grep -qx "$name" ||
      printf 'user%s:x:%s:%s::/workspace:/.berth/bin/sh\n' "$name" "$name" "${as##*:}" >>/etc/passwd ;;
  esac
  home=$(awk -F: -v name="$name" '$1 == name || $3 == name { print $6; exit }' /etc/passwd)
  # Its output is that of the instance, and its workspace is its own.
  chown "$as" /dev/stdout /dev/stderr 2>/dev/null
  [ "$(stat -c %u /workspace 2>/dev/null)" != 0 ] || chown "$as" /workspace
  export HOME="${home:-/workspace}" PATH="$image_path"
  exec /.berth/bin/start-stop-daemon -S -q -p /nonexistent -c "$as" -a /.berth/bin/sh -- -c 'exec "$@"' sh "$@"
}

main "$@"
