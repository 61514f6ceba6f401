#!/.berth/bin/busybox sh
# The command of every SSH session: gives it the environment of the image, which the SSH server changed, and becomes
# the command of the client. No login shell: /etc/profile would replace the image's PATH.
command=${SSH_ORIGINAL_COMMAND-}
shell=${SHELL:-/.berth/bin/sh}
preload=${BERTH_PRELOAD-}
# Programs that the image lacks are those of the kit.
export PATH="$BERTH_PATH:/.berth/bin"
unset BERTH_PATH BERTH_PRELOAD SSH_ORIGINAL_COMMAND
[ "$command" != /usr/lib/sftp-server ] || exec /.berth/lib/sftp-server
[ -z "$preload" ] || export LD_PRELOAD="$preload"
[ -z "$command" ] || exec "$shell" -c "$command"
exec "$shell"
