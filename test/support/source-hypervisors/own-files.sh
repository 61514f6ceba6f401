#!/bin/sh
# own-files.sh DIR COMMAND…: runs a command in a machine whose system folders are this one's. Its changes to them go with
# it. It is called in a new mount namespace.
set -eu
changes=$1/changes; shift
mount --make-rprivate /
mkdir -p "$changes"
mount -t tmpfs tmpfs "$changes"
for folder in etc usr var root; do
  own=$changes/$folder
  mkdir -p "$own/upper" "$own/work"
  mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$own/upper,workdir=$own/work" "/$folder"
done
exec "$@"
