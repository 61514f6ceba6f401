// Filling a device from an image.
import { chownSync, existsSync, lstatSync } from 'node:fs'
import { Failure } from '../../failure.ts'
import { find, run } from '../../host/exec.ts'
import type { Image } from '../images/images.ts'

const COPY_LIMIT_SECONDS = 3600
const DEVICE_LIMIT_MS = 30_000
const POLL_MS = 50

/**
 * Writes the image to a device that is all zeros and large enough. The image is a stranger's, so its reader is confined
 * and has the device alone.
 */
export async function fillDevice(
  path: string,
  { path: imagePath, format, virtualSizeBytes }: Image,
  sizeBytes: number,
) {
  await appears(path)
  try {
    // Zeros of the image are not written, so that the device takes no space for them.
    const how = ['-n', '--target-is-zero', '-f', format, '-O', 'raw', '-t', 'none']
    await run('qemu-img', ['convert', ...how, '--', imagePath, path], {
      limitSeconds: COPY_LIMIT_SECONDS,
      confined: { reads: imagePath, writes: path, mostFileBytes: Math.max(virtualSizeBytes, sizeBytes) },
    })
  } finally {
    if (process.getuid?.() === 0) chownSync(path, 0, 0)
  }
}

/** Resolves when udev has made the link to a device. */
export const appears = (path: string) => comesTrue(() => existsSync(path), `${path} did not appear`)

/**
 * Resolves when udev has removed the link to a device that is gone. Before a device of that name is made: else
 * `appears` takes the old link for the new one, and it leads to a device that may be another disk's by now. Events of
 * the old device that udev has not handled yet would take the new link away, so they are waited for first.
 */
export async function isGone(path: string) {
  if (find('udevadm'))
    await run('udevadm', ['settle', `--timeout=${DEVICE_LIMIT_MS / 1000}`], {
      limitSeconds: DEVICE_LIMIT_MS / 1000 + 10,
      mayFail: true,
      quietly: true,
    })
  await comesTrue(() => !lstatSync(path, { throwIfNoEntry: false }), `${path}, whose device is gone, did not go`)
}

async function comesTrue(holds: () => boolean, otherwise: string) {
  for (const until = performance.now() + DEVICE_LIMIT_MS; !holds(); await Bun.sleep(POLL_MS))
    if (performance.now() > until)
      throw new Failure('tool_timeout', `${otherwise} within ${DEVICE_LIMIT_MS / 1000} s; is udev running?`)
}
