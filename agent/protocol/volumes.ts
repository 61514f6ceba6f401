/** The characters of a serial number that virtio shows to a guest. */
const SERIAL_LENGTH = 20

/**
 * The serial number of an extra volume, from its id: the guest finds it as `/dev/disk/by-id/virtio-<serial>`. The end
 * of an id is its random part.
 */
export const serialOf = (volumeId: string): string => `vol_${volumeId.slice(-(SERIAL_LENGTH - 4))}`
