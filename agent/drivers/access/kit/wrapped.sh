#!/.berth/bin/busybox sh
# A program of the kit, which is none of the image's: what the image preloads does not fit it.
unset LD_PRELOAD LD_AUDIT
exec "/.berth/lib/${0##*/}" "$@"
