// Why a server did not come, with the next step. A failure of a node's own has its sentence here; the controller's
// refusals bring theirs along.

/** By the code of the failure. `words`: a sentence for everybody; undefined: the message of the failure is one. */
export const moveFailures = {
  // The node at the source hypervisor.
  source_started: {
    words: 'The source’s own panel started it during the copy. Nothing was lost; the copy was removed.',
    next: 'Keep the other panel from starting it, and try again.',
  },
  source_left_off: {
    words: 'Its node was lost while it was off, and it is off at its source. Nothing there was changed or deleted.',
    next: 'Start it there by its panel, or by virsh create and its file in /root/berth-import; then try again.',
  },
  source_read_error: {
    words: 'The hypervisor could not read its disk. Nothing was lost; the copy was removed.',
    next: 'Look at the disk of the hypervisor, then try again.',
  },
  source_disk_changed: {
    words: 'Its disk at the source is another one than the dry run has seen.',
    next: 'Run the dry run again in a new import.',
  },
  source_disk_elsewhere: {
    words: 'Its disk is outside the storage of the node, so that it cannot be adopted where it is.',
    next: 'Add the storage to the node as a pool, or copy the servers of this hypervisor.',
  },
  source_disk_has_snapshots: {
    words: 'Its disk has snapshots, which would be lost. It was not touched.',
    next: 'Delete its snapshots at the source, or copy it instead.',
  },
  source_not_undefined: {
    words: 'libvirt did not let go of it. It runs at the source again.',
    next: 'Look at libvirt of the hypervisor, and try again.',
  },
  source_not_defined: {
    words: 'libvirt does not take its definition back. It is off.',
    next: 'Define and start it there now: its definition is kept in /root/berth-import.',
  },
  source_copy_ended: { words: 'Its copy was ended.', next: 'Try again.' },
  source_no_domain: {
    words: 'The hypervisor does not have it any more.',
    next: 'Look for it in the other panel. A new import finds it where it is now.',
  },
  source_definition_not_kept: {
    words: 'Its definition could not be kept at the source, so it was not touched.',
    next: 'Make space on the root file system of the hypervisor, and try again.',
  },
  source_not_stopped: {
    words: 'The hypervisor could not shut it down. It runs there as before.',
    next: 'Look at it in the other panel, and try again.',
  },
  source_not_started: {
    words: 'The hypervisor could not start it again. It is off.',
    next: 'Start it there now: its definition is kept in /root/berth-import.',
  },
  source_unreachable: {
    words: 'The connection to the hypervisor broke and did not come back.',
    next: 'Look at the network between the two, and try again.',
  },
  source_login_refused: {
    words: 'could not log in over SSH (key missing on the source)',
    next: 'Add the keys again, and try again.',
  },
  source_host_key_changed: {
    words: 'The SSH server of the hypervisor shows another key than before.',
    next: 'Find out why it changed before you go on.',
  },
  source_no_libvirt: { words: 'libvirt on the hypervisor does not answer.', next: 'Start it there, and try again.' },
  // The node that takes it.
  pool_full: {
    words: 'The storage of the node had no space left for its disk.',
    next: 'Try on another node, or make space.',
  },
  checksum_differs: {
    words: 'What arrived is not what the source has. The copy was removed.',
    next: 'Try again; if it happens twice, look at the memory and the disks of both.',
  },
  volume_differs: {
    words: 'The node has another disk in the place of this one, which was left as it is.',
    next: 'Try on another node.',
  },
  node_unreachable: { words: 'The node that took it stayed away.', next: 'Look at the node, and try again.' },
  node_removed: { words: 'The node that took it was removed or lost.', next: 'Try on another node.' },
  cancelled: { words: 'It was cancelled.', next: 'Try again when it is to come.' },
  // The controller, before anything is touched.
  owner_conflict: { words: undefined, next: 'Choose where its owner goes, and try again.' },
  out_of_date: { words: undefined, next: 'Run the dry run again in a new import.' },
  hypervisor_without_address: { words: undefined, next: 'Correct its address in the other panel.' },
  moved_by_another: { words: undefined, next: 'Roll it back there first, or leave it out here.' },
  no_capacity: { words: undefined, next: 'Free a node, or try on another one.' },
  no_addresses: { words: undefined, next: 'Add a pool, or attach one to the node.' },
  address_in_use: { words: undefined, next: 'Free the address, and try again.' },
  address_without_pool: { words: undefined, next: 'Add a pool for its range, and try again.' },
  pool_overlaps: { words: undefined, next: 'Change the pool that overlaps, and try again.' },
  hostname_taken: { words: undefined, next: 'Rename the other server of this customer, and try again.' },
  billing_service_taken: { words: undefined, next: 'Let it come without its billing id, or change the other server.' },
  name_taken: { words: undefined, next: 'Rename what has the name, and try again.' },
  email_taken: { words: undefined, next: 'Choose where its owner goes, and try again.' },
  external_id_taken: { words: undefined, next: 'Change the external id of the other customer, and try again.' },
  validation_failed: { words: undefined, next: 'Change what it says, and try again.' },
  location_closed: { words: undefined, next: 'Open the location, and try again.' },
  restarting: { words: undefined, next: 'Try again in a minute.' },
} as const satisfies Record<string, { words: string | undefined; next: string }>
export type MoveFailure = keyof typeof moveFailures

/** The refusal of a move before anything is touched. */
export class CannotMove extends Error {
  constructor(
    readonly code: MoveFailure,
    message: string,
  ) {
    super(message)
  }
}

/** A failed attempt for the record of the move: its sentence and the next step. */
export function explained({ code, message, cause = message }: { code: string; message: string; cause?: string }) {
  const known: { words: string | undefined; next: string } | undefined = Object.hasOwn(moveFailures, code)
    ? moveFailures[code as MoveFailure]
    : undefined
  return { failure: code, failureWords: known ? (known.words ?? message) : cause }
}
/** The next step of a person after a failure with this code. */
export const nextStepOf = (code: string): string =>
  Object.hasOwn(moveFailures, code) ? moveFailures[code as MoveFailure].next : 'Read the log of its job, and try again.'

/** Causes of failed jobs that no other feature declares, in words for everybody. */
export const failures = Object.fromEntries(
  (
    [
      'source_started',
      'source_read_error',
      'source_disk_changed',
      'source_disk_elsewhere',
      'source_copy_ended',
      'source_no_domain',
      'source_definition_not_kept',
      'source_not_stopped',
      'source_not_started',
      'source_disk_has_snapshots',
      'source_not_undefined',
      'source_not_defined',
    ] as const
  ).map((code) => [code, moveFailures[code].words]),
)
