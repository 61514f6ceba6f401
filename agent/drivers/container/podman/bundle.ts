// The engine's folder of one container, which hooks have to reach: the runtime starts them there, and NVIDIA's read the
// settings of the container in it. They run as root of the container, whose user ids are none of the host's, and Podman
// since 5.2 lets nobody but the host's root in: without this no container with a card starts.
import { chmodSync, chownSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const PASS_FOR_ALL = 0o011
const OWN_FOR_GROUP = 0o710

/**
 * Lets the group `gid` of the host pass through `folder`, which is `…/ID/userdata`, and the one above it, which are the
 * container's own. `top` and those between may be passed by all and listed by nobody.
 */
export function letHooksIn(folder: string, top: string, gid: number) {
  const own = [folder, dirname(folder)]
  for (let path = dirname(own[1]!); isIn(path, top); path = dirname(path)) {
    const mode = statSync(path).mode & 0o7777
    if ((mode & PASS_FOR_ALL) !== PASS_FOR_ALL) chmodSync(path, mode | PASS_FOR_ALL)
  }
  for (const path of own.filter((one) => isIn(one, top))) {
    chownSync(path, 0, gid)
    chmodSync(path, OWN_FOR_GROUP)
  }
}

const isIn = (path: string, top: string) => path === top || path.startsWith(`${top}/`)
