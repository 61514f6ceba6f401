// Pools on a device of this machine, whose content is lost: what docs/storage.md tells a host's owner to type.
import { appears } from '../../../agent/drivers/storage/device.ts'
import { type Beside, qemuIoAll } from './rig.ts'

async function call(...words: string[]) {
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = [
    await new Response(child.stdout).text(),
    await new Response(child.stderr).text(),
    await child.exited,
  ]
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
  return out.trim()
}

const succeeds = (...words: string[]) =>
  call(...words).then(
    () => true,
    () => false,
  )

const GROUP = 'berthtest'
const ZPOOL = 'berthtest'
/** Beyond those of LVM's. */
const FIRST_FREE_ID = 9000
const MOST_SNAPSHOTS = 100

/** A thin pool of this size on the device. */
export async function makeThinPool(device: string, sizeMiB: number) {
  await call('vgcreate', '-y', GROUP, device)
  const how = ['-y', '--type', 'thin-pool', '-L', `${sizeMiB}M`, '--poolmetadatasize', '4M', '-n', 'pool', GROUP]
  await call('lvcreate', ...how)
  await call('lvchange', '--errorwhenfull', 'y', `${GROUP}/pool`)
  return {
    volumeGroup: GROUP,
    thinPool: 'pool',
    enlarge: (byMiB: number) => call('lvextend', '-L', `+${byMiB}M`, `${GROUP}/pool`),
    enlargeMetadata: (byMiB: number) => call('lvextend', '--poolmetadatasize', `+${byMiB}M`, `${GROUP}/pool`),
    fillMetadata,
    remove: () => call('vgremove', '-y', '-f', GROUP),
  }
}

/** By snapshots that LVM does not know, because it makes none any more. Writes the disk after each at these places. */
async function fillMetadata(disk: string, places: readonly number[]) {
  const volume = disk.slice('/dev/'.length)
  const origin = await call('lvs', '--noheadings', '-o', 'thin_id', volume)
  for (let id = FIRST_FREE_ID; id < FIRST_FREE_ID + MOST_SNAPSHOTS; id++)
    try {
      await call('dmsetup', 'message', `${GROUP}-pool-tpool`, '0', `create_snap ${id} ${origin}`)
      await qemuIoAll(
        'raw',
        disk,
        places.map((at) => `write -q -P 2 ${at} 64k`),
        '-n',
      )
    } catch (error) {
      process.stderr.write(`  after ${id - FIRST_FREE_ID} snapshots: ${String(error).slice(0, 300)}\n`)
      return
    }
  throw new Error('the metadata did not become full')
}

/** `leave`: lets the data set have this much space, of what the device has. */
export async function makeZpool(device: string, ...options: string[]) {
  const how = ['-o', 'ashift=12', '-O', 'compression=lz4', '-O', 'mountpoint=none']
  await call('zpool', 'create', ...how, ZPOOL, device)
  await call('zfs', 'create', ...options, `${ZPOOL}/disks`)
  await call('zfs', 'create', `${ZPOOL}/other`)
  const available = Number(await call('zfs', 'get', '-Hp', '-o', 'value', 'available', ZPOOL))
  return {
    dataset: `${ZPOOL}/disks`,
    call: (...words: string[]) => call(...words),
    leave: (bytes: number) => call('zfs', 'set', `reservation=${available - bytes}`, `${ZPOOL}/other`),
    remove: () => call('zpool', 'destroy', '-f', ZPOOL),
  }
}

/** A thin volume of another panel in the same thin pool. */
const thinBeside: Beside = {
  async make(sizeBytes) {
    await call('lvcreate', '-y', '-V', `${sizeBytes}b`, '-T', `${GROUP}/pool`, '-n', 'vsv1000-disk')
    return `/dev/${GROUP}/vsv1000-disk`
  },
  exists: (path) => succeeds('lvs', path.slice('/dev/'.length)),
  async clear() {
    for (const lv of ['vsv1000-disk', 'vsv1001'])
      if (await succeeds('lvs', `${GROUP}/${lv}`)) await call('lvremove', '-y', '-f', `${GROUP}/${lv}`)
  },
}
export const lvmBeside = { beside: thinBeside, call }

/** A volume of another panel in the same pool of ZFS. */
export const zfsBeside: Beside = {
  async make(sizeBytes) {
    await call('zfs', 'create', '-s', '-V', String(sizeBytes), `${ZPOOL}/vsv1000`)
    await appears(`/dev/zvol/${ZPOOL}/vsv1000`)
    return `/dev/zvol/${ZPOOL}/vsv1000`
  },
  exists: (path) => succeeds('zfs', 'list', path.slice('/dev/zvol/'.length)),
  async clear() {
    for (let left = 20; await succeeds('zfs', 'list', `${ZPOOL}/vsv1000`); left--) {
      if (await succeeds('zfs', 'destroy', '-r', `${ZPOOL}/vsv1000`)) return
      if (left === 0) throw new Error('the volume beside the pool does not go')
      await Bun.sleep(250)
    }
  },
}
