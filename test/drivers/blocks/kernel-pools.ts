// Pools on a device of this machine, whose content is lost: what docs/storage.md tells a host's owner to type.
async function call(...words: string[]) {
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'pipe' })
  const [err, code] = [await new Response(child.stderr).text(), await child.exited]
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
}

const GROUP = 'berthtest'
const ZPOOL = 'berthtest'

/** A thin pool of this size on the device. */
export async function makeThinPool(device: string, sizeMiB: number) {
  await call('vgcreate', '-y', GROUP, device)
  const how = ['-y', '--type', 'thin-pool', '-L', `${sizeMiB}M`, '--poolmetadatasize', '4M', '-n', 'pool', GROUP]
  await call('lvcreate', ...how)
  await call('lvchange', '--errorwhenfull', 'y', `${GROUP}/pool`)
  return { volumeGroup: GROUP, thinPool: 'pool', remove: () => call('vgremove', '-y', '-f', GROUP) }
}

export async function makeZpool(device: string) {
  const how = ['-o', 'ashift=12', '-O', 'compression=lz4', '-O', 'mountpoint=none']
  await call('zpool', 'create', ...how, ZPOOL, device)
  await call('zfs', 'create', `${ZPOOL}/disks`)
  return {
    dataset: `${ZPOOL}/disks`,
    call: (...words: string[]) => call(...words),
    remove: () => call('zpool', 'destroy', '-f', ZPOOL),
  }
}
